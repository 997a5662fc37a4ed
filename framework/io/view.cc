#include "framework/io/view.h"

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/io/engine.h"

namespace ashlar::io {
namespace {

using datatype::Ascent;

Status bad_type(const char* argument, const Datatype& type, const char* wanted) {
  return fail(MPI_ERR_IO, "io.view_type", {{"argument", argument}, {"type", type.described()}, {"wanted", wanted}});
}

/// Displacements in a file do not fall, and none is negative; what may be written has no byte twice (MPI-5.0, 14.1.1).
/// That is said of one item: how the next ones lie matters to an access that reaches them (View::check_items).
Status check_pieces(const char* argument, const Datatype& type, const Datatype& placed, bool writable) {
  if (placed.size() == 0) return {};
  if (placed.true_lb() < 0) return bad_type(argument, type, "without negative displacements");
  switch (datatype::ascent_of(placed)) {
    case Ascent::kDisjoint:
      return {};
    case Ascent::kOverlapping:
      return writable ? bad_type(argument, type, "without overlapping parts, because the file may be written")
                      : Status();
    case Ascent::kNone:
      break;
  }
  return bad_type(argument, type, "with displacements that do not fall");
}

}  // namespace

MPI_Offset View::end_at(std::uint64_t size) const {
  if (!tiles || etype_bytes == 0) return 0;
  const auto each = static_cast<std::uint64_t>(etype_bytes);
  return static_cast<MPI_Offset>((tiles->end_below(static_cast<std::int64_t>(size)) + each - 1) / each);
}

Status View::check_items(std::uint64_t to, bool writes, const std::string& path) const {
  if (to <= tiles->ascending() || to <= static_cast<std::uint64_t>(placed->size())) return {};
  const bool overlap = datatype::ascent_of_tiles(*placed) == datatype::Ascent::kOverlapping;
  if (writes ? placed->extent() > 0 && !overlap : placed->extent() >= 0) return {};
  return fail(MPI_ERR_IO, "io.items_overlap",
              {{"type", filetype->described()},
               {"extent", placed->extent()},
               {"bytes", placed->size()},
               {"path", path},
               {"access", writes ? "written" : "read"}});
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
  if (view.placed->size() > 0) view.tiles.emplace(disp, *view.placed);
  Hash common;
  common.add(view.rep->name);
  common.add(static_cast<std::uint64_t>(view.etype_extent));
  view.common = static_cast<std::uint32_t>(common.value());
  *out = view;
  return {};
}

}  // namespace ashlar::io
