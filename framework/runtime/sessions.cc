// Sessions (MPI-5.0, 11.3): users of the library that know nothing of each other.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/event.h"
#include "framework/base/failure.h"
#include "framework/object/group_builder.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/object/leaks.h"
#include "framework/object/memory_kinds.h"
#include "framework/object/pool.h"
#include "framework/object/pvars.h"
#include "framework/object/session.h"
#include "framework/p2p/buffer_api.h"
#include "framework/runtime/api.h"
#include "framework/runtime/fork.h"
#include "framework/runtime/leaks.h"
#include "framework/runtime/life.h"
#include "framework/runtime/params.h"
#include "framework/runtime/process.h"
#include "framework/runtime/process_sets.h"
#include "framework/runtime/pvars.h"

namespace ashlar {
namespace {

constinit Pool<Session> pool{PoolName::kSessions};

}  // namespace

void destroy(Session* session) { pool.put(session); }

namespace runtime {

namespace {

constexpr std::pair<const char*, int> kLevels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                                                   {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                                                   {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                                                   {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

Status wanted_level(const Info* info, int* level) {
  *level = MPI_THREAD_SINGLE;
  const std::string* wanted = info ? info->find("thread_level") : nullptr;
  if (!wanted) return {};
  for (const auto& [name, value] : kLevels) {
    if (*wanted != name) continue;
    *level = value;
    return {};
  }
  return fail(
      MPI_ERR_INFO_VALUE, "info.value",
      {{"argument", "info"}, {"key", "thread_level"}, {"value", *wanted}, {"wanted", "one of the MPI_THREAD_ levels"}});
}

Status set_of(const char* name, const ProcessSet** found) {
  *found = find_process_set(*Process::current(), name);
  if (*found) return {};
  return fail(MPI_ERR_ARG, "session.no_process_set", {{"argument", "pset_name"}, {"value", name}});
}

void drop_send_buffer(Origin& origin) { p2p::drop_buffer(&origin.send_buffer); }

}  // namespace

const Counter& sessions_alive() { return pool.out_level(); }

bool in_sessions() { return life.open_sessions() > 0; }

Status session_init(Info* info, Errhandler& errhandler, Session** result) {
  ASHLAR_TRY(check_not_forked());
  int level = MPI_THREAD_SINGLE;
  ASHLAR_TRY(wanted_level(info, &level));
  const event::Hold hold;
  const std::lock_guard guard(life.mutex);
  const bool first = Process::current() == nullptr;
  ASHLAR_TRY(Process::start(level));
  Process& process = *Process::current();
  if (first) process.launch->ops->initialized(process.launch);
  Session* const session = pool.take();
  if (!session) return object::none_left("another session", pool.out_level());
  session->errhandler = Ref<Errhandler>::share(errhandler);
  const std::string* const kinds = info ? info->find("mpi_memory_alloc_kinds") : nullptr;
  session->origin = Ref<Origin>::adopt(new Origin);
  session->origin->memory_kinds = memory_kinds::supported(kinds ? *kinds : "");
  session->origin->of_session = true;
  session->origin->at_end = drop_send_buffer;
  const int number = life.next_session();
  session->origin->session = number;
  std::snprintf(session->name, sizeof session->name, "%d", number);
  process.report_use(life.session_opened());
  *result = session;
  return {};
}

Status session_finalize(Session** session) {
  const event::Hold hold;
  const std::lock_guard guard(life.mutex);
  Process& process = *Process::current();
  process.settle("MPI_Session_finalize");
  // What is still attached is given back as by MPI_Session_detach_buffer.
  void* memory = nullptr;
  MPI_Count bytes = 0;
  (void)session_detach_buffer(**session, &memory, &bytes).ok();
  release(std::exchange(*session, nullptr));
  // The process stays a member of its job: another session may follow, and joining twice is not for every launcher.
  const int left = life.session_closed();
  if (left > 0 || process.world) {
    process.report_use(left);
    return {};
  }
  if (leaks::watching.load()) report_leaks(process, Ending::kSessions);
  process.rest();
  process.report_use(0);
  return {};
}

Status session_get_info(Session& session, Info** result) {
  ASHLAR_TRY(info::create(result));
  const int level = Process::current()->thread_level;  // in force for all: another user may have asked for more
  for (const auto& [name, value] : kLevels)
    if (value == level) ASHLAR_TRY(info::set(*result, "thread_level", name));
  return info::set(*result, "mpi_memory_alloc_kinds", session.origin->memory_kinds.c_str());
}

Status session_get_num_psets(Session&, Info*, int* count) {
  *count = static_cast<int>(Process::current()->process_sets().size());
  return {};
}

Status session_get_nth_pset(Session&, Info*, int n, int* length, char* name) {
  const std::vector<ProcessSet>& sets = Process::current()->process_sets();
  if (n < 0 || n >= static_cast<int>(sets.size()))
    return fail(
        MPI_ERR_ARG, "argument.index",
        {{"argument", "n"}, {"value", n}, {"whole", "the job"}, {"count", sets.size()}, {"parts", "process sets"}});
  const std::string& own = sets[static_cast<std::size_t>(n)].name;
  if (*length < 0)
    return fail(MPI_ERR_ARG, "argument.value", {{"argument", "pset_len"}, {"value", *length}, {"wanted", "0 or more"}});
  const std::size_t needed = own.size() + 1;
  if (*length > 0) {
    if (!name) return fail(MPI_ERR_ARG, "argument.null", {{"argument", "pset_name"}});
    const std::size_t copied = std::min(needed, static_cast<std::size_t>(*length)) - 1;
    std::memcpy(name, own.c_str(), copied);
    name[copied] = '\0';
  }
  *length = static_cast<int>(needed);
  return {};
}

Status session_get_pset_info(Session& session, const char* name, Info** result) {
  Group* group = nullptr;
  ASHLAR_TRY(group_from_session_pset(session, name, &group));
  const std::string size = std::to_string(group->size());
  release(group);
  ASHLAR_TRY(info::create(result));
  return info::set(*result, "mpi_size", size.c_str());
}

Status group_from_session_pset(Session& session, const char* name, Group** result) {
  const ProcessSet* set = nullptr;
  ASHLAR_TRY(set_of(name, &set));
  // A group of the session's own: what is made from it belongs to the session.
  GroupBuilder members;
  members.append_all(*set->members);
  *result = members.finish();
  if (!*result) return object::none_left("another group", groups_alive());
  (*result)->origin = session.origin;
  return {};
}

}  // namespace runtime
}  // namespace ashlar
