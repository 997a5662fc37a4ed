#include "framework/io/transfer.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "framework/base/failure.h"
#include "framework/io/check.h"
#include "framework/io/engine.h"
#include "framework/io/moves.h"
#include "framework/io/range_lock.h"
#include "framework/io/verify.h"

namespace ashlar::io {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Bounce = std::unique_ptr<std::byte, Free>;

Status take(std::uint64_t bytes, Bounce* out) {
  out->reset(static_cast<std::byte*>(std::malloc(bytes)));
  if (*out != nullptr) return {};
  return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the buffer of a file access"}, {"bytes_wanted", bytes}});
}

/// Data that is scattered in memory goes through a buffer, in which it is packed.
Status move_scattered(const Transfer& what, std::uint64_t at, std::uint64_t total, std::uint64_t* moved) {
  const std::uint64_t room = std::min(total, Engine::current().config.get().buffer_bytes);
  Bounce bounce;
  ASHLAR_TRY(take(room, &bounce));
  *moved = 0;
  while (*moved < total) {
    const std::uint64_t now = std::min(room, total - *moved);
    std::uint64_t done = 0;
    if (what.writes) datatype::pack(what.buffer, *moved, bounce.get(), now);
    const Status step = move_bytes(what.file, what.writes, at + *moved, bounce.get(), now, &done);
    if (!what.writes) datatype::unpack(what.buffer, *moved, bounce.get(), done);
    *moved += done;
    ASHLAR_TRY(step);
    if (done < now) break;
  }
  return {};
}

/// The buffer as it lies in the file, converted in windows of whole elements. What the file does not have keeps its
/// value in memory.
Status move_converted(const Transfer& what, std::uint64_t at, std::uint64_t total, MPI_Count* moved) {
  const Datarep& rep = *what.file.view.rep;
  std::uint64_t room = std::min(total, Engine::current().config.get().buffer_bytes);
  Bounce bounce;
  ASHLAR_TRY(take(room, &bounce));
  MPI_Count elements = 0;
  for (std::uint64_t past = 0; past < total;) {
    const std::uint64_t now = std::min(room, total - past);
    std::uint64_t done = 0;
    Converted part;
    if (what.writes) {
      ASHLAR_TRY(to_file(rep, what.buffer, elements, bounce.get(), static_cast<MPI_Count>(now), &part));
      done = static_cast<std::uint64_t>(part.file);
      ASHLAR_TRY(move_bytes(what.file, true, at + past, bounce.get(), done, &done));
    } else {
      ASHLAR_TRY(move_bytes(what.file, false, at + past, bounce.get(), now, &done));
      ASHLAR_TRY(from_file(rep, what.buffer, elements, bounce.get(), static_cast<MPI_Count>(done), &part));
      if (done < now) total = past + done;  // the end of the file
    }
    elements += part.elements;
    past += static_cast<std::uint64_t>(part.file);
    *moved += part.memory;
    if (part.elements > 0) continue;
    if (now == total - past) break;  // a part of an element
    room = std::min(total - past, 2 * room);
    ASHLAR_TRY(take(room, &bounce));
  }
  return {};
}

Status bad_mode(const OpenFile& file, bool writes) {
  return fail(writes ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS, "io.mode",
              {{"path", file.path},
               {"mode", writes ? "MPI_MODE_RDONLY" : "MPI_MODE_WRONLY"},
               {"access", writes ? "written" : "read"}});
}

}  // namespace

Status check_access(const OpenFile& file, bool writes, const DataView& buffer, MPI_Offset* etypes) {
  if (writes ? !file.writes() : !file.reads()) return bad_mode(file, writes);
  MPI_Count bytes = 0;
  if (__builtin_mul_overflow(buffer.count, buffer.type->size(), &bytes))
    return fail(MPI_ERR_COUNT, "type.too_many_bytes", {{"count", buffer.count}, {"type", buffer.type->described()}});
  if (bytes % file.view.etype_data != 0)
    return fail(
        MPI_ERR_IO, "io.fraction",
        {{"bytes", bytes}, {"etype", file.view.etype->described()}, {"of", file.view.etype_data}, {"path", file.path}});
  if (bytes > 0 && !file.view.tiles)
    return fail(MPI_ERR_IO, "io.no_data", {{"type", file.view.filetype->described()}, {"path", file.path}});
  *etypes = bytes / file.view.etype_data;
  return check_signature(file, buffer, *etypes);
}

bool range_of(const View& view, std::uint64_t at, std::uint64_t bytes, std::uint64_t* first, std::uint64_t* end) {
  *first = *end = 0;
  if (bytes == 0) return true;
  datatype::Span span;
  const bool ascends = view.ascends(at + bytes);
  const std::uint64_t lowest = ascends ? at : at - at % static_cast<std::uint64_t>(view.placed->size());
  static_cast<void>(view.tiles->spans(lowest, 1, 1, &span));
  *first = static_cast<std::uint64_t>(span.offset);
  static_cast<void>(view.tiles->spans(at + bytes - 1, 1, 1, &span));
  *end = ascends ? static_cast<std::uint64_t>(span.end()) : std::numeric_limits<std::uint64_t>::max();
  return ascends;
}

Status stream_bytes(const Transfer& what, std::uint64_t* at, std::uint64_t* bytes) {
  if (!what.file.view.stream_byte(what.at, at))
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "offset"}, {"value", what.at}, {"wanted", "within 2^63 bytes of the file's beginning"}});
  MPI_Count all = what.buffer.bytes();
  if (!what.file.view.rep->native())
    ASHLAR_TRY(file_bytes(*what.file.view.rep, *what.buffer.type, what.buffer.count, &all));
  *bytes = static_cast<std::uint64_t>(all);
  if (all == 0) return {};
  return what.file.view.check_items(*at + *bytes, what.writes, what.file.path);
}

Status transfer(const Transfer& what, MPI_Count* moved) {
  *moved = 0;
  OpenFile& file = what.file;
  const auto total = static_cast<std::uint64_t>(what.buffer.bytes());
  if (total == 0) return {};
  std::uint64_t at = 0, bytes = 0, first = 0, end = 0;
  ASHLAR_TRY(stream_bytes(what, &at, &bytes));
  if (file.atomic) range_of(file.view, at, bytes, &first, &end);
  const BlockLock turn(file.shared != nullptr && !file.seekable() ? &file.shared->lock : nullptr);
  const RangeLock range(file, what.writes ? RangeLock::Kind::kExclusive : RangeLock::Kind::kShared, first, end);
  Status step = range.refused();
  if (!step.ok()) return step;
  if (file.view.rep->converts(what.writes)) {
    step = move_converted(what, at, bytes, moved);
  } else {
    std::uint64_t done = 0;
    step = what.buffer.dense()
               ? move_bytes(file, what.writes, at, static_cast<std::byte*>(what.buffer.data), total, &done)
               : move_scattered(what, at, total, &done);
    *moved = static_cast<MPI_Count>(done);
  }
  if (what.verified && step.ok() && can_verify(file)) step = verify(what);
  (what.writes ? file.counts.written : file.counts.read).add(static_cast<std::uint64_t>(*moved));
  return step;
}

}  // namespace ashlar::io
