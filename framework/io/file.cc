#include "framework/io/file.h"

#include "framework/plugin/host.h"

namespace ashlar::io {

Status stat_of(const OpenFile& file, ashlar_io_stat* out) {
  *out = {};
  out->size = sizeof *out;
  return plugin::from(file.bytes->ops->stat(file.bytes, out), file.driver);
}

}  // namespace ashlar::io
