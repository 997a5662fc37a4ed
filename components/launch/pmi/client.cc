#include "components/launch/pmi/client.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "components/launch/pmi/node_map.h"
#include "framework/base/clock.h"
#include "framework/base/ip_interfaces.h"

namespace ashlar::launch {
namespace {

// Keys of our own, beside those that the library publishes.
constexpr char kCard[] = "pmi.card", kSecret[] = "pmi.secret";

// What a rank says of where it runs.
struct Card {
  std::uint64_t node;
  char host[256];
};
// Drawn by rank 0: nothing that the launcher says of a job is hard to guess, and its name may come again.
struct Secret {
  std::uint64_t cookie, job;
};

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// How long to sleep until the next look at a fence that another thread's question may have ended.
constexpr std::uint64_t kNap = 20'000'000;

}  // namespace

ashlar_result PmiClient::connect() {
  PmiTrace trace;
  char reason[200];
  // query() has seen the same; the environment may have changed since.
  if (!read_trace(&trace, reason, sizeof reason)) {
    const ashlar_fact why = {.name = "lower", .text = reason, .number = 0};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.trace", &why, 1);
  }
  // The processes that spawned this one wait for its answer in a protocol of their own library.
  if (trace.spawned) return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.spawned", nullptr, 0);
  const ashlar_result met = trace.fd >= 0 ? channel_.adopt(trace.fd) : channel_.connect(trace.address);
  if (met != ASHLAR_OK) return met;
  if (const ashlar_result found = find_dialect(trace); found != ASHLAR_OK) return found;
  if (const ashlar_result told = wire_->describe(&facts_); told != ASHLAR_OK) return told;
  values_ = std::make_unique<KeyValues>(host_, *wire_, facts_.longest_key, facts_.longest_value);
  job_.size = sizeof job_;
  job_.rank = facts_.rank;
  job_.ranks = facts_.ranks;
  if (const ashlar_result exchanged = meet(); exchanged != ASHLAR_OK) return exchanged;
  if (const ashlar_result placed = find_places(); placed != ASHLAR_OK) return placed;
  describe();
  return ASHLAR_OK;
}

ashlar_result PmiClient::find_dialect(const PmiTrace& trace) {
  // Slurm names its job; all others speak PMI-1 at least as well.
  const bool two_first = dialect_ == Dialect::kTwo || (dialect_ == Dialect::kAuto && !trace.job.empty());
  for (const bool two : {two_first, !two_first}) {
    bool spoken = false;
    wire_ = two ? make_pmi2(channel_) : make_pmi1(channel_);
    if (const ashlar_result met = wire_->greet(trace, &facts_, &spoken); met != ASHLAR_OK || spoken) return met;
    if (dialect_ != Dialect::kAuto) break;
  }
  const char* const refused = dialect_ == Dialect::kAuto ? "PMI-1 and PMI-2" : wire_->name();
  const ashlar_fact asked = {.name = "version", .text = refused, .number = 0};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.dialect", &asked, 1);
}

ashlar_result PmiClient::meet() {
  Card card = {};
  card.node = ip::host_here();
  if (gethostname(card.host, sizeof card.host - 1) != 0) card.host[0] = '\0';
  const std::string_view whole = bytes_of(card);
  const std::size_t used = offsetof(Card, host) + std::strlen(card.host);
  if (const ashlar_result put = values_->put(job_.rank, kCard, whole.substr(0, used)); put != ASHLAR_OK) return put;
  if (job_.rank == 0) {
    Secret secret;
    if (getrandom(&secret, sizeof secret, 0) != static_cast<ssize_t>(sizeof secret))
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.no_secret", nullptr, 0);
    if (const ashlar_result put = values_->put(0, kSecret, bytes_of(secret)); put != ASHLAR_OK) return put;
  }
  const ashlar_result all = fence(static_cast<std::int64_t>(start_timeout_ / 1'000'000));
  if (all == ASHLAR_LAUNCH_TIMED_OUT) {
    char seconds[24];
    std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(start_timeout_) / 1e9);
    const ashlar_fact late[] = {{.name = "seconds", .text = seconds, .number = 0},
                                {.name = "ranks", .text = nullptr, .number = job_.ranks}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.start_late", late, std::size(late));
  }
  return all == ASHLAR_OK ? take_secret() : all;
}

ashlar_result PmiClient::take_secret() {
  std::string text;
  const ashlar_result got = values_->get(0, kSecret, &text);
  if (got != ASHLAR_OK && got != ASHLAR_LAUNCH_NOT_FOUND) return got;
  Secret secret;
  if (got != ASHLAR_OK || text.size() != sizeof secret)
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.no_secret", nullptr, 0);
  std::memcpy(&secret, text.data(), sizeof secret);
  job_.cookie = secret.cookie;
  std::snprintf(job_.job_id, sizeof job_.job_id, "%.40s-%016llx", facts_.job.c_str(),
                static_cast<unsigned long long>(secret.job));
  return ASHLAR_OK;
}

ashlar_result PmiClient::find_places() {
  if (!parse_node_map(facts_.node_map, job_.ranks, &node_of_rank_))
    if (const ashlar_result asked = ask_for_nodes(&node_of_rank_); asked != ASHLAR_OK) return asked;
  job_.node = node_of_rank_[job_.rank];
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    job_.nodes = std::max(job_.nodes, node_of_rank_[rank] + 1);
    if (node_of_rank_[rank] != job_.node) continue;
    if (rank == job_.rank) job_.local_rank = static_cast<std::uint32_t>(local_peers_.size());
    local_peers_.push_back(rank);
  }
  job_.local_size = static_cast<std::uint32_t>(local_peers_.size());
  job_.local_peers = local_peers_.data();
  job_.node_of_rank = job_.nodes > 1 ? node_of_rank_.data() : nullptr;
  return ASHLAR_OK;
}

// The launcher has no map, so every rank reads all cards.
ashlar_result PmiClient::ask_for_nodes(std::vector<std::uint32_t>* node_of_rank) {
  std::vector<std::uint64_t> nodes(job_.ranks);
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    std::string card;
    const ashlar_result got = values_->get(rank, kCard, &card);
    if (got != ASHLAR_OK && got != ASHLAR_LAUNCH_NOT_FOUND) return got;
    if (got != ASHLAR_OK || card.size() < sizeof nodes[rank]) {
      const ashlar_fact missing = {.name = "rank", .text = nullptr, .number = rank};
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.no_card", &missing, 1);
    }
    std::memcpy(&nodes[rank], card.data(), sizeof nodes[rank]);
  }
  *node_of_rank = number_nodes(nodes);
  return ASHLAR_OK;
}

void PmiClient::describe() {
  job_.appnum = facts_.appnum;
  job_.universe_size = facts_.universe_size;
  job_.shared_fd = -1;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  job_.oversubscribed = processors > 0 && job_.local_size > static_cast<std::uint32_t>(processors);
  const char* by = "a launcher";
  if (std::getenv("FLUX_JOB_ID")) by = "Flux";
  if (std::getenv("MPI_LOCALNRANKS")) by = "Hydra, MPICH's mpiexec,";
  if (std::getenv("PMI_JOBID") && std::getenv("SLURM_STEP_ID")) by = "Slurm";
  launcher_ = std::string(by) + " through " + wire_->name() + ", job " + facts_.job;
  job_.launcher = launcher_.c_str();
  job_.placement = "";
}

ashlar_result PmiClient::put(const char* key, const void* blob, std::size_t bytes) {
  const std::lock_guard guard(talking_);
  const std::string_view value(static_cast<const char*>(blob), bytes);
  const ashlar_result put = values_->put(job_.rank, key, value);
  if (put == ASHLAR_OK) own_.insert_or_assign(key, std::string(value));
  return put;
}

ashlar_result PmiClient::fence(std::int64_t timeout_ms) {
  const std::uint64_t began = now_ns();
  for (;;) {
    {
      const std::lock_guard guard(talking_);
      if (!in_fence_) {  // otherwise an earlier call timed out, and the same fence is still on its way
        if (const ashlar_result entered = wire_->enter_fence(); entered != ASHLAR_OK) return entered;
        in_fence_ = true;
        ++fence_number_;
      }
      bool done = false;
      if (const ashlar_result looked = channel_.look_for_fence(&done); looked != ASHLAR_OK) return looked;
      if (done) {
        in_fence_ = false;
        return ASHLAR_OK;
      }
    }
    std::uint64_t nap = kNap;
    if (timeout_ms >= 0) {
      const std::uint64_t limit = static_cast<std::uint64_t>(timeout_ms) * 1'000'000, waited = now_ns() - began;
      if (waited >= limit) {
        late_ms_ = timeout_ms;
        return ASHLAR_LAUNCH_TIMED_OUT;
      }
      nap = std::min(nap, limit - waited);
    }
    channel_.wait_readable(nap);
  }
}

ashlar_result PmiClient::report_timeout() const {
  char seconds[24];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(late_ms_) / 1000.0);
  const ashlar_fact late[] = {{.name = "seconds", .text = seconds, .number = 0},
                              {.name = "ranks", .text = nullptr, .number = job_.ranks},
                              {.name = "job", .text = job_.job_id, .number = 0},
                              {.name = "fence", .text = nullptr, .number = static_cast<std::int64_t>(fence_number_)}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.fence_late", late, std::size(late));
}

ashlar_result PmiClient::get(std::uint32_t rank, const char* key, void* buffer, std::size_t* bytes) {
  if (rank >= job_.ranks) {
    const ashlar_fact ranks[] = {{.name = "rank", .text = nullptr, .number = rank},
                                 {.name = "last", .text = nullptr, .number = std::int64_t{job_.ranks} - 1}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_RANK, "launch.rank", ranks, std::size(ranks));
  }
  const std::lock_guard guard(talking_);
  std::string blob;
  if (rank == job_.rank) {
    const auto own = own_.find(std::string_view(key));
    if (own == own_.end()) return ASHLAR_LAUNCH_NOT_FOUND;
    return ashlar_launch_copy(&host_, rank, key, own->second.data(), own->second.size(), buffer, bytes);
  }
  const ashlar_result got = values_->get(rank, key, &blob);
  return got == ASHLAR_OK ? ashlar_launch_copy(&host_, rank, key, blob.data(), blob.size(), buffer, bytes) : got;
}

const char* PmiClient::host_of(std::uint32_t rank) {
  if (rank >= job_.ranks) return nullptr;
  const std::lock_guard guard(talking_);
  if (!hosts_.contains(rank) && channel_.open()) {
    std::string card;
    if (values_->get(rank, kCard, &card) == ASHLAR_OK && card.size() > offsetof(Card, host))
      hosts_.emplace(rank, card.substr(offsetof(Card, host)));
  }
  const auto found = hosts_.find(rank);
  return found == hosts_.end() ? nullptr : found->second.c_str();
}

void PmiClient::abort(int code) {
  const std::lock_guard guard(talking_);
  if (!channel_.open() || wire_->abort(code) != ASHLAR_OK) return;
  // The launcher kills us; give it the time, so that it reports an abort and not an exit.
  constexpr std::uint64_t kPatience = 5'000'000'000;
  const std::uint64_t began = now_ns();
  while (now_ns() - began < kPatience) usleep(20'000);
}

ashlar_result PmiClient::finalize() {
  const std::lock_guard guard(talking_);
  const ashlar_result left = wire_->finalize();
  channel_.close();
  return left;
}

}  // namespace ashlar::launch
