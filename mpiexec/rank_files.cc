#include "mpiexec/rank_files.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/safe_open.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

// Ranks' numbers with leading zeros, so that a listing is in order.
std::string padded(unsigned rank, unsigned ranks) {
  return text("%0*u", static_cast<int>(std::to_string(ranks - 1).size()), rank);
}

bool is_folder(const std::string& pattern) {
  struct stat there;
  return pattern.find('%') == std::string::npos || pattern.back() == '/' ||
         (stat(pattern.c_str(), &there) == 0 && S_ISDIR(there.st_mode));
}

bool is_full(const struct statvfs& disk) {
  return disk.f_blocks > 0 && (geteuid() == 0 ? disk.f_bfree : disk.f_bavail) == 0;
}

}  // namespace

Status check_output(const std::string& pattern) {
  if (pattern.empty())
    return fail(kErrArg, "option.value",
                {{"option", "--output"}, {"wanted", "a folder or a pattern of names"}, {"value", ""}});
  if (is_folder(pattern)) return {};
  for (std::size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    const char letter = at + 1 < pattern.size() ? pattern[at + 1] : 0;
    if (letter != 0 && std::strchr("rahps%", letter)) continue;
    return fail(kErrArg, "option.output_letter",
                {{"letter", shown(pattern.substr(at + 1, 1))}, {"value", brief(pattern)}});
  }
  return {};
}

std::string rank_file_name(const std::string& pattern, const RankFileFacts& facts, const char* stream) {
  const std::string number = padded(facts.rank, facts.ranks);
  if (is_folder(pattern)) return pattern + (pattern.back() == '/' ? "" : "/") + "rank." + number + "." + stream;
  std::string out;
  bool has_rank = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'r':
        out += number;
        has_rank = true;
        break;
      case 'a':
        out += std::to_string(facts.appnum);
        break;
      case 'h':
        out += facts.host;
        break;
      case 'p':
        out += std::to_string(getpid());
        break;
      case 's':
        out += stream;
        break;
      case '%':
        out += '%';
        break;
      default:  // check_output has let none through
        break;
    }
  }
  return has_rank ? out : out + "." + number;
}

Status open_rank_files(const std::string& pattern, const RankFileFacts& facts, int* out, int* err) {
  const std::string names[2] = {rank_file_name(pattern, facts, "out"), rank_file_name(pattern, facts, "err")};
  int* fds[2] = {out, err};
  for (int i = 0; i < 2; ++i) {
    if (i == 1 && names[1] == names[0]) {
      *err = *out;
      break;
    }
    const auto of_rank = [&](Status failure) { return add_facts(failure, {{"rank", facts.rank}}); };
    if (const Status status = open_output_file(names[i], fds[i]); !status.ok()) return of_rank(status);
    struct statvfs disk;
    struct stat file;
    if (fstatvfs(*fds[i], &disk) == 0 && is_full(disk) && fstat(*fds[i], &file) == 0 && S_ISREG(file.st_mode))
      return of_rank(fail(kErrOther, "output.refused", {{"lower", std::strerror(ENOSPC)}, {"file", brief(names[i])}}));
  }
  return {};
}

bool rank_files_cut_short(const std::string& pattern, const RankFileFacts& facts) {
  bool at_edge = false, empty = true;
  for (const char* stream : {"out", "err"}) {
    const std::string name = rank_file_name(pattern, facts, stream);
    struct statvfs disk;
    struct stat file;
    if (stat(name.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
    if (statvfs(name.c_str(), &disk) != 0 || !is_full(disk) || disk.f_frsize == 0) return false;
    empty = empty && file.st_size == 0;
    at_edge = at_edge || (file.st_size > 0 && static_cast<unsigned long>(file.st_size) % disk.f_frsize == 0);
  }
  return at_edge || empty;
}

RankFiles::~RankFiles() {
  for (const Files& files : files_) {
    if (files.err >= 0 && files.err != files.out) close(files.err);
    if (files.out >= 0) close(files.out);
  }
}

Status RankFiles::open(const std::string& pattern, const RankFileFacts& facts) {
  files_.resize(facts.ranks);
  return open_rank_files(pattern, facts, &files_[facts.rank].out, &files_[facts.rank].err);
}

bool RankFiles::write(unsigned rank, bool error_stream, std::string_view bytes) const {
  const int fd = error_stream ? files_[rank].err : files_[rank].out;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace ashlar::mpiexec
