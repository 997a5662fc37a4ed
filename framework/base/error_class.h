/* The error classes that components and the rooms below the bindings use, with the values of the standard's ABI: C, and
 * without <mpi.h>, so that components build without it and the first rooms before it is generated.
 * tests/gen/check_error_classes.py compares them with <mpi.h>. */
#ifndef ASHLAR_ERROR_CLASS_H
#define ASHLAR_ERROR_CLASS_H

enum {
  ASHLAR_ERR_COUNT = 2,
  ASHLAR_ERR_RANK = 6,
  ASHLAR_ERR_ARG = 13,
  ASHLAR_ERR_TRUNCATE = 15,
  ASHLAR_ERR_OTHER = 16,
  ASHLAR_ERR_INTERN = 17,
  ASHLAR_ERR_ACCESS = 20,
  ASHLAR_ERR_IO = 35,
  ASHLAR_ERR_NO_MEM = 39,
  ASHLAR_ERR_NO_SPACE = 41,
  ASHLAR_ERR_NO_SUCH_FILE = 42,
  ASHLAR_ERR_UNSUPPORTED_OPERATION = 55,
  ASHLAR_ERR_PROC_ABORTED = 58
};

#ifdef __cplusplus
namespace ashlar {

/// Those that the kernel's rooms and the launcher use.
enum : int {
  kErrArg = ASHLAR_ERR_ARG,
  kErrOther = ASHLAR_ERR_OTHER,
  kErrIntern = ASHLAR_ERR_INTERN,
  kErrNoMem = ASHLAR_ERR_NO_MEM,
  kErrNoSuchFile = ASHLAR_ERR_NO_SUCH_FILE,
  kErrUnsupported = ASHLAR_ERR_UNSUPPORTED_OPERATION
};

}  // namespace ashlar
#endif
#endif
