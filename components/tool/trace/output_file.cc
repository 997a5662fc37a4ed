#include "components/tool/trace/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace ashlar::tool_trace {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

int replace_file(const std::string& name, std::string_view contents) {
  struct stat facts;
  if (lstat(name.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode))
    return S_ISDIR(facts.st_mode) ? EISDIR : EEXIST;
  // Begins with a dot: what collects *.prom in this folder passes it by.
  const std::size_t slash = name.rfind('/');
  const std::string folder = slash == name.npos ? "" : name.substr(0, slash + 1);
  const std::string beside = folder + "." + name.substr(folder.size()) + "." + std::to_string(getpid());
  const int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  int error = fd < 0 || !write_all(fd, contents) ? errno : 0;
  if (fd >= 0 && close(fd) != 0 && error == 0) error = errno;  // network file systems say there that the disk is full
  if (error == 0 && rename(beside.c_str(), name.c_str()) != 0) error = errno;
  if (error != 0 && fd >= 0) unlink(beside.c_str());
  return error;
}

}  // namespace ashlar::tool_trace
