#include "mpiexec/safe_open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
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

Status refused(const std::string& path, int error) {
  return fail(kErrOther, "output.refused", {{"lower", std::strerror(error)}, {"file", brief(path)}});
}

Status of_another_user(const std::string& path, const std::string& what, uid_t owner) {
  return fail(kErrOther, "output.other_user", {{"user", owner}, {"file", brief(path)}, {"what", what}});
}

/// One part of the path, from `folder` into the next.
Status enter(Folder& folder, const std::string& name, const std::string& path) {
  constexpr int kFlags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  int next = openat(folder.fd(), name.c_str(), kFlags);
  if (next < 0 && errno == ENOENT && (mkdirat(folder.fd(), name.c_str(), 0777) == 0 || errno == EEXIST))
    next = openat(folder.fd(), name.c_str(), kFlags);
  struct stat facts;
  if (next < 0 || fstat(next, &facts) != 0) {
    const int error = errno;
    if (next >= 0) close(next);
    return refused(path, error);
  }
  if (S_ISLNK(facts.st_mode)) {
    close(next);
    if (facts.st_uid != geteuid() && facts.st_uid != 0 && folder.open_to_everybody())
      return of_another_user(path, "the symbolic link " + brief(name), facts.st_uid);
    next = openat(folder.fd(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (next < 0) return refused(path, errno);
  } else if (!S_ISDIR(facts.st_mode)) {
    close(next);
    return fail(kErrOther, "output.not_a_folder", {{"file", brief(path)}, {"name", brief(name)}});
  }
  folder.go_to(next);
  return {};
}

/// Whether mpiexec may write into what it has opened.
Status check_ours(int fd, const Folder& folder, const std::string& path) {
  struct stat facts;
  if (fstat(fd, &facts) != 0) return refused(path, errno);
  if (!S_ISREG(facts.st_mode)) return fail(kErrOther, "output.no_file", {{"file", brief(path)}});
  if (!folder.open_to_everybody()) return {};
  if (facts.st_uid != geteuid()) return of_another_user(path, "it", facts.st_uid);
  if (facts.st_nlink > 1) return fail(kErrOther, "output.second_name", {{"file", brief(path)}});
  return {};
}

}  // namespace

Status open_output_file(const std::string& path, int* opened) {
  Folder folder(open(path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::size_t at = 0;
  for (std::size_t slash; (slash = path.find('/', at)) != std::string::npos; at = slash + 1) {
    const std::string name = path.substr(at, slash - at);
    if (!name.empty() && name != ".") ASHLAR_TRY(enter(folder, name, path));
  }
  // O_NONBLOCK for a named pipe of others that no process reads.
  const int fd = openat(folder.fd(), path.c_str() + at,
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0) {
    if (errno == ELOOP) return fail(kErrOther, "output.link", {{"file", brief(path)}});
    return errno == ENXIO ? fail(kErrOther, "output.no_file", {{"file", brief(path)}}) : refused(path, errno);
  }
  Status status = check_ours(fd, folder, path);
  if (status.ok() && (fcntl(fd, F_SETFL, O_APPEND) != 0 || ftruncate(fd, 0) != 0)) status = refused(path, errno);
  if (status.ok())
    *opened = fd;
  else
    close(fd);
  return status;
}

}  // namespace ashlar::mpiexec
