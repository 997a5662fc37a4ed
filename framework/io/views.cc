// The calls about views and data representations.
#include <mpi.h>

#include <cstring>

#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/io/agree.h"
#include "framework/io/api.h"
#include "framework/io/check.h"
#include "framework/io/engine.h"
#include "framework/io/file.h"
#include "framework/io/hints.h"
#include "framework/io/request.h"
#include "framework/progress/user_call.h"

namespace ashlar::io {
namespace {

/// The displacement of a view, in bytes. Of a file with MPI_MODE_SEQUENTIAL it is where the shared pointer is.
Status displacement(OpenFile& file, MPI_Offset disp, MPI_Offset* out) {
  *out = disp;
  if (file.sequential() != (disp == MPI_DISPLACEMENT_CURRENT))
    return fail(MPI_ERR_ARG, "io.displacement", {{"value", disp}, {"path", file.path}});
  if (!file.sequential()) return {};
  MPI_Offset at = 0;
  if (file.pointers.there(file)) ASHLAR_TRY(file.pointers.read(file, &at));
  return file_get_byte_offset(file, at, out);
}

Status make(OpenFile& file, MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep, View* view) {
  ASHLAR_TRY(datatype::check_committed(etype));
  ASHLAR_TRY(datatype::check_committed(filetype));
  MPI_Offset begin = 0;
  ASHLAR_TRY(displacement(file, disp, &begin));
  return make_view(begin, etype, filetype, datarep, file.writes(), view);
}

/// Whether the processes compare what they set. Where they do not, each goes on at once, and its own arguments alone
/// decide what it returns. Without offsets in the file all have to be done with what the shared pointer counts.
bool agrees_on_views(const OpenFile& file) { return Engine::current().checks || file.sequential(); }

/// A call of MPI_File_set_view, whatever comes of it: with it the shared pointer begins at 0. It waits for no other
/// process, but for every kStride-th one: then no process uses a pointer of the stride before the present one any more,
/// and rank 0 makes them those of the next one.
Status count_view(OpenFile& file) {
  constexpr std::uint32_t kStride = SharedPointers::kViews / 2;
  const std::uint32_t next = file.generation + 1;
  if (next % kStride == 0) {
    ASHLAR_TRY(agree(file, {}));
    if (file.comm->rank == 0 && file.pointers.there(file))
      for (std::uint32_t view = next + kStride; view < next + 2 * kStride; ++view)
        ASHLAR_TRY(file.pointers.store(file, view, 0));
  }
  file.generation = next;
  return {};
}

/// A handle of the program's: a constant, or a new datatype, fit for use although the program may have freed its own.
Status hand_out(const Ref<Datatype>& type, Datatype** out) {
  if (!type->is_predefined()) {
    ASHLAR_TRY(datatype::dup(*type, out));
    return datatype::commit(out);
  }
  *out = type.get();
  return {};
}

template <class Conversion>
Conversion* or_none(Conversion* given) {
  return reinterpret_cast<void*>(given) == reinterpret_cast<void*>(MPI_CONVERSION_FN_NULL) ? nullptr : given;
}

Status check_registration(const char* datarep, MPI_Datarep_extent_function* extent) {
  const std::size_t length = std::strlen(datarep);
  if (length == 0 || length >= MPI_MAX_DATAREP_STRING)
    return fail(
        MPI_ERR_ARG, "argument.value",
        {{"argument", "datarep's length"}, {"value", length}, {"wanted", "from 1 to MPI_MAX_DATAREP_STRING - 1"}});
  if (extent == nullptr)
    return fail(MPI_ERR_ARG, "argument.text",
                {{"argument", "dtype_file_extent_fn"}, {"value", "NULL"}, {"wanted", "a function"}});
  return {};
}

}  // namespace

Status file_set_view(File& fh, MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep, Info* info) {
  OpenFile& file = of(fh);
  if (file.split.begun != nullptr)
    return fail(MPI_ERR_IO, "io.split_open", {{"begun", file.split.begun}, {"path", file.path}});
  const progress::UserCall call("MPI_File_set_view", file.comm);
  ASHLAR_TRY(check_same_call(file, "MPI_File_set_view"));
  wait_for_pending(file);
  View view;
  Status own = check_requests(file);
  if (own.ok()) own = make(file, disp, etype, filetype, datarep, &view);
  own = check_same_hints(*file.comm, file.path.c_str(), info, own);
  if (agrees_on_views(file)) {
    const Same same[] = {{.argument = "etype (its extent in the file)", .value = view.etype_extent},
                         same_text("datarep", datarep)};
    ASHLAR_TRY(agree(file, own, same));
  }
  ASHLAR_TRY(count_view(file));
  if (own.ok()) own = read_hints(info, &file);
  if (!own.ok()) return own;
  file.view = std::move(view);
  file.viewed = file.generation;
  file.position = 0;
  choose_path(file);
  return compare_views(file);
}

Status file_get_view(File& fh, MPI_Offset* disp, Datatype** etype, Datatype** filetype, char* datarep) {
  const View& view = of(fh).view;
  *disp = view.disp;
  std::memcpy(datarep, view.rep->name.c_str(), view.rep->name.size() + 1);
  ASHLAR_TRY(hand_out(view.etype, etype));
  return hand_out(view.filetype, filetype);
}

Status file_get_type_extent(File& fh, Datatype& datatype, MPI_Count* extent) {
  Ref<Datatype> placed;
  ASHLAR_TRY(datatype::check_committed(datatype));
  ASHLAR_TRY(file_form(*of(fh).view.rep, datatype, &placed));
  *extent = placed->extent();
  return {};
}

Status register_datarep(const char* datarep, MPI_Datarep_conversion_function* read,
                        MPI_Datarep_conversion_function* write, MPI_Datarep_extent_function* extent,
                        void* extra_state) {
  ASHLAR_TRY(check_registration(datarep, extent));
  return Engine::current().datareps.add({.name = datarep,
                                         .kind = Datarep::Kind::kUser,
                                         .read = or_none(read),
                                         .write = or_none(write),
                                         .extent = extent,
                                         .state = extra_state});
}

Status register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read,
                          MPI_Datarep_conversion_function_c* write, MPI_Datarep_extent_function* extent,
                          void* extra_state) {
  ASHLAR_TRY(check_registration(datarep, extent));
  return Engine::current().datareps.add({.name = datarep,
                                         .kind = Datarep::Kind::kUser,
                                         .read_c = or_none(read),
                                         .write_c = or_none(write),
                                         .extent = extent,
                                         .state = extra_state});
}

}  // namespace ashlar::io
