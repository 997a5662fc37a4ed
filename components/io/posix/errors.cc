#include <mpi.h>

#include <cerrno>
#include <cstring>

#include "components/io/posix/driver.h"

namespace ashlar::io::posix {
namespace {

/// MPI-5.0, 14.7.
int class_of(int error) {
  switch (error) {
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENAMETOOLONG:
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ESPIPE:
    case EOPNOTSUPP:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

}  // namespace

// The path comes last: where it is longer than what there is room for, it alone is cut.
ashlar_result failed(int error, const char* call, const char* path) {
  const ashlar_fact facts[] = {{"call", call, 0}, {"lower", std::strerror(error), 0}, {"path", path, 0}};
  return ashlar_fail_with(the_host, class_of(error), "io.system", facts, 3);
}

ashlar_result failed_at(int error, const char* call, const char* path, std::uint64_t offset) {
  const ashlar_fact facts[] = {{"call", call, 0},
                               {"offset", nullptr, static_cast<std::int64_t>(offset)},
                               {"lower", std::strerror(error), 0},
                               {"path", path, 0}};
  return ashlar_fail_with(the_host, class_of(error), "io.system_at", facts, 4);
}

}  // namespace ashlar::io::posix
