// File pointers, and offsets in the view.
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/io/agree.h"
#include "framework/io/api.h"
#include "framework/io/check.h"
#include "framework/io/file.h"
#include "framework/progress/user_call.h"

namespace ashlar::io {
namespace {

Status not_sequential(const OpenFile& file) {
  return file.sequential() ? fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.sequential", {{"path", file.path}}) : Status();
}

/// The pointer that a seek sets, from one that is at `now`.
Status target_of(OpenFile& file, MPI_Offset now, MPI_Offset offset, int whence, MPI_Offset* out) {
  MPI_Offset base = 0;
  switch (whence) {
    case MPI_SEEK_SET:
      break;
    case MPI_SEEK_CUR:
      base = now;
      break;
    case MPI_SEEK_END: {
      ashlar_io_stat found;
      ASHLAR_TRY(stat_of(file, &found));
      base = file.view.end_at(found.bytes);
      break;
    }
    default:
      return fail(
          MPI_ERR_ARG, "argument.value",
          {{"argument", "whence"}, {"value", whence}, {"wanted", "MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END"}});
  }
  if (__builtin_add_overflow(base, offset, out) || *out < 0)
    return fail(MPI_ERR_ARG, "io.seek", {{"value", offset}, {"base", base}, {"path", file.path}});
  return {};
}

}  // namespace

Status file_seek(File& fh, MPI_Offset offset, int whence) {
  OpenFile& file = of(fh);
  ASHLAR_TRY(not_sequential(file));
  MPI_Offset to = 0;
  ASHLAR_TRY(target_of(file, file.position, offset, whence, &to));
  file.position = to;
  return {};
}

Status file_get_position(File& fh, MPI_Offset* offset) {
  OpenFile& file = of(fh);
  ASHLAR_TRY(not_sequential(file));
  *offset = file.position;
  return {};
}

// The pointer is read before and stored after all processes have called it, by one of them.
Status file_seek_shared(File& fh, MPI_Offset offset, int whence) {
  OpenFile& file = of(fh);
  ASHLAR_TRY(not_sequential(file));
  const progress::UserCall call("MPI_File_seek_shared", file.comm);
  ASHLAR_TRY(check_same_call(file, "MPI_File_seek_shared"));
  Status own = check_shared_view(file);
  MPI_Offset at = 0, to = 0;
  if (own.ok() && !file.pointers.there(file)) own = file.pointers.read(file, &at);  // why
  const Same same[] = {{.argument = "offset", .value = offset}, {.argument = "whence", .value = whence}};
  ASHLAR_TRY(agree(file, own, same));
  if (file.comm->rank == 0) {
    own = file.pointers.read(file, &at);
    if (own.ok()) own = target_of(file, at, offset, whence, &to);
    if (own.ok()) own = file.pointers.store(file, file.generation, to);
  }
  return agree(file, own);
}

Status file_get_position_shared(File& fh, MPI_Offset* offset) {
  OpenFile& file = of(fh);
  ASHLAR_TRY(not_sequential(file));
  return file.pointers.read(file, offset);
}

Status file_get_byte_offset(File& fh, MPI_Offset offset, MPI_Offset* disp) {
  const View& view = of(fh).view;
  std::uint64_t at = 0;
  if (offset < 0 || !view.stream_byte(offset, &at))
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "offset"}, {"value", offset}, {"wanted", "a place in the file"}});
  datatype::Span span = {.offset = view.disp};
  if (view.tiles) static_cast<void>(view.tiles->spans(at, 1, 1, &span));
  *disp = span.offset;
  return {};
}

}  // namespace ashlar::io
