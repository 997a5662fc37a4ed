#include "mpiexec/safe_open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

class Folder {
 public:
  explicit Folder(int fd) : fd_(fd) {}
  ~Folder() { go_to(-1); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  int fd() const { return fd_; }
  void go_to(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }
  /// Whether others than its owner and its group can put something into it.
  bool open_to_everybody() const {
    struct stat facts;
    return fstat(fd_, &facts) != 0 || (facts.st_mode & S_IWOTH) != 0;
  }

 private:
  int fd_;
};

std::string owned_by(uid_t owner) {
  return text("belongs to another user (number %u), in a folder that everybody can write to",
              static_cast<unsigned>(owner));
}

bool fail(std::string* why, std::string reason) {
  *why = std::move(reason);
  return false;
}

/// One part of the path, from `folder` into the next.
bool enter(Folder& folder, const std::string& name, std::string* why) {
  constexpr int kFlags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  int next = openat(folder.fd(), name.c_str(), kFlags);
  if (next < 0 && errno == ENOENT && (mkdirat(folder.fd(), name.c_str(), 0777) == 0 || errno == EEXIST))
    next = openat(folder.fd(), name.c_str(), kFlags);
  struct stat facts;
  if (next < 0 || fstat(next, &facts) != 0) {
    *why = std::strerror(errno);
    if (next >= 0) close(next);
    return false;
  }
  if (S_ISLNK(facts.st_mode)) {
    close(next);
    if (facts.st_uid != geteuid() && facts.st_uid != 0 && folder.open_to_everybody())
      return fail(why, text("the symbolic link %s %s", shown(name).c_str(), owned_by(facts.st_uid).c_str()));
    next = openat(folder.fd(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (next < 0) return fail(why, std::strerror(errno));
  } else if (!S_ISDIR(facts.st_mode)) {
    close(next);
    return fail(why, text("Not a directory (%s is a file; a pattern of names has %%r in it)", shown(name).c_str()));
  }
  folder.go_to(next);
  return true;
}

/// Whether mpiexec may write into what it has opened.
bool ours(int fd, const Folder& folder, std::string* why) {
  struct stat facts;
  if (fstat(fd, &facts) != 0) return fail(why, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return fail(why, "it is there, and no ordinary file");
  if (!folder.open_to_everybody()) return true;
  if (facts.st_uid != geteuid()) return fail(why, "it " + owned_by(facts.st_uid));
  if (facts.st_nlink > 1) return fail(why, "it has a second name, in a folder that everybody can write to");
  return true;
}

}  // namespace

int open_output_file(const std::string& path, std::string* why) {
  Folder folder(open(path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::size_t at = 0;
  for (std::size_t slash; (slash = path.find('/', at)) != std::string::npos; at = slash + 1) {
    const std::string name = path.substr(at, slash - at);
    if (!name.empty() && name != "." && !enter(folder, name, why)) return -1;
  }
  // O_NONBLOCK for a named pipe of others that no process reads.
  const int fd = openat(folder.fd(), path.c_str() + at,
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0) {
    *why = errno == ELOOP   ? "it is a symbolic link, which mpiexec does not follow"
           : errno == ENXIO ? "it is there, and no ordinary file"
                            : std::strerror(errno);
    return -1;
  }
  if (ours(fd, folder, why)) {
    if (fcntl(fd, F_SETFL, O_APPEND) == 0 && ftruncate(fd, 0) == 0) return fd;
    *why = std::strerror(errno);
  }
  close(fd);
  return -1;
}

}  // namespace ashlar::mpiexec
