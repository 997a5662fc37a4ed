// What concerns a file as a whole: its size, the device, atomic mode.
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/io/agree.h"
#include "framework/io/api.h"
#include "framework/io/check.h"
#include "framework/io/file.h"
#include "framework/io/hints.h"
#include "framework/io/range_lock.h"
#include "framework/object/info_api.h"
#include "framework/plugin/host.h"
#include "framework/progress/user_call.h"

namespace ashlar::io {
namespace {

/// One process does it for all: `change` gives what the component says.
template <class Change>
Status change_size(const char* call, OpenFile& file, MPI_Offset size, Change change) {
  const progress::UserCall user_call(call, file.comm);
  ASHLAR_TRY(check_same_call(file, call));
  Status own;
  if (file.sequential())
    own = fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.sequential", {{"path", file.path}});
  else if (!file.writes())
    own = fail(MPI_ERR_READ_ONLY, "io.mode", {{"path", file.path}, {"mode", "MPI_MODE_RDONLY"}, {"access", "changed"}});
  else if (size < 0)
    own = fail(MPI_ERR_ARG, "argument.value", {{"argument", "size"}, {"value", size}, {"wanted", "0 or more"}});
  const Same same[] = {{.argument = "size", .value = size}};
  ASHLAR_TRY(agree(file, own, same));
  file.mappings.start_anew(file);
  if (!file.coherent()) ASHLAR_TRY(sync_all(file));
  if (file.comm->rank == 0) own = plugin::from(change(file.bytes, static_cast<std::uint64_t>(size)), file.driver);
  ASHLAR_TRY(agree(file, own));
  return file.coherent() ? Status() : sync_all(file);
}

}  // namespace

Status file_set_size(File& fh, MPI_Offset size) {
  return change_size("MPI_File_set_size", of(fh), size, of(fh).bytes->ops->truncate);
}

Status file_preallocate(File& fh, MPI_Offset size) {
  return change_size("MPI_File_preallocate", of(fh), size, of(fh).bytes->ops->allocate);
}

Status file_get_size(File& fh, MPI_Offset* size) {
  const OpenFile& file = of(fh);
  ashlar_io_stat found;
  ASHLAR_TRY(stat_of(file, &found));
  *size = static_cast<MPI_Offset>(found.bytes);
  return {};
}

Status file_sync(File& fh) {
  OpenFile& file = of(fh);
  if (file.split.begun != nullptr)
    return fail(MPI_ERR_IO, "io.split_open", {{"begun", file.split.begun}, {"path", file.path}});
  const progress::UserCall call("MPI_File_sync", file.comm);
  ASHLAR_TRY(check_same_call(file, "MPI_File_sync"));
  return sync_all(file);
}

Status file_set_atomicity(File& fh, int flag) {
  OpenFile& file = of(fh);
  const progress::UserCall call("MPI_File_set_atomicity", file.comm);
  ASHLAR_TRY(check_same_call(file, "MPI_File_set_atomicity"));
  Status own;
  if (flag != 0 && !file.coherent())
    own = fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.incoherent", {{"path", file.path}, {"component", file.driver}});
  else if (flag != 0 && file.shared == nullptr && !file_system_locks(file))
    own = fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.no_locks", {{"path", file.path}, {"lower", file.why_not_shared}});
  const Same same[] = {{.argument = "flag", .value = flag != 0}};
  ASHLAR_TRY(agree(file, own, same));
  file.atomic = flag != 0;
  choose_path(file);
  return {};
}

Status file_get_atomicity(File& fh, int* flag) {
  *flag = of(fh).atomic;
  return {};
}

Status file_get_group(File& fh, Group** group) {
  *group = Ref<Group>(fh.group).detach();
  return {};
}

Status file_get_amode(File& fh, int* amode) {
  *amode = of(fh).amode;
  return {};
}

Status file_set_info(File& fh, Info* info) {
  OpenFile& file = of(fh);
  const progress::UserCall call("MPI_File_set_info", file.comm);
  ASHLAR_TRY(check_same_call(file, "MPI_File_set_info"));
  ASHLAR_TRY(check_same_hints(*file.comm, file.path.c_str(), info, {}));
  std::string told;
  ASHLAR_TRY(read_hints(info, &file, &told));
  record_hints(file, "MPI_File_set_info", told);
  return {};
}

Status file_get_info(File& fh, Info** info_used) {
  ASHLAR_TRY(info::create(info_used));
  return write_hints(of(fh), **info_used);
}

}  // namespace ashlar::io
