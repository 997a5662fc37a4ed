#include "mpiexec/rank_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

void make_folders(const std::string& file) {
  for (std::size_t at = file.find('/', 1); at != std::string::npos; at = file.find('/', at + 1))
    mkdir(file.substr(0, at).c_str(), 0777);  // what is wrong with it shows when the file is opened
}

// Ranks' numbers with leading zeros, so that a listing is in order.
std::string padded(unsigned rank, unsigned ranks) {
  return text("%0*u", static_cast<int>(std::to_string(ranks - 1).size()), rank);
}

}  // namespace

std::string rank_file_name(const std::string& pattern, const RankFileFacts& facts, const char* stream) {
  const std::string number = padded(facts.rank, facts.ranks);
  struct stat there;
  const bool folder = pattern.back() == '/' || (stat(pattern.c_str(), &there) == 0 && S_ISDIR(there.st_mode));
  if (folder) return pattern + (pattern.back() == '/' ? "" : "/") + "rank." + number + "." + stream;
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
      default:
        (out += '%') += pattern[i];
    }
  }
  return has_rank ? out : out + "." + number;
}

bool open_rank_files(const std::string& pattern, const RankFileFacts& facts, int* out, int* err, std::string* error) {
  const std::string names[2] = {rank_file_name(pattern, facts, "out"), rank_file_name(pattern, facts, "err")};
  int* fds[2] = {out, err};
  make_folders(names[0]);
  for (int i = 0; i < 2; ++i) {
    if (i == 1 && names[1] == names[0]) {
      *err = *out;
      break;
    }
    // Appending, so that two descriptors or a truncating log rotation never leave holes.
    *fds[i] = open(names[i].c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (*fds[i] < 0) {
      *error = text("cannot write rank %u's output to %s: %s", facts.rank, names[i].c_str(), std::strerror(errno));
      return false;
    }
  }
  return true;
}

}  // namespace ashlar::mpiexec
