#include "framework/io/file.h"

#include "framework/io/agree.h"
#include "framework/plugin/host.h"

namespace ashlar::io {

void choose_path(OpenFile& file) {
  file.plain = file.view.tiles && file.view.tiles->contiguous() && file.view.rep->native() && file.seekable() &&
               !file.sequential() && !file.atomic;
}

Status stat_of(const OpenFile& file, ashlar_io_stat* out) {
  *out = {};
  out->size = sizeof *out;
  return plugin::from(file.bytes->ops->stat(file.bytes, out), file.driver);
}

Status sync(OpenFile& file) { return plugin::from(file.bytes->ops->sync(file.bytes), file.driver); }

Status refresh(OpenFile& file) {
  const ashlar_io_file_ops& ops = *file.bytes->ops;
  if (!ASHLAR_HAS(&ops, refresh) || ops.refresh == nullptr) return {};
  return plugin::from(ops.refresh(file.bytes), file.driver);
}

// In a file that is in memory and nowhere else, the processes of a node see what others have written, and it has
// nowhere to go. Where processes of one node see what others write, it is in the system's memory when all have called
// this, and one brings it to the device. Elsewhere each brings its own there before any reads again.
Status sync_all(OpenFile& file) {
  constexpr std::uint64_t kNothingToDo = ASHLAR_IO_NODE_COHERENT | ASHLAR_IO_NO_DEVICE;
  if (file.shared != nullptr && (file.bytes->capabilities & kNothingToDo) == kNothingToDo) return {};
  file.mappings.start_anew(file);
  const bool each = !file.coherent() || file.shared == nullptr;
  Status own;
  if (each) own = sync(file);
  ASHLAR_TRY(agree(file, own));
  if (each)
    own = refresh(file);
  else if (file.comm->rank == 0)
    own = sync(file);
  return agree(file, own);
}

}  // namespace ashlar::io
