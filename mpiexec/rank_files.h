#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

struct RankFileFacts {
  unsigned rank, ranks, appnum;
  std::string host;
};

/// Fails when the value of --output cannot be used.
Status check_output(const std::string& pattern);

/// The name of a rank's file for `stream` ("out" or "err"). A pattern has %r rank, %a program's number, %h host, %p
/// mpiexec's process, %s stream, %%; without %r it gets .<r> at its end, so that no two ranks ever share a file. What
/// has no % in it, ends in / or is there already is a folder, and gets rank.<r>.<stream>.
std::string rank_file_name(const std::string& pattern, const RankFileFacts& facts, const char* stream);

/// Whether the rank, which has ended, may have written more than its files hold: their disk is full, and they end at
/// the edge of a block. The rank itself need not have looked.
bool rank_files_cut_short(const std::string& pattern, const RankFileFacts& facts);

/// Opens both (safe_open.h); both are one descriptor when the names are the same. Makes missing folders. A full disk is
/// an error.
Status open_rank_files(const std::string& pattern, const RankFileFacts& facts, int* out, int* err);

/// The files of --output of ranks on other hosts, into which mpiexec writes what comes from there. Ranks of this host
/// write theirs themselves.
class RankFiles {
 public:
  RankFiles() = default;
  ~RankFiles();
  RankFiles(const RankFiles&) = delete;
  RankFiles& operator=(const RankFiles&) = delete;

  Status open(const std::string& pattern, const RankFileFacts& facts);
  /// False: the rank has no files here.
  bool has(unsigned rank) const { return rank < files_.size() && files_[rank].out >= 0; }
  /// False: the bytes could not be written.
  bool write(unsigned rank, bool error_stream, std::string_view bytes) const;

 private:
  struct Files {
    int out = -1, err = -1;
  };
  std::vector<Files> files_;
};

}  // namespace ashlar::mpiexec
