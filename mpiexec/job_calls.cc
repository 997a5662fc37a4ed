// What ranks ask of mpiexec: further jobs, names. And what this job has to do with the one that asked for it.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "framework/base/clock.h"
#include "mpiexec/job.h"

namespace ashlar::mpiexec {
namespace {

std::uint64_t number_of(unsigned node, std::uint32_t call) { return std::uint64_t{node} << 32 | call; }

}  // namespace

/// The first rank that asks: mpiexec takes calls from now on.
void Job::open_control() {
  launch::BoardHeader& board = *board_.header();
  if (board.control_wanted.load() == 0 || board.control.load() != 0) return;
  if (control_.place() == 0) control_.open();
  board.control.store(control_.place() != 0 ? control_.place() : launch::kNoControl);
}

void Job::serve_callers(const std::vector<pollfd>& fds) {
  std::vector<Callers::Caller> ready = callers_.handle(fds, now_ns());
  while (Descriptor socket = control_.accept()) callers_.admit(std::move(socket));
  for (Callers::Caller& caller : ready) {
    if (caller.wish == launch::wish::kJob && argv_ != nullptr && !stopping_)
      further_.start(std::move(caller.socket), argv_, facts_for_further(), inherited_);
    // The first mpiexec has the names of all jobs.
    if (caller.wish == launch::wish::kNames &&
        (asked_ == nullptr || asked_->names_at() == 0 || !pass_on(asked_->names_at(), caller.wish, caller.socket)))
      names_.admit(std::move(caller.socket));
    // And the servers of all jobs meet in it.
    if (caller.wish == launch::wish::kPmix &&
        (asked_ == nullptr || asked_->names_at() == 0 || !pass_on(asked_->names_at(), caller.wish, caller.socket)))
      pmix_.admit(std::move(caller.socket));
  }
}

/// A rank of another host: what it says goes to one end of a pair of sockets, and whoever serves it has the other.
void Job::rank_called(unsigned node, std::uint32_t call) {
  // Further jobs come here for names, even if no rank of this host asks for anything.
  if (control_.place() == 0) control_.open();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return there_.reply(node, call, {});
  relayed_.open(number_of(node, call), Descriptor(ends[0]));
  callers_.admit(Descriptor(ends[1]));
}

void Job::server_called(Descriptor socket) {
  if (control_.place() == 0) control_.open();
  callers_.admit(std::move(socket));
}

void Job::rank_asks(unsigned node, std::uint32_t call, std::string_view bytes) {
  relayed_.take(number_of(node, call), bytes);
}

void Job::relayed(std::uint64_t call, std::string_view bytes) {
  there_.reply(static_cast<unsigned>(call >> 32), static_cast<std::uint32_t>(call), bytes);
}

FurtherJobs::Facts Job::facts_for_further() const {
  FurtherJobs::Facts facts;
  if (asked_ != nullptr) facts.name = asked_->name();
  facts.names_at = asked_ != nullptr ? asked_->names_at() : control_.place();
  if (limit_ns_ != 0) {
    const std::uint64_t now = now_ns();
    facts.timeout_s = std::max(limit_ns_ > now ? static_cast<double>(limit_ns_ - now) / 1e9 : 0.0, 0.1);
  }
  facts.ranks = static_cast<unsigned>(fates_.size()) + (asked_ != nullptr ? asked_->ranks_above() : 0);
  std::vector<HostSlots> taken = asked_ != nullptr ? asked_->taken_above() : std::vector<HostSlots>();
  for (const RankFate& fate : fates_) {
    const auto on = std::find_if(taken.begin(), taken.end(), [&](const HostSlots& t) { return t.name == fate.host; });
    if (on == taken.end())
      taken.push_back({.name = fate.host, .slots = 1});
    else
      ++on->slots;
  }
  facts.taken = FurtherRequest::text_of(taken);
  return facts;
}

/// The job that asked for this one has failed: those that are connected fail with it.
void Job::hear_above() {
  char byte = 0;
  const ssize_t n = read(asked_->leash(), &byte, 1);
  if (n < 0) return;
  leash_ended_ = true;
  if (n == 0) return;
  bool connected = false;
  for (unsigned r = 0; r < fates_.size(); ++r)
    connected = connected || (board_.slot(r).use.load() & launch::kConnected) != 0;
  if (!connected || stopping_) return;
  above_failed_ = true;
  if (status_ == 0) status_ = 1;
  stop_everyone();
}

}  // namespace ashlar::mpiexec
