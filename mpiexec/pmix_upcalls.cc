// Fences, and what is published: what concerns all servers. Events, jobs and queries are in pmix_requests.cc.
#include "mpiexec/pmix_upcalls.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "framework/plugin/launch_board.h"
#include "mpiexec/pmix_job_info.h"
#include "mpiexec/pmix_requests.h"
#include "mpiexec/pmix_values.h"

namespace ashlar::mpiexec {
namespace {

PmixUpcalls* g_upcalls = nullptr;

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t, void*) {
  g_upcalls->tell([proc](PmixListener& listener) { listener.connected(proc->rank); });
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  g_upcalls->tell([proc](PmixListener& listener) { listener.finalized(proc->rank); });
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t client_aborted(const pmix_proc_t* proc, void*, int status, const char message[], pmix_proc_t*, size_t,
                             pmix_op_cbfunc_t, void*) {
  g_upcalls->tell([&](PmixListener& listener) { listener.aborted(proc->rank, status, message); });
  return PMIX_OPERATION_SUCCEEDED;
}

/// Gives an answer's data to libpmix, which keeps them for a while.
void give(pmix_modex_cbfunc_t done, void* context, pmix_status_t status, const std::string& data) {
  char* copy = data.empty() ? nullptr : static_cast<char*>(std::malloc(data.size()));
  if (copy) data.copy(copy, data.size());
  done(status, copy, copy ? data.size() : 0, context, std::free, copy);
}

/// The participants that are here have all come.
PmixMessage join_of(char what, const pmix_proc_t* procs, size_t count, const pmix_info_t* info, size_t infos) {
  PmixMessage message;
  message.word = PmixWord::kJoin;
  message.what = what;
  message.processes = processes_of(procs, count);
  std::sort(message.processes.begin(), message.processes.end());
  // One that was to come and has died is missing.
  if (number_of(info, infos, PMIX_LOCAL_COLLECTIVE_STATUS, 0) != 0) message.outcome = PmixOutcome::kPartial;
  return message;
}

pmix_status_t fence(const pmix_proc_t* procs, size_t count, const pmix_info_t* info, size_t infos, char* data,
                    size_t bytes, pmix_modex_cbfunc_t done, void* context) {
  if (g_upcalls->is_all_here(procs, count)) {
    // What the library has collected is the whole answer.
    if (done) done(PMIX_SUCCESS, data, bytes, context, std::free, data);
    return PMIX_SUCCESS;
  }
  PmixMessage message = join_of('f', procs, count, info, infos);
  message.data.assign(data ? data : "", data ? bytes : 0);
  std::free(data);
  const bool asked = g_upcalls->link().ask(std::move(message), [done, context](PmixMessage& answer) {
    if (done) give(done, context, status_of(answer.outcome), answer.data);
  });
  return asked ? PMIX_SUCCESS : PMIX_ERR_UNREACH;
}

pmix_status_t direct_modex(const pmix_proc_t* proc, const pmix_info_t*, size_t, pmix_modex_cbfunc_t done,
                           void* context) {
  return g_upcalls->fetch(*proc, done, context);
}

pmix_status_t meet(char what, const pmix_proc_t* procs, size_t count, const pmix_info_t* info, size_t infos,
                   pmix_op_cbfunc_t done, void* context) {
  if (g_upcalls->is_all_here(procs, count)) return PMIX_OPERATION_SUCCEEDED;
  const bool asked =
      g_upcalls->link().ask(join_of(what, procs, count, info, infos), [done, context](PmixMessage& answer) {
        if (done) done(status_of(answer.outcome), context);
      });
  return asked ? PMIX_SUCCESS : PMIX_ERR_UNREACH;
}
pmix_status_t connect_ranks(const pmix_proc_t* procs, size_t count, const pmix_info_t* info, size_t infos,
                            pmix_op_cbfunc_t done, void* context) {
  return meet('c', procs, count, info, infos, done, context);
}
pmix_status_t disconnect_ranks(const pmix_proc_t* procs, size_t count, const pmix_info_t* info, size_t infos,
                               pmix_op_cbfunc_t done, void* context) {
  return meet('d', procs, count, info, infos, done, context);
}

/// Where it may be seen, and for how long: no data of the program.
bool is_directive(const pmix_info_t& info) { return std::strncmp(info.key, "pmix.", 5) == 0; }

pmix_status_t ask_for_status(PmixMessage message, pmix_op_cbfunc_t done, void* context) {
  // libpmix answers its client in the thread in which it is told, and that has to be its own.
  const bool asked = g_upcalls->link().ask(std::move(message), [done, context](PmixMessage& answer) {
    run_inside([done, context, status = status_of(answer.outcome)] { done(status, context); });
  });
  return asked ? PMIX_SUCCESS : PMIX_ERR_UNREACH;
}

pmix_status_t publish(const pmix_proc_t* proc, const pmix_info_t* info, size_t infos, pmix_op_cbfunc_t done,
                      void* context) {
  PmixMessage message;
  message.word = PmixWord::kPublish;
  message.process = process_of(*proc);
  const std::uint32_t range = number_of(info, infos, PMIX_RANGE, PMIX_RANGE_SESSION);
  message.here_only = range == PMIX_RANGE_LOCAL || range == PMIX_RANGE_PROC_LOCAL;
  const std::uint32_t kept = number_of(info, infos, PMIX_PERSISTENCE, PMIX_PERSIST_SESSION);
  message.once = kept == PMIX_PERSIST_FIRST_READ;
  message.with_owner = kept == PMIX_PERSIST_PROC;
  for (size_t i = 0; i < infos; ++i)
    if (!is_directive(info[i]))
      message.values.push_back({.key = info[i].key, .value = bytes_of(&info[i], 1), .owner = {}});
  return ask_for_status(std::move(message), done, context);
}

void add_keys(char** keys, PmixMessage* message) {
  for (; keys && *keys; ++keys) message->values.push_back({.key = *keys, .value = {}, .owner = {}});
}

pmix_status_t unpublish(const pmix_proc_t* proc, char** keys, const pmix_info_t*, size_t, pmix_op_cbfunc_t done,
                        void* context) {
  PmixMessage message;
  message.word = PmixWord::kWithdraw;
  message.process = process_of(*proc);
  add_keys(keys, &message);
  return ask_for_status(std::move(message), done, context);
}

/// Owns what libpmix is shown.
struct Found {
  std::vector<pmix_pdata_t> data;
  std::vector<pmix_info_t*> infos;
  Found() = default;
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() {
    for (pmix_info_t* info : infos) PMIX_INFO_FREE(info, 1);
  }
};

void found(const PmixMessage& answer, pmix_lookup_cbfunc_t done, void* context) {
  Found found;
  for (const PmixMessage::Value& value : answer.values) {
    pmix_info_t* info = nullptr;
    if (!infos_of(value.value, 1, &info)) continue;
    found.infos.push_back(info);
    pmix_pdata_t& data = found.data.emplace_back();
    data.proc = proc_of(value.owner);
    PMIX_LOAD_KEY(data.key, value.key.c_str());
    data.value = info->value;
  }
  done(status_of(answer.outcome), found.data.data(), found.data.size(), context);
}

pmix_status_t look_up(const pmix_proc_t* proc, char** keys, const pmix_info_t* info, size_t infos,
                      pmix_lookup_cbfunc_t done, void* context) {
  PmixMessage message;
  message.word = PmixWord::kLookUp;
  message.process = process_of(*proc);
  add_keys(keys, &message);
  // PMIX_WAIT: how many; 0: all.
  const auto all = static_cast<std::uint32_t>(message.values.size());
  if (find(info, infos, PMIX_WAIT)) {
    message.count = number_of(info, infos, PMIX_WAIT, 0);
    if (message.count == 0 || message.count > all) message.count = all;
  }
  message.seconds = number_of(info, infos, PMIX_TIMEOUT, 0);
  const bool asked = g_upcalls->link().ask(std::move(message), [done, context](PmixMessage& answer) {
    run_inside([answer = std::move(answer), done, context] { found(answer, done, context); });
  });
  return asked ? PMIX_SUCCESS : PMIX_ERR_UNREACH;
}

}  // namespace

void run_inside(std::function<void()> what) {
  // The first call of libpmix that does nothing with a name that is none, and calls back from its own thread.
  pmix_proc_t nobody;
  PMIX_LOAD_PROCID(&nobody, "-", 0);
  PMIx_server_deregister_client(
      &nobody,
      [](pmix_status_t, void* self) {
        auto* const run = static_cast<std::function<void()>*>(self);
        (*run)();
        delete run;
      },
      new std::function<void()>(std::move(what)));
}

bool PmixUpcalls::is_all_here(const pmix_proc_t* procs, std::size_t count) const {
  const auto is_here = [this](std::uint32_t node) { return node == facts_.node; };
  for (std::size_t i = 0; i < count; ++i) {
    if (facts_.job_id != procs[i].nspace) return false;
    if (procs[i].rank == PMIX_RANK_WILDCARD) {
      if (!std::all_of(facts_.node_of_rank.begin(), facts_.node_of_rank.end(), is_here)) return false;
    } else if (procs[i].rank >= facts_.node_of_rank.size() || !is_here(facts_.node_of_rank[procs[i].rank])) {
      return false;
    }
  }
  return true;
}

/// libpmix has to be told of another job before the first answer about it: it would take what it has then for all that
/// there is, and a second client that asks would wait for ever. Once it is told, it asks all its questions again.
pmix_status_t PmixUpcalls::fetch(const pmix_proc_t& proc, pmix_modex_cbfunc_t done, void* context) {
  PmixMessage message;
  message.word = PmixWord::kFetch;
  message.process = process_of(proc);
  const std::string space = proc.nspace;
  if (space != facts_.job_id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool known = known_.contains(space);
    if (known && proc.rank == PMIX_RANK_WILDCARD) {
      done(PMIX_SUCCESS, nullptr, 0, context, nullptr, nullptr);  // it has it
      return PMIX_SUCCESS;
    }
    if (!known) {
      std::vector<std::pair<pmix_modex_cbfunc_t, void*>>& held = held_[space];
      held.emplace_back(done, context);
      if (held.size() > 1) return PMIX_SUCCESS;
      message.process.rank = kWholeJob;
      const bool asked = link_.ask(std::move(message), [this, space](PmixMessage& answer) { job_told(space, answer); });
      if (!asked) held_.erase(space);
      return asked ? PMIX_SUCCESS : PMIX_ERR_UNREACH;
    }
  }
  const bool asked = link_.ask(std::move(message), [done, context](PmixMessage& answer) {
    const pmix_status_t status = answer.outcome == PmixOutcome::kDone ? answer.status : status_of(answer.outcome);
    give(done, context, status, answer.data);
  });
  return asked ? PMIX_SUCCESS : PMIX_ERR_UNREACH;
}

void PmixUpcalls::job_told(const std::string& space, const PmixMessage& answer) {
  PmixFacts facts;
  const bool told = answer.outcome == PmixOutcome::kDone && Unpacker(answer.data)(facts).done() &&
                    facts.job_id == space && facts.appnum_of_rank.size() == facts.node_of_rank.size() &&
                    std::all_of(facts.node_of_rank.begin(), facts.node_of_rank.end(),
                                [&facts](std::uint32_t node) { return node < facts.hosts.size(); });
  std::vector<std::pair<pmix_modex_cbfunc_t, void*>> held;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    held = std::exchange(held_[space], {});
    held_.erase(space);
    if (told) known_.insert(space);
  }
  facts.node = launch::kNoNode;
  if (told && register_job(facts) == PMIX_SUCCESS) return;
  for (const auto& [done, context] : held) done(PMIX_ERR_NOT_FOUND, nullptr, 0, context, nullptr, nullptr);
}

PmixUpcalls& PmixUpcalls::current() { return *g_upcalls; }

bool PmixUpcalls::open() {
  if (!link_.open(listener_, [this](PmixMessage& message) { news(message); })) return false;
  PmixMessage hello;
  hello.word = PmixWord::kHello;
  hello.count = static_cast<std::uint32_t>(facts_.node_of_rank.size());
  for (std::uint32_t r = 0; r < hello.count; ++r)
    if (facts_.node_of_rank[r] == facts_.node) hello.processes.push_back({.space = facts_.job_id, .rank = r});
  link_.tell(hello);
  return true;
}

void PmixUpcalls::leave() {
  link_.close();
  const std::lock_guard<std::mutex> lock(mutex_);
  listener_ = nullptr;
}

void PmixUpcalls::fill(pmix_server_module_t* module) {
  g_upcalls = this;
  module->client_connected2 = client_connected;
  module->client_finalized = client_finalized;
  module->abort = client_aborted;
  module->fence_nb = fence;
  module->direct_modex = direct_modex;
  module->connect = connect_ranks;
  module->disconnect = disconnect_ranks;
  module->publish = publish;
  module->lookup = look_up;
  module->unpublish = unpublish;
  fill_requests(module);
}

void PmixUpcalls::news(PmixMessage& message) {
  if (message.word == PmixWord::kWanted) return wanted(message);
  if (message.word == PmixWord::kTold) tell_clients(message);
}

/// Another server's client wants what a rank of this host has published. libpmix answers once it has.
void PmixUpcalls::wanted(const PmixMessage& message) {
  if (message.process.rank == kWholeJob) {
    PmixMessage answer;
    answer.word = PmixWord::kFetched;
    answer.number = message.number;
    answer.data = packed(facts_);
    return link_.tell(answer);
  }
  bool too_late = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_[message.number] = message.process.rank;
    too_late = ended_.contains(message.process.rank);
  }
  const pmix_proc_t proc = proc_of(message.process);
  const pmix_status_t rc = PMIx_server_dmodex_request(
      &proc,
      [](pmix_status_t status, char* data, size_t bytes, void* number) {
        g_upcalls->fetched(reinterpret_cast<std::uintptr_t>(number), status, data, bytes);
      },
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(message.number)));
  if (rc != PMIX_SUCCESS)
    fetched(message.number, rc, nullptr, 0);
  else if (too_late)
    run_inside([this, number = message.number] { nothing_came(number); });
}

void PmixUpcalls::nothing_came(std::uint64_t number) { fetched(number, PMIX_ERR_NOT_FOUND, nullptr, 0); }

void PmixUpcalls::fetched(std::uint64_t number, pmix_status_t status, const char* data, std::size_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (open_.erase(number) == 0) return;
  }
  PmixMessage message;
  message.word = PmixWord::kFetched;
  message.number = number;
  message.status = status;
  message.data.assign(data ? data : "", data ? bytes : 0);
  link_.tell(message);
}

void PmixUpcalls::ended(unsigned rank) {
  std::vector<std::uint64_t> waiting;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_.insert(rank);
    for (const auto& [number, of] : open_)
      if (of == rank) waiting.push_back(number);
  }
  for (const std::uint64_t number : waiting) run_inside([this, number] { nothing_came(number); });
  PmixMessage message;
  message.word = PmixWord::kEnded;
  message.process = {.space = facts_.job_id, .rank = rank};
  link_.tell(message);
}

}  // namespace ashlar::mpiexec
