#include "framework/param/trust.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/printable.h"

namespace ashlar::param {
namespace {

constexpr int kMostLinks = 16;

[[gnu::format(printf, 2, 3)]] Status refuse(const std::string& path, const char* format, ...) {
  char why[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return fail(kErrOther, "file.refused", {{"file", printable(path)}, {"reason", why}});
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool one_of_ours(uid_t owner, const Trust& trust) {
  return owner == geteuid() || owner == 0 || owner == trust.also_owner;
}

// The convention of private groups: the user's own group has the user's number. Looking up its members would ask
// servers.
bool private_group(gid_t group) { return group == getegid() && group == static_cast<gid_t>(geteuid()); }

const char* kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO:
      return "a FIFO";
    case S_IFDIR:
      return "a folder";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "something unknown";
  }
}

// Whoever may write to the folder may put another file in the place of this one; with the sticky bit only the owners of
// file and folder may, but another user may have been there first: a file there has to be of one of ours, even a named
// one.
Status check_place(const std::string& path, uid_t owner, const Trust& trust, const char* what) {
  const std::string folder = folder_of(path);
  struct stat info;
  const bool writable = stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0;
  if (!one_of_ours(owner, trust) && (writable || !trust.any_owner))
    return refuse(path, "it %s user %u, who is neither you nor root; a copy of your own would be used", what,
                  static_cast<unsigned>(owner));
  if (!writable || ((info.st_mode & S_ISVTX) && one_of_ours(info.st_uid, trust))) return {};
  const std::string shown = printable(folder);
  return refuse(path,
                "every user may replace it, because its folder is writable for all (mode %o); chmod o-w %s, or keep "
                "it elsewhere",
                info.st_mode & 07777u, shown.c_str());
}

Status check_file(const std::string& path, const struct stat& info, const Trust& trust) {
  if (!S_ISREG(info.st_mode)) return refuse(path, "it is %s, not a regular file", kind(info.st_mode));
  if (!trust.judged) return {};
  ASHLAR_TRY(check_place(path, info.st_uid, trust, "belongs to"));
  const std::string shown = printable(path);
  if (info.st_mode & S_IWOTH)
    return refuse(path, "every user may write to it (mode %o); chmod o-w %s", info.st_mode & 07777u, shown.c_str());
  if ((info.st_mode & S_IWGRP) && !trust.group_may_write && !private_group(info.st_gid))
    return refuse(path, "its group, number %u, may write to it (mode %o); chmod g-w %s",
                  static_cast<unsigned>(info.st_gid), info.st_mode & 07777u, shown.c_str());
  return {};
}

// Where the link at `path` leads, when it is one that may be followed; the link that was judged is the one that is
// read.
Status follow(std::string* path, const Trust& trust) {
  const int fd = ::open(path->c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return fail(kErrNoSuchFile, "file.unreadable", {{"file", printable(*path)}, {"lower", std::strerror(errno)}});
  struct stat info;
  char target[PATH_MAX];
  const bool known = fstat(fd, &info) == 0;
  const ssize_t length = known && S_ISLNK(info.st_mode) ? readlinkat(fd, "", target, sizeof target) : -1;
  ::close(fd);
  // Replaced between the two looks: the next look sees what is there now.
  if (known && !S_ISLNK(info.st_mode)) return {};
  if (length < 0 || length == static_cast<ssize_t>(sizeof target))
    return refuse(*path, "the link cannot be followed: %s", std::strerror(length < 0 ? errno : ENAMETOOLONG));
  ASHLAR_TRY(check_place(*path, info.st_uid, trust, "is a link of"));
  const std::string to(target, static_cast<std::size_t>(length));
  *path = to.starts_with('/') ? to : folder_of(*path) + "/" + to;
  return {};
}

Status cannot_open(const std::string& path, const Trust& trust, int error) {
  const std::string shown = printable(path);
  if (error == ENOENT || error == ENOTDIR) return fail(kErrNoSuchFile, "file.absent", {{"file", shown}});
  if (error == ENXIO) return refuse(path, "it is a socket or a device, not a regular file");
  // A stranger's file that cannot be read must not stop the user.
  struct stat info;
  if (trust.judged && lstat(path.c_str(), &info) == 0) ASHLAR_TRY(check_place(path, info.st_uid, trust, "belongs to"));
  return fail(kErrArg, "file.unreadable", {{"file", shown}, {"lower", std::strerror(error)}});
}

// Never waits for the other end of a FIFO, and takes no terminal.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

}  // namespace

bool elevated() noexcept { return getauxval(AT_SECURE) != 0; }

Status open_trusted(const std::string& given, const Trust& trust, int* out) {
  std::string path = given;
  int fd = -1;
  for (int links = 0;; ++links) {
    fd = ::open(path.c_str(), kReading | (trust.judged ? O_NOFOLLOW : 0));
    if (fd >= 0) break;
    if (errno != ELOOP || !trust.judged) return cannot_open(path, trust, errno);
    if (links == kMostLinks) return refuse(given, "it leads through more than %d links", kMostLinks);
    ASHLAR_TRY(follow(&path, trust));
  }
  struct stat info;
  Status status;
  if (fstat(fd, &info) != 0) {
    status = fail(kErrArg, "file.unreadable", {{"file", printable(path)}, {"lower", std::strerror(errno)}});
  } else {
    status = check_file(path, info, trust);
  }
  if (!status.ok()) {
    ::close(fd);
    return status;
  }
  *out = fd;
  return {};
}

Status check_trusted(const std::string& path, const Trust& trust) {
  struct stat info;
  if (lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
    ASHLAR_TRY(check_file(path, info, trust));
    return faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0 ? Status{} : cannot_open(path, trust, errno);
  }
  int fd = -1;
  ASHLAR_TRY(open_trusted(path, trust, &fd));
  ::close(fd);
  return {};
}

Status read_trusted(const std::string& path, const Trust& trust, std::string* out, std::size_t largest) {
  int fd = -1;
  ASHLAR_TRY(open_trusted(path, trust, &fd));
  char buffer[16384];
  ssize_t got = 0;
  out->clear();
  while (out->size() <= largest && (got = ::read(fd, buffer, sizeof buffer)) > 0)
    out->append(buffer, static_cast<std::size_t>(got));
  const int error = out->size() <= largest && got < 0 ? errno : 0;
  ::close(fd);
  if (error) return fail(kErrArg, "file.unreadable", {{"file", printable(path)}, {"lower", std::strerror(error)}});
  if (out->size() <= largest) return {};
  return fail(kErrArg, "file.too_large", {{"file", printable(path)}, {"most", largest}});
}

Status check_folder(const std::string& path, uid_t* owner) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return cannot_open(path, Trust::named(), errno);
  *owner = info.st_uid;
  if (!S_ISDIR(info.st_mode)) return refuse(path, "it is no folder");
  ASHLAR_TRY(check_place(path, info.st_uid, Trust::named(), "belongs to"));
  if (!(info.st_mode & S_IWOTH)) return {};
  if ((info.st_mode & S_ISVTX) && (info.st_uid == 0 || info.st_uid == geteuid())) return {};
  const std::string shown = printable(path);
  return refuse(path, "every user may put files into it (mode %o); chmod o-w %s", info.st_mode & 07777u, shown.c_str());
}

}  // namespace ashlar::param
