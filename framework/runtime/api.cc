#include "framework/runtime/api.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

#include "framework/base/abort_status.h"
#include "framework/base/event.h"
#include "framework/base/lane_lock.h"
#include "framework/datatype/datatype.h"
#include "framework/object/attribute_api.h"
#include "framework/object/comm.h"
#include "framework/object/error_text.h"
#include "framework/object/info_api.h"
#include "framework/object/int_handles.h"
#include "framework/object/leaks.h"
#include "framework/object/predefined.h"
#include "framework/runtime/fork.h"
#include "framework/runtime/leaks.h"
#include "framework/runtime/life.h"
#include "framework/runtime/process.h"
#include "framework/runtime/start_facts.h"
#include "framework/runtime/version.h"

namespace ashlar::runtime {
void prepare() {
  register_predefined_objects();
  datatype::register_predefined();
  static std::once_flag described;
  std::call_once(described, [] { describe_start(); });
}

Status init(int*, char***) {
  int provided = 0;
  return init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
}

Status init_thread(int*, char***, int required, int* provided) {
  ASHLAR_TRY(check_not_forked());
  prepare();
  const event::Hold hold;
  const std::lock_guard guard(life.mutex);
  ASHLAR_TRY(life.check_can_begin(required));
  ASHLAR_TRY(Process::start(required));
  // After a failure the process stays in its job: an error handler that ends the job can then tell the launcher why.
  ASHLAR_TRY(Process::current()->begin_world());
  Process::current()->report_use(life.open_sessions());
  life.world_began(required);
  *provided = required;
  return {};
}

Status finalize() {
  ASHLAR_TRY(check_not_forked());
  ASHLAR_TRY(life.check_on());
  // The first act of finalisation is the deletion of MPI_COMM_SELF's attributes, with MPI still usable
  // (MPI-5.0, 11.2.4).
  ASHLAR_TRY(attribute::delete_all(*Process::current()->self));
  const event::Hold hold;
  const std::lock_guard guard(life.mutex);
  if (leaks::watching.load() && life.open_sessions() == 0) report_leaks(*Process::current(), Ending::kWorld);
  const Status ended = Process::current()->end_world();
  Process::current()->report_use(life.open_sessions());
  if (life.open_sessions() == 0) ASHLAR_TRY(Process::stop());
  life.world_ended();
  return ended;
}

Status initialized(int* flag) {
  *flag = life.world() != Life::World::kBefore;
  return {};
}

Status finalized(int* flag) {
  *flag = forked() || life.world() == Life::World::kOver;
  return {};
}

Status query_thread(int* provided) {
  ASHLAR_TRY(life.check_on());
  *provided = life.thread_level();
  return {};
}

Status is_thread_main(int* flag) {
  *flag = Process::current()->main_thread == std::this_thread::get_id();
  return {};
}

Status abort(Comm& comm, int code) {
  char text[160];
  std::snprintf(text, sizeof text, "MPI_Abort was called on communicator '%s' with error code %d", comm.name.c_str(),
                code);
  plugin::Reporter& reporter = Process::current()->reporter;
  if (!reporter.launcher_tells()) reporter.notice(0, nullptr, text);
  if (error_hooks.abort) error_hooks.abort(&comm, code, text);  // none in a forked child
  std::_Exit(abort_status(code));
}

double wtime() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double wtick() {
  timespec t;
  clock_getres(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Status get_processor_name(char* name, int* length) {
  name[0] = '\0';
  if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0 || name[0] == '\0') std::strcpy(name, "unnamed");
  name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
  *length = static_cast<int>(std::strlen(name));
  return {};
}

Status get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return {};
}

Status get_library_version(char* version, int* length) {
  *length = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                          "Ashlar MPI %s, MPI %d.%d, standard ABI %d.%d, built with %s", kVersion, MPI_VERSION,
                          MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION, kCompiler);
  return {};
}

Status abi_get_version(int* major, int* minor) {
  *major = MPI_ABI_VERSION;
  *minor = MPI_ABI_SUBVERSION;
  return {};
}

Status abi_get_info(Info** info) {
  ASHLAR_TRY(info::create(info));
  const std::pair<const char*, std::size_t> sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)},
                                                       {"mpi_count_size", sizeof(MPI_Count)},
                                                       {"mpi_offset_size", sizeof(MPI_Offset)},
                                                       {"ashlar_handle_step", kHandleStep}};
  for (const auto& [key, bytes] : sizes) ASHLAR_TRY(info::set(*info, key, std::to_string(bytes).c_str()));
  return {};
}

Status pcontrol(int) { return {}; }  // profilers interpose it; the library itself has nothing to switch

}  // namespace ashlar::runtime
