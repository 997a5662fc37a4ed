#include "components/launch/pmix/client.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

ashlar_launch_result PmixClient::fail(ashlar_launch_result result, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(why_, sizeof why_, format, arguments);
  va_end(arguments);
  return result;
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

ashlar_launch_result PmixClient::connect(const char* library) {
  if (!pmix_.load(library, why_, sizeof why_)) return ASHLAR_LAUNCH_FAILED;
  const pmix_status_t rc = pmix_.init(&me_, nullptr, 0);
  if (rc != PMIX_SUCCESS)
    return fail(ASHLAR_LAUNCH_FAILED,
                "PMIx_Init (%.60s) failed with %s: the launcher's server, %.80s, speaks %.30s and could not be reached",
                pmix_.version(), pmix_.error_string(rc), server_address(),
                std::getenv("PMIX_VERSION") ? std::getenv("PMIX_VERSION") : "an unknown version");
  job_.size = sizeof job_;
  std::snprintf(job_.job_id, sizeof job_.job_id, "%s", me_.nspace);
  job_.rank = me_.rank;
  if (!job_number(PMIX_JOB_SIZE, &job_.ranks) || job_.rank >= job_.ranks)
    return fail(ASHLAR_LAUNCH_FAILED, "the launcher does not say how many ranks job %s has", me_.nspace);
  if (!find_places()) return ASHLAR_LAUNCH_FAILED;
  rank_number(me_.rank, PMIX_APPNUM, &job_.appnum);
  job_number(PMIX_UNIV_SIZE, &job_.universe_size);
  job_.shared_fd = -1;

  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  job_.oversubscribed = processors > 0 && job_.local_size > static_cast<std::uint32_t>(processors);
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
  return ASHLAR_LAUNCH_OK;
}

bool PmixClient::find_places() {
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
    fail(ASHLAR_LAUNCH_FAILED, "the launcher does not say which ranks share this node (%s is \"%.200s\")",
         PMIX_LOCAL_PEERS, peers.c_str());
    return false;
  }
  job_.local_rank = static_cast<std::uint32_t>(mine - local_peers_.begin());
  job_.local_size = static_cast<std::uint32_t>(local_peers_.size());
  job_.local_peers = local_peers_.data();
  all_local_ = job_.local_size == job_.ranks;
  job_.nodes = 1;
  if (all_local_) return true;
  job_number(PMIX_NUM_NODES, &job_.nodes);
  node_of_rank_.resize(job_.ranks);
  for (std::uint32_t r = 0; r < job_.ranks; ++r)
    if (!rank_number(r, PMIX_NODEID, &node_of_rank_[r])) {
      fail(ASHLAR_LAUNCH_FAILED, "the launcher does not say on which node rank %u runs", r);
      return false;
    }
  job_.node = node_of_rank_[job_.rank];
  job_.node_of_rank = node_of_rank_.data();
  return true;
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

ashlar_launch_result PmixClient::put(const char* key, const void* blob, std::size_t bytes) {
  if (std::strlen(key) > PMIX_MAX_KEYLEN)
    return fail(ASHLAR_LAUNCH_FAILED, "key %s is longer than PMIx allows (%d)", key, PMIX_MAX_KEYLEN);
  pmix_value_t value = {};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = static_cast<char*>(const_cast<void*>(blob));
  value.data.bo.size = bytes;
  const pmix_status_t rc = pmix_.put(PMIX_GLOBAL, key, &value);
  if (rc != PMIX_SUCCESS) return fail(ASHLAR_LAUNCH_FAILED, "PMIx_Put of %s: %s", key, pmix_.error_string(rc));
  return ASHLAR_LAUNCH_OK;
}

void PmixClient::fence_answered(pmix_status_t status, void*) {
  Inbox& box = inbox();
  const std::lock_guard<std::mutex> lock(box.mutex);
  box.fence_done = true;
  box.fence_status = status;
  box.changed.notify_all();
}

ashlar_launch_result PmixClient::fence(bool collect, std::int64_t timeout_ms) {
  Inbox& box = inbox();
  std::unique_lock<std::mutex> lock(box.mutex);
  if (box.fence_done) {  // otherwise an earlier call timed out, and the same fence is still on its way
    box.fence_done = false;
    ++fence_number_;
    lock.unlock();
    pmix_status_t rc = collect ? pmix_.commit() : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS) {
      const pmix_info_t info = flag(PMIX_COLLECT_DATA);
      rc = pmix_.fence_nb(nullptr, 0, collect ? &info : nullptr, collect ? 1 : 0, fence_answered, nullptr);
    }
    lock.lock();
    if (rc == PMIX_OPERATION_SUCCEEDED) box.fence_done = true;
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
      box.fence_done = true;
      return fail(ASHLAR_LAUNCH_FAILED, "PMIx_Fence: %s", pmix_.error_string(rc));
    }
    if (rc == PMIX_OPERATION_SUCCEEDED) return ASHLAR_LAUNCH_OK;
  }
  auto ready = [&box] { return box.fence_done || !box.failed.empty(); };
  if (timeout_ms < 0)
    box.changed.wait(lock, ready);
  else if (!box.changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready))
    return fail(ASHLAR_LAUNCH_TIMED_OUT,
                "after %.1f s not all %u ranks of job %s had reached the same point (number %llu of this rank); PMIx "
                "does not say which are missing",
                static_cast<double>(timeout_ms) / 1000.0, job_.ranks, job_.job_id,
                static_cast<unsigned long long>(fence_number_));
  if (!box.fence_done)
    return fail(ASHLAR_LAUNCH_PEER_FAILED, "all %u ranks must take part, but rank %u has failed: %s", job_.ranks,
                box.failed.front().first, pmix_.error_string(box.failed.front().second));
  // Servers answer so to the last client when others, answered earlier, have disconnected by then. All were there,
  // which is all that a fence without data is for; failed ranks are reported in another way.
  if (box.fence_status == PMIX_ERR_PARTIAL_SUCCESS && !collect) return ASHLAR_LAUNCH_OK;
  if (box.fence_status != PMIX_SUCCESS)
    return fail(ASHLAR_LAUNCH_FAILED, "PMIx_Fence: %s", pmix_.error_string(box.fence_status));
  return ASHLAR_LAUNCH_OK;
}

ashlar_launch_result PmixClient::get(std::uint32_t rank, const char* key, void* buffer, std::size_t* bytes) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, me_.nspace, rank);
  // Without this a missing key would be waited for: the server hopes that the rank will still publish it.
  const pmix_info_t info = flag(PMIX_IMMEDIATE);
  Value got;
  const pmix_status_t rc = pmix_.get(&proc, key, &info, 1, &got.value);
  if (rc == PMIX_ERR_NOT_FOUND) return fail(ASHLAR_LAUNCH_NOT_FOUND, "rank %u published no %s", rank, key);
  if (rc != PMIX_SUCCESS || !got.value || got.value->type != PMIX_BYTE_OBJECT)
    return fail(ASHLAR_LAUNCH_FAILED, "PMIx_Get of %s of rank %u: %s", key, rank, pmix_.error_string(rc));
  const std::size_t room = *bytes;
  *bytes = got.value->data.bo.size;
  if (*bytes > room) return fail(ASHLAR_LAUNCH_TOO_SMALL, "%s of rank %u has %zu bytes", key, rank, *bytes);
  if (*bytes) std::memcpy(buffer, got.value->data.bo.bytes, *bytes);
  return ASHLAR_LAUNCH_OK;
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

ashlar_launch_result PmixClient::finalize() {
  const pmix_status_t rc = pmix_.finalize(nullptr, 0);
  if (rc == PMIX_SUCCESS) return ASHLAR_LAUNCH_OK;
  return fail(ASHLAR_LAUNCH_FAILED, "PMIx_Finalize: %s", pmix_.error_string(rc));
}

}  // namespace ashlar::launch
