// Sessions (MPI-5.0, 11.3): users of the library that know nothing of each other.
#include <mpi.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "framework/object/group_api.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/object/pool.h"
#include "framework/object/session.h"
#include "framework/runtime/api.h"
#include "framework/runtime/life.h"
#include "framework/runtime/params.h"
#include "framework/runtime/process.h"

namespace ashlar {
namespace {

constinit Pool<Session> pool;

}  // namespace

void destroy(Session* session) { pool.put(session); }

namespace runtime {

constinit std::mutex life_mutex;

namespace {

std::atomic<int> open_sessions{0};
int sessions_made = 0;

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
  return Status::fail(MPI_ERR_INFO_VALUE, "info key thread_level is '%s', which is none of the MPI_THREAD_ levels",
                      wanted->c_str());
}

/// A process set: its name, and the world ranks in it.
struct ProcessSet {
  const char* name;
  Group* (*make)(const Process& process);
};

Group* world_set(const Process& process) { return Group::strided(0, 1, static_cast<int>(process.job->ranks)); }
Group* self_set(const Process& process) { return Group::strided(process.job->rank, 1, 1); }
Group* node_set(const Process& process) {
  std::vector<PeerId> members;
  for (PeerId p = 0; p < process.job->ranks; ++p)
    if (process.node_of(p) == process.job->node) members.push_back(p);
  return Group::of(std::move(members));
}

constexpr ProcessSet kSets[] = {
    {"mpi://WORLD", world_set}, {"mpi://SELF", self_set}, {"ashlar://NODE", node_set}};  // the last: of this node

Status set_of(const char* name, const ProcessSet** found) {
  for (const ProcessSet& set : kSets) {
    if (strcasecmp(set.name, name) != 0) continue;
    *found = &set;
    return {};
  }
  return Status::fail(MPI_ERR_ARG, "argument pset_name is '%s', which is no process set of this job", name);
}

}  // namespace

bool in_sessions() { return open_sessions.load(std::memory_order_relaxed) > 0; }

Status session_init(Info* info, Errhandler& errhandler, Session** result) {
  int level = MPI_THREAD_SINGLE;
  ASHLAR_TRY(wanted_level(info, &level));
  if (errhandler.action == Errhandler::Action::kCall && errhandler.of != Kind::kSession)
    return Status::fail(MPI_ERR_ARG, "argument errhandler was not made for sessions");
  const std::lock_guard guard(life_mutex);
  const bool first = Process::current() == nullptr;
  ASHLAR_TRY(Process::start(level));
  Process& process = *Process::current();
  if (first) {
    static const bool registered = std::atexit(Process::leave_at_exit) == 0;
    (void)registered;
    process.launch->ops->initialized(process.launch);
  }
  Session* const session = pool.take();
  if (!session) return Status::fail(MPI_ERR_NO_MEM, "no memory for another session");
  session->errhandler = Ref<Errhandler>::share(errhandler);
  session->thread_level = level;
  std::snprintf(session->name, sizeof session->name, "%d", ++sessions_made);
  open_sessions.fetch_add(1);
  *result = session;
  return {};
}

Status session_finalize(Session** session) {
  const std::lock_guard guard(life_mutex);
  Process& process = *Process::current();
  process.settle();
  release(std::exchange(*session, nullptr));
  // The process stays a member of its job: another session may follow, and joining twice is not for every launcher.
  if (open_sessions.fetch_sub(1) == 1 && !process.world) process.rest();
  return {};
}

Status session_get_info(Session& session, Info** result) {
  ASHLAR_TRY(info::create(result));
  for (const auto& [name, value] : kLevels)
    if (value == session.thread_level) ASHLAR_TRY(info::set(*result, "thread_level", name));
  return info::set(*result, "mpi_memory_alloc_kinds", kMemoryKinds);
}

Status session_get_num_psets(Session&, Info*, int* count) {
  *count = static_cast<int>(std::size(kSets));
  return {};
}

Status session_get_nth_pset(Session&, Info*, int n, int* length, char* name) {
  if (n < 0 || n >= static_cast<int>(std::size(kSets)))
    return Status::fail(MPI_ERR_ARG, "argument n is %d, but there are process sets 0..%d", n,
                        static_cast<int>(std::size(kSets)) - 1);
  if (*length < 0) return Status::fail(MPI_ERR_ARG, "argument pset_len is %d; it must be 0 or more", *length);
  const std::size_t needed = std::strlen(kSets[n].name) + 1;
  if (*length > 0) {
    if (!name) return Status::fail(MPI_ERR_ARG, "argument pset_name is a null pointer");
    const std::size_t copied = std::min(needed, static_cast<std::size_t>(*length)) - 1;
    std::memcpy(name, kSets[n].name, copied);
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

Status group_from_session_pset(Session&, const char* name, Group** result) {
  const ProcessSet* set = nullptr;
  ASHLAR_TRY(set_of(name, &set));
  *result = set->make(*Process::current());
  return *result ? Status{} : Status::fail(MPI_ERR_NO_MEM, "no memory for another group");
}

}  // namespace runtime
}  // namespace ashlar
