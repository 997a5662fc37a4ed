#include "components/launch/pmix/client.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>

#include "components/launch/pmix/environment.h"

namespace ashlar::launch {
namespace {

// PMIx's macros for these two call functions that only some versions of the library have.
struct Value {
  pmix_value_t* value = nullptr;
  Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() {
    if (!value) return;
    if (value->type == PMIX_STRING) std::free(value->data.string);
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
  }
};

// The variables are named for the protocol's version; a launcher sets those it speaks.
const char* server_address() {
  for (const char* name : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2"})
    if (const char* address = std::getenv(name)) return address;
  return "which the environment does not name";
}

pmix_info_t flag(const char* key) {
  pmix_info_t info = {};
  std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  return info;
}

bool to_number(const pmix_value_t& value, std::uint32_t* to) {
  switch (value.type) {
    case PMIX_UINT32:
      *to = value.data.uint32;
      return true;
    case PMIX_UINT16:
      *to = value.data.uint16;
      return true;
    case PMIX_INT:
      *to = static_cast<std::uint32_t>(value.data.integer);
      return true;
    case PMIX_UINT:
      *to = value.data.uint;
      return true;
    case PMIX_INT32:
      *to = static_cast<std::uint32_t>(value.data.int32);
      return true;
    case PMIX_PROC_RANK:
      *to = value.data.rank;
      return true;
    case PMIX_SIZE:
      *to = static_cast<std::uint32_t>(value.data.size);
      return true;
    case PMIX_UINT64:
      *to = static_cast<std::uint32_t>(value.data.uint64);
      return true;
    default:
      return false;
  }
}

}  // namespace

PmixClient::Inbox& PmixClient::inbox() {
  static Inbox* const box = new Inbox;
  return *box;
}

ashlar_result PmixClient::fail_with_call(const char* call, pmix_status_t status) const {
  const ashlar_fact failed[] = {{.name = "call", .text = call, .number = 0},
                                {.name = "lower", .text = pmix_.error_string(status), .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmix.call", failed, std::size(failed));
}

bool PmixClient::job_number(const char* key, std::uint32_t* to) { return rank_number(PMIX_RANK_WILDCARD, key, to); }

bool PmixClient::rank_number(std::uint32_t rank, const char* key, std::uint32_t* to) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, me_.nspace, rank);
  Value got;
  return pmix_.get(&proc, key, nullptr, 0, &got.value) == PMIX_SUCCESS && got.value && to_number(*got.value, to);
}

std::string PmixClient::job_text(const char* key) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, me_.nspace, PMIX_RANK_WILDCARD);
  Value got;
  if (pmix_.get(&proc, key, nullptr, 0, &got.value) != PMIX_SUCCESS || !got.value) return {};
  if (got.value->type != PMIX_STRING || !got.value->data.string) return {};
  return got.value->data.string;
}

ashlar_result PmixClient::connect(const char* library) {
  if (const ashlar_result loaded = pmix_.load(host_, library); loaded != ASHLAR_OK) return loaded;
  pmix_status_t rc = PMIX_SUCCESS;
  {
    const EnvironmentKept kept;
    rc = pmix_.init(&me_, nullptr, 0);
  }
  if (rc != PMIX_SUCCESS) {
    const char* const spoken = std::getenv("PMIX_VERSION");
    const ashlar_fact server[] = {{.name = "library", .text = pmix_.version(), .number = 0},
                                  {.name = "lower", .text = pmix_.error_string(rc), .number = 0},
                                  {.name = "server", .text = server_address(), .number = 0},
                                  {.name = "version", .text = spoken ? spoken : "an unknown version", .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmix.server", server, std::size(server));
  }
  job_.size = sizeof job_;
  std::snprintf(job_.job_id, sizeof job_.job_id, "%s", me_.nspace);
  job_.rank = me_.rank;
  if (!job_number(PMIX_JOB_SIZE, &job_.ranks) || job_.rank >= job_.ranks) {
    const ashlar_fact job = {.name = "job", .text = me_.nspace, .number = 0};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmix.job_size", &job, 1);
  }
  if (const ashlar_result found = find_places(); found != ASHLAR_OK) return found;
  rank_number(me_.rank, PMIX_APPNUM, &job_.appnum);
  job_number(PMIX_UNIV_SIZE, &job_.universe_size);
  job_.shared_fd = -1;

  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  job_.oversubscribed = processors > 0 && job_.local_size > static_cast<std::uint32_t>(processors);
  job_.outlives_ranks = 1;  // the launcher does not say
  std::string name = job_text(PMIX_RM_NAME);
  if (name.empty()) name = std::getenv("SLURM_STEP_ID") ? "Slurm" : "a launcher";
  launcher_ = name + " through PMIx, job " + me_.nspace;
  job_.launcher = launcher_.c_str();
  job_.placement = "";
  // Every rank computes the same number from what all of them know; the job's identity is as hard to guess as the
  // launcher makes it.
  job_.cookie = 1469598103934665603u;
  for (const char* c = job_.job_id; *c; ++c)
    job_.cookie = (job_.cookie ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  watch_peers();
  return ASHLAR_OK;
}

ashlar_result PmixClient::find_places() {
  // "0,1,5": the ranks of this node.
  const std::string peers = job_text(PMIX_LOCAL_PEERS);
  for (const char* at = peers.c_str(); *at;) {
    char* end = nullptr;
    const unsigned long rank = std::strtoul(at, &end, 10);
    if (end == at || rank >= job_.ranks) break;
    local_peers_.push_back(static_cast<std::uint32_t>(rank));
    at = *end == ',' ? end + 1 : end;
  }
  std::sort(local_peers_.begin(), local_peers_.end());
  const auto mine = std::find(local_peers_.begin(), local_peers_.end(), job_.rank);
  if (mine == local_peers_.end()) {
    const ashlar_fact answer[] = {{.name = "key", .text = PMIX_LOCAL_PEERS, .number = 0},
                                  {.name = "value", .text = peers.c_str(), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmix.local_peers", answer, std::size(answer));
  }
  job_.local_rank = static_cast<std::uint32_t>(mine - local_peers_.begin());
  job_.local_size = static_cast<std::uint32_t>(local_peers_.size());
  job_.local_peers = local_peers_.data();
  all_local_ = job_.local_size == job_.ranks;
  job_.nodes = 1;
  if (all_local_) return ASHLAR_OK;
  job_number(PMIX_NUM_NODES, &job_.nodes);
  node_of_rank_.resize(job_.ranks);
  bool numbered = true;
  for (std::uint32_t r = 0; r < job_.ranks && numbered; ++r) numbered = rank_number(r, PMIX_NODEID, &node_of_rank_[r]);
  if (!numbered)
    if (const ashlar_result done = number_hosts(); done != ASHLAR_OK) return done;
  job_.node = node_of_rank_[job_.rank];
  job_.node_of_rank = node_of_rank_.data();
  return ASHLAR_OK;
}

// Slurm's server numbers the nodes of its own ranks alone, but names the host of every rank. All ranks of the job count
// hosts in the order of their first ranks, and find the same numbers.
ashlar_result PmixClient::number_hosts() {
  std::map<std::string, std::uint32_t> nodes;
  for (std::uint32_t r = 0; r < job_.ranks; ++r) {
    const char* const name = host_of(r);
    if (name == nullptr) {
      const ashlar_fact rank = {.name = "rank", .text = nullptr, .number = r};
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmix.node", &rank, 1);
    }
    node_of_rank_[r] = nodes.try_emplace(name, static_cast<std::uint32_t>(nodes.size())).first->second;
  }
  job_.nodes = static_cast<std::uint32_t>(nodes.size());
  return ASHLAR_OK;
}

void PmixClient::watch_peers() {
  pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_TERM_WO_SYNC,
                           PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_KILLED_BY_CMD};
  // Not waited for: a launcher without events answers late or never.
  pmix_.register_events(codes, sizeof codes / sizeof codes[0], nullptr, 0, event, event_registered, nullptr);
}

void PmixClient::event_registered(pmix_status_t, std::size_t, void*) {}

void PmixClient::event(std::size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                       std::size_t infos, pmix_info_t[], std::size_t, pmix_event_notification_cbfunc_fn_t done,
                       void* context) {
  std::uint32_t rank = source ? source->rank : PMIX_RANK_UNDEF;
  for (std::size_t i = 0; i < infos; ++i)
    if (std::strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 && info[i].value.type == PMIX_PROC &&
        info[i].value.data.proc)
      rank = info[i].value.data.proc->rank;
  {
    Inbox& box = inbox();
    const std::lock_guard<std::mutex> lock(box.mutex);
    box.failed.emplace_back(rank, status);
    box.changed.notify_all();
  }
  if (done) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

ashlar_result PmixClient::put(const char* key, const void* blob, std::size_t bytes) {
  if (std::strlen(key) > PMIX_MAX_KEYLEN) {
    const ashlar_fact longest[] = {{.name = "key", .text = key, .number = 0},
                                   {.name = "last", .text = nullptr, .number = PMIX_MAX_KEYLEN}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_ARG, "pmix.long_key", longest, std::size(longest));
  }
  pmix_value_t value = {};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = static_cast<char*>(const_cast<void*>(blob));
  value.data.bo.size = bytes;
  const pmix_status_t rc = pmix_.put(PMIX_GLOBAL, key, &value);
  return rc == PMIX_SUCCESS ? ASHLAR_OK : fail_with_call((std::string("PMIx_Put of ") + key).c_str(), rc);
}

void PmixClient::fence_answered(pmix_status_t status, void*) {
  Inbox& box = inbox();
  const std::lock_guard<std::mutex> lock(box.mutex);
  box.fence_answered = true;
  box.fence_status = status;
  box.changed.notify_all();
}

ashlar_result PmixClient::fence(bool collect, std::int64_t timeout_ms) {
  Inbox& box = inbox();
  // Otherwise an earlier call timed out. Its fence is still on its way, or was answered between the calls: another
  // would wait for ranks that have left.
  if (!in_fence_) {
    {
      const std::lock_guard<std::mutex> lock(box.mutex);
      box.fence_answered = false;
    }
    ++fence_number_;
    pmix_status_t rc = collect ? pmix_.commit() : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS) {
      const pmix_info_t info = flag(PMIX_COLLECT_DATA);
      rc = pmix_.fence_nb(nullptr, 0, collect ? &info : nullptr, collect ? 1 : 0, fence_answered, nullptr);
    }
    if (rc == PMIX_OPERATION_SUCCEEDED) return ASHLAR_OK;
    if (rc != PMIX_SUCCESS) return fail_with_call("PMIx_Fence", rc);
    in_fence_ = true;
  }
  std::unique_lock<std::mutex> lock(box.mutex);
  auto ready = [&box] { return box.fence_answered || !box.failed.empty(); };
  if (timeout_ms < 0) {
    box.changed.wait(lock, ready);
  } else if (!box.changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
    late_ms_ = timeout_ms;
    return ASHLAR_LAUNCH_TIMED_OUT;
  }
  if (!box.fence_answered) {
    const auto& [rank, status] = box.failed.front();
    const ashlar_fact failed[] = {{.name = "ranks", .text = nullptr, .number = job_.ranks},
                                  {.name = "rank", .text = nullptr, .number = rank},
                                  {.name = "lower", .text = pmix_.error_string(status), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_PROC_ABORTED, "pmix.fence_failed", failed, std::size(failed));
  }
  in_fence_ = false;
  // Servers answer so when a rank has ended in front of the fence while others were in it. Those that are left have
  // met, which is all that a fence without data is for; the rank that has ended is told by its event.
  if (box.fence_status == PMIX_ERR_PARTIAL_SUCCESS && !collect) return ASHLAR_OK;
  return box.fence_status == PMIX_SUCCESS ? ASHLAR_OK : fail_with_call("PMIx_Fence", box.fence_status);
}

ashlar_result PmixClient::report_timeout() const {
  char seconds[24];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(late_ms_) / 1000.0);
  const ashlar_fact late[] = {{.name = "seconds", .text = seconds, .number = 0},
                              {.name = "ranks", .text = nullptr, .number = job_.ranks},
                              {.name = "job", .text = job_.job_id, .number = 0},
                              {.name = "fence", .text = nullptr, .number = static_cast<std::int64_t>(fence_number_)}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmix.fence_late", late, std::size(late));
}

ashlar_result PmixClient::get(std::uint32_t rank, const char* key, void* buffer, std::size_t* bytes) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, me_.nspace, rank);
  // Without this a missing key would be waited for: the server hopes that the rank will still publish it.
  const pmix_info_t info = flag(PMIX_IMMEDIATE);
  Value got;
  const pmix_status_t rc = pmix_.get(&proc, key, &info, 1, &got.value);
  if (rc == PMIX_ERR_NOT_FOUND) return ASHLAR_LAUNCH_NOT_FOUND;
  if (rc != PMIX_SUCCESS || !got.value || got.value->type != PMIX_BYTE_OBJECT) {
    const std::string call = std::string("PMIx_Get of ") + key + " of rank " + std::to_string(rank);
    return fail_with_call(call.c_str(), rc == PMIX_SUCCESS ? PMIX_ERR_TYPE_MISMATCH : rc);
  }
  return ashlar_launch_copy(&host_, rank, key, got.value->data.bo.bytes, got.value->data.bo.size, buffer, bytes);
}

const char* PmixClient::host_of(std::uint32_t rank) {
  if (rank >= job_.ranks) return nullptr;
  hosts_.resize(job_.ranks);
  if (hosts_[rank].empty()) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, me_.nspace, rank);
    Value got;
    if (pmix_.get(&proc, PMIX_HOSTNAME, nullptr, 0, &got.value) == PMIX_SUCCESS && got.value &&
        got.value->type == PMIX_STRING && got.value->data.string)
      hosts_[rank] = got.value->data.string;
  }
  return hosts_[rank].empty() ? nullptr : hosts_[rank].c_str();
}

void PmixClient::on_peer_failure(ashlar_launch_peer_failed* listener, void* context) {
  listener_ = listener;
  listener_context_ = context;
}

void PmixClient::poll() {
  Inbox& box = inbox();
  std::vector<std::pair<std::uint32_t, pmix_status_t>> news;
  {
    const std::lock_guard<std::mutex> lock(box.mutex);
    if (box.failed.empty()) [[likely]]
      return;
    news.swap(box.failed);
  }
  for (const auto& [rank, status] : news)
    if (listener_) listener_(listener_context_, rank, pmix_.error_string(status));
}

void PmixClient::abort(int code, const char* text) { pmix_.abort(code, text ? text : "", nullptr, 0); }

ashlar_result PmixClient::finalize() {
  const pmix_status_t rc = pmix_.finalize(nullptr, 0);
  return rc == PMIX_SUCCESS ? ASHLAR_OK : fail_with_call("PMIx_Finalize", rc);
}

}  // namespace ashlar::launch
