// The first half of a job: everything up to the running ranks. The second half is in job.cc, job_clock.cc and
// job_streams.cc.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/processors.h"
#include "mpiexec/job.h"
#include "mpiexec/local_placement.h"
#include "mpiexec/node_plan.h"
#include "mpiexec/program_file.h"
#include "mpiexec/signals.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr int kTickMs = 100;  // between looks at hosts that start

}  // namespace

Status Job::prepare() {
  signal_fd_ = take_signals();
  if (signal_fd_ < 0) return cannot("take signals (signalfd)", errno);
  if (!nodes_.several()) return prepare_here();
  if (settings_.tools) there_.watch_with_tools();
  const std::string prefix = options_.prefix.empty() ? own_prefix() : options_.prefix;
  const AgentFacts agent = {.command = settings_.launch_agent,
                            .daemon = prefix + "/bin/mpiexec",
                            .patience_ns = settings_.start_timeout_ns,
                            .retry_ns = settings_.start_retry_ns};
  ASHLAR_TRY(there_.launch(nodes_, agent, inherited_, settings_.tree, settings_.silence_ns));
  ASHLAR_TRY(gather(RemoteNode::Phase::kThere));
  cookie_ = draw_cookie();
  send_order();
  ASHLAR_TRY(prepare_here());
  there_.set_board(&board_);
  ASHLAR_TRY(gather(RemoteNode::Phase::kReady));
  ASHLAR_TRY(open_files());
  return agree_on_placement();
}

/// Waits until every host has come so far.
Status Job::gather(RemoteNode::Phase phase) {
  while (!there_.all(phase)) {
    poll_once(kTickMs);
    reap();
    there_.check(now_ns());
    if (interrupted_by_ != 0) {
      status_ = 128 + interrupted_by_;
      return fail(kErrOther, "host.interrupted", {{"signal", signal_words(interrupted_by_)}});
    }
    ASHLAR_TRY(there_.failure(now_ns()));
  }
  return there_.failure(now_ns());
}

void Job::send_order() {
  JobOrder order;
  order.options = options_;
  order.settings = settings_;
  order.nodes = nodes_;
  order.job_id = job_id_;
  order.launcher = text("Ashlar mpiexec, process %d on %s", static_cast<int>(getpid()), host_.c_str());
  order.cookie = cookie_;
  order.universe = universe();
  if (asked_ != nullptr) {
    order.name = asked_->name();
    order.parent_port = asked_->parent_port();
  }
  for (unsigned node = 0; node < nodes_.hosts.size(); ++node) order.taken.push_back(taken_on(nodes_.hosts[node]));
  order.environment = environment_.entries();
  order.folder = current_folder();
  there_.order(order);
  there_.flush();
}

/// How many ranks of the jobs above run on the host.
unsigned Job::taken_on(const std::string& host) const {
  if (asked_ == nullptr) return 0;
  for (const HostSlots& taken : asked_->taken_above())
    if (taken.name == host || (host == host_ && is_this_host(taken.name))) return taken.slots;
  return 0;
}

/// What there is room for, with the ranks of all jobs together.
unsigned Job::universe() const {
  const auto ranks = static_cast<unsigned>(fates_.size()) + (asked_ != nullptr ? asked_->ranks_above() : 0);
  const unsigned here =
      nodes_.several() && nodes_.node == launch::kNoNode ? 0 : static_cast<unsigned>(own_processors().size());
  return std::max(ranks, here + there_.cpus());
}

Status Job::prepare_here() {
  const auto ranks = static_cast<unsigned>(fates_.size());
  const unsigned own = nodes_.several() ? nodes_.ranks_of(nodes_.node) : ranks;
  placement_ = decide_placement(options_, settings_, own);
  const unsigned taken = taken_on(host_);
  placement_.oversubscribed = placement_.oversubscribed ||
                              (own > 0 && taken > 0 && own + taken > static_cast<unsigned>(own_processors().size()));
  if (!nodes_.several()) {
    report_placement(options_, placement_, placement_.words, {}, {});
    if (options_.show_placement) return {};
  }
  if (placement_.oversubscribed && !settings_.oversubscribe) {
    status_ = 2;
    return fail(kErrArg, "start.oversubscribed", {{"ranks", placement_.cpus.size()}});
  }
  LocalFacts facts;
  facts.board.job_id = job_id_;
  facts.board.host = host_;
  facts.board.launcher = text("Ashlar mpiexec, process %d", static_cast<int>(getpid()));
  facts.board.nodes = nodes_;
  facts.board.cookie = cookie_;
  facts.board.universe = universe();
  const std::vector<PlannedHost> named = plan_check(options_, host_);
  facts.board.starts_elsewhere =
      std::any_of(named.begin(), named.end(), [](const PlannedHost& host) { return !host.here; });
  if (asked_ != nullptr) {
    facts.board.name = asked_->name();
    facts.board.parent_port = asked_->parent_port();
  }
  ASHLAR_TRY(here_.prepare(std::move(facts), environment_, placement_));
  if (!nodes_.several()) report_pmix(options_, here_.has_pmix() ? 1 : 0, here_.why_pmix(), settings_.pmix_data);
  return {};
}

/// Each host has decided on the cores of its own ranks.
Status Job::agree_on_placement() {
  const std::vector<NodeReady>& ready = there_.ready();
  std::vector<std::string> words(fates_.size()), hosts(fates_.size());
  std::vector<std::size_t> next(nodes_.hosts.size());
  for (unsigned r = 0; r < fates_.size(); ++r) {
    const unsigned node = nodes_.node_of(r);
    const std::vector<std::string>& of = node == nodes_.node ? placement_.words : ready[node].words;
    words[r] = of[next[node]++];
    hosts[r] = nodes_.hosts[node];
  }
  Placement told = placement_;
  for (unsigned node = 0; node < ready.size(); ++node) {
    if (node == nodes_.node) continue;
    if (told.cpus.empty()) {
      told.what = ready[node].what;
      told.because = ready[node].because;
      told.lost = ready[node].lost;
    }
    told.oversubscribed = told.oversubscribed || ready[node].oversubscribed;
    if (!ready[node].oversubscribed || settings_.oversubscribe) continue;
    status_ = 2;
    return fail(kErrArg, "start.oversubscribed",
                {{"ranks", nodes_.ranks_of(node)}, {"peer_host", brief(nodes_.hosts[node])}});
  }
  report_placement(options_, told, words, hosts, there_.ways());
  std::string why_pmix = here_.why_pmix();
  unsigned with_pmix = why_pmix.empty() ? 0 : 1;
  for (const NodeReady& node : ready) {
    if (node.pmix.empty()) continue;
    ++with_pmix;
    if (why_pmix.empty()) why_pmix = node.pmix;
  }
  report_pmix(options_, with_pmix, why_pmix, settings_.pmix_data);
  return {};
}

/// The files of --output of ranks on other hosts, which mpiexec writes.
Status Job::open_files() {
  if (options_.output.empty()) return {};
  for (unsigned r = 0; r < fates_.size(); ++r)
    if (!nodes_.here(r))
      ASHLAR_TRY(files_.open(options_.output, {.rank = r,
                                               .ranks = static_cast<unsigned>(fates_.size()),
                                               .appnum = segment_of_rank_[r],
                                               .host = fates_[r].host}));
  return {};
}

bool Job::start_ranks() {
  for (unsigned r = 0; r < fates_.size(); ++r) {
    if (nodes_.here(r)) continue;
    ++to_start_;
    fates_[r].remote_stream[0] = fates_[r].remote_stream[1] = true;
    remote_streams_ += 2;
    if (options_.stdin_rank == static_cast<int>(r)) remote_input_ = std::make_unique<RemoteInput>();
  }
  there_.start();
  there_.flush();
  const Status started = here_.start();
  if (!started.ok()) start_error_ = in_words(started);
  return started.ok();
}

}  // namespace ashlar::mpiexec
