#pragma once
#include <string>

namespace ashlar::mpiexec {

struct RankFileFacts {
  unsigned rank, ranks, appnum;
  std::string host;
};

/// The name of a rank's file for `stream` ("out" or "err"). A folder (it exists, or ends in /) gets
/// rank.<r>.<stream>; a pattern has %r rank, %a program's number, %h host, %p mpiexec's process, %s stream, %%.
/// A name without %r gets .<r> at its end, so that no two ranks ever share a file.
std::string rank_file_name(const std::string& pattern, const RankFileFacts& facts, const char* stream);

/// Opens both, truncated; both are one descriptor when the names are the same. Makes missing folders.
bool open_rank_files(const std::string& pattern, const RankFileFacts& facts, int* out, int* err, std::string* error);

}  // namespace ashlar::mpiexec
