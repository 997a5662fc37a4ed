#include "framework/io/view.h"

#include <limits>

#include "framework/base/failure.h"
#include "framework/io/engine.h"

namespace ashlar::io {
namespace {

using datatype::Ascent;

Status bad_type(const char* argument, const Datatype& type, const char* wanted) {
  return fail(MPI_ERR_IO, "io.view_type", {{"argument", argument}, {"type", type.described()}, {"wanted", wanted}});
}

/// Displacements in a file do not fall, and none is negative; what may be written has no byte twice (MPI-5.0, 14.1.1).
Status check_pieces(const char* argument, const Datatype& type, const Datatype& placed, bool writable) {
  if (placed.size() == 0) return {};
  if (placed.true_lb() < 0) return bad_type(argument, type, "without negative displacements");
  switch (datatype::ascent_of_tiles(placed)) {
    case Ascent::kDisjoint:
      return {};
    case Ascent::kOverlapping:
      return writable ? bad_type(argument, type, "without overlapping parts, because the file may be written")
                      : Status();
    case Ascent::kNone:
      break;
  }
  return bad_type(argument, type, "with displacements that do not fall, and an extent that holds all its data");
}

}  // namespace

MPI_Offset View::end_at(std::uint64_t size) const {
  if (!tiles || etype_bytes == 0) return 0;
  std::uint64_t bytes = 0;
  if (!overlapping) {
    bytes = tiles->below(static_cast<std::int64_t>(size));
  } else {
    datatype::Span span;
    while (tiles->spans(bytes, std::numeric_limits<std::uint64_t>::max(), 1, &span) == 1 &&
           span.offset < static_cast<std::int64_t>(size))
      bytes += span.bytes;
  }
  const auto each = static_cast<std::uint64_t>(etype_bytes);
  return static_cast<MPI_Offset>((bytes + each - 1) / each);
}

Status bytes_view(View* out) {
  Datatype& byte = datatype::predefined(MPI_BYTE);
  return make_view(0, byte, byte, "native", true, out);
}

Status make_view(MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep, bool writable, View* out) {
  if (disp < 0)
    return fail(MPI_ERR_ARG, "argument.value", {{"argument", "disp"}, {"value", disp}, {"wanted", "0 or more"}});
  View view;
  view.disp = disp;
  view.etype = Ref<Datatype>::share(etype);
  view.filetype = Ref<Datatype>::share(filetype);
  ASHLAR_TRY(Engine::current().datareps.find(datarep, &view.rep));
  if (etype.size() == 0) return bad_type("etype", etype, "with data");
  view.etype_data = etype.size();
  ASHLAR_TRY(file_bytes(*view.rep, etype, 1, &view.etype_bytes));
  if (filetype.size() % etype.size() != 0)
    return fail(MPI_ERR_ARG, "io.not_of_etypes",
                {{"type", filetype.described()},
                 {"bytes", filetype.size()},
                 {"etype", etype.described()},
                 {"of", etype.size()}});
  ASHLAR_TRY(file_form(*view.rep, filetype, &view.placed));
  Ref<Datatype> placed_etype;
  ASHLAR_TRY(file_form(*view.rep, etype, &placed_etype));
  view.etype_extent = placed_etype->extent();
  ASHLAR_TRY(check_pieces("etype", etype, *placed_etype, writable));
  ASHLAR_TRY(check_pieces("filetype", filetype, *view.placed, writable));
  if (view.placed->size() > 0) {
    view.overlapping = datatype::ascent_of_tiles(*view.placed) != Ascent::kDisjoint;
    view.tiles.emplace(disp, *view.placed);
  }
  *out = view;
  return {};
}

}  // namespace ashlar::io
