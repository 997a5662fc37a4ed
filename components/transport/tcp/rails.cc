#include "components/transport/tcp/rails.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "components/transport/tcp/interface.h"
#include "framework/base/clock.h"

// Stripes of large messages: which rail each is asked for over, and what becomes of those that a rail does not bring.
namespace ashlar::tcp {
namespace {

constexpr std::uint64_t kStripesDue = 4;        // over one rail at one time
constexpr std::uint64_t kStripesMeasured = 16;  // older ones count half
// While others bring something, a rail that brings nothing for so long has lost its stripes: two of the system's
// repetitions, at least.
constexpr std::uint64_t kStall = 500'000'000;
// A measurement that is older by so much than another rail's says nothing: a rail that was slow gets a stripe again.
constexpr std::uint64_t kForgotten = 1'000'000'000;

}  // namespace

bool Rails::is_open(const Rail& rail) const {
  return rail.connection != nullptr && !rail.stalled && !rail.connection->leaving() && !rail.connection->closed;
}

Rails::Rail* Rails::rail_of(const Connection* over) {
  const auto found = std::find_if(rails_.begin(), rails_.end(), [&](const Rail& r) { return r.connection == over; });
  return over == nullptr || found == rails_.end() ? nullptr : &*found;
}

bool Rails::read(std::byte* to, std::uint64_t region, std::uint64_t offset, std::uint64_t length,
                 ashlar_completion* done) {
  call_if_due(now_ns());
  if (rails_.size() == 1 && dial_ == nullptr && reads_.empty()) return false;
  iface_.counters.striped.add();
  reads_.push_back(std::make_unique<StripedGet>(StripedGet{.to = to,
                                                           .region = region,
                                                           .offset = offset,
                                                           .length = length,
                                                           .asked = 0,
                                                           .missing = length,
                                                           .again = {},
                                                           .done = done}));
  unasked_ += length;
  if (peer_.connection == nullptr) iface_.need_connection(peer_);
  pump();
  return true;
}

void Rails::pump() {
  const std::uint64_t stripe = iface_.config().stripe;
  while (unasked_ != 0) {
    StripedGet& read = **std::find_if(reads_.begin(), reads_.end(), [](const auto& r) { return r->has_unasked(); });
    const std::uint64_t length = std::min(stripe, read.again.empty() ? read.length - read.asked : read.again[0].length);
    std::array<RailLoad, kMostRails> loads;
    std::uint64_t newest = 0;
    for (const Rail& rail : rails_) newest = std::max(newest, rail.measured);
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      const Rail& rail = rails_[i];
      const bool counts = rail.due != 0 || newest - rail.measured < kForgotten;
      loads[i] = {.open = is_open(rail), .speed = counts ? rail.speed() : 0, .due = rail.due};
    }
    const int rail = choose_rail({loads.data(), rails_.size()}, length, unasked_, kStripesDue * stripe);
    if (rail == kNoRail) return;
    ask(rails_[static_cast<std::size_t>(rail)], read, next_range(read, length));
  }
}

Range Rails::next_range(StripedGet& read, std::uint64_t length) {
  if (read.again.empty()) {
    read.asked += length;
    return {.offset = read.asked - length, .length = length};
  }
  Range& first = read.again.front();
  const Range range = {.offset = first.offset, .length = length};
  first.offset += length;
  first.length -= length;
  if (first.length == 0) read.again.erase(read.again.begin());
  return range;
}

void Rails::ask(Rail& rail, StripedGet& read, const Range& range) {
  const std::uint64_t now = now_ns();
  if (rail.due == 0) rail.due_since = rail.busy_since = now;
  rail.due += range.length;
  unasked_ -= range.length;
  const std::uint64_t request = peer_.next_get++;
  peer_.gets[request] = {.to = read.to + range.offset,
                         .region = read.region,
                         .offset = read.offset + range.offset,
                         .length = range.length,
                         .received = 0,
                         .done = nullptr,
                         .whole = &read,
                         .over = rail.connection};
  iface_.ask(peer_, request);
}

void Rails::stripe_over(std::uint64_t request, bool good) {
  const auto found = peer_.gets.find(request);
  StripedGet& read = *found->second.whole;
  if (!good) return finish(read, false);
  const std::uint64_t bytes = found->second.length;
  if (Rail* const rail = rail_of(found->second.over); rail != nullptr) {
    rail->due -= bytes;
    count(*rail, found->second.received);
    measure(*rail, bytes, now_ns());
  }
  peer_.gets.erase(found);
  read.missing -= bytes;
  pump();
  if (read.missing == 0) finish(read, true);
}

void Rails::count(Rail& rail, std::uint64_t bytes) {
  rail.bytes += bytes;
  iface_.counters.rail_bytes[rail.number].add(bytes);
}

/// Bytes by the time in which something was due, over some windows: the last bytes of several stripes are often read
/// together, so the time of one stripe says little.
void Rails::measure(Rail& rail, std::uint64_t bytes, std::uint64_t now) {
  rail.busy_bytes += static_cast<double>(bytes);
  rail.busy_ns += static_cast<double>(now - rail.busy_since);
  rail.busy_since = rail.measured = now;
  if (rail.busy_bytes < static_cast<double>(kStripesMeasured * iface_.config().stripe)) return;
  rail.busy_bytes /= 2;
  rail.busy_ns /= 2;
}

/// What is due over the rail is to be asked for anew, from the byte that each stripe has come to.
void Rails::put_back(Rail& rail) {
  for (auto at = peer_.gets.begin(); at != peer_.gets.end();) {
    const Get& get = at->second;
    if (get.whole == nullptr || get.over != rail.connection) {
      ++at;
      continue;
    }
    rail.connection->forget_get(at->first);
    StripedGet& read = *get.whole;
    const std::uint64_t left = get.length - get.received;
    read.missing -= get.received;
    read.again.push_back({.offset = get.offset - read.offset + get.received, .length = left});
    unasked_ += left;
    count(rail, get.received);
    at = peer_.gets.erase(at);
  }
  rail.due = 0;
}

void Rails::finish(StripedGet& read, bool good) {
  for (auto at = peer_.gets.begin(); !good && at != peer_.gets.end();) {
    if (at->second.whole != &read) {
      ++at;
      continue;
    }
    at->second.over->forget_get(at->first);
    if (Rail* const rail = rail_of(at->second.over); rail != nullptr) rail->due -= at->second.length;
    at = peer_.gets.erase(at);
  }
  if (!good) {
    unasked_ -= read.length - read.asked;
    for (const Range& range : read.again) unasked_ -= range.length;
  }
  ashlar_completion* const done = read.done;
  reads_.erase(std::find_if(reads_.begin(), reads_.end(), [&](const auto& r) { return r.get() == &read; }));
  if (good) tell_shares();
  done->done(done, good ? ASHLAR_OK : iface_.get_failed(peer_));
}

void Rails::heard(const Connection& over) {
  Rail* const rail = rail_of(&over);
  if (rail == nullptr) return;
  rail->due_since = iface_.clock();
  rail->stalled = false;
}

/// Another rail shows that the peer makes progress, or has time to bring what this one does not.
bool Rails::has_stalled(const Rail& rail, std::uint64_t now) const {
  if (rail.due == 0 || rail.stalled || now < rail.due_since + kStall) return false;
  return std::any_of(rails_.begin(), rails_.end(), [&](const Rail& other) {
    return &other != &rail && is_open(other) && (other.due == 0 || other.due_since > rail.due_since + kStall / 2);
  });
}

void Rails::tick(std::uint64_t now) {
  if (dial_ != nullptr) dial_->tick(now);
  if (reads_.empty()) return;
  for (Rail& rail : rails_) {
    if (!has_stalled(rail, now)) continue;
    put_back(rail);
    rail.stalled = true;
    iface_.counters.rails_stalled.add();
    tell_loss(rail, "brought nothing for 0.5 s while others did");
  }
  call_if_due(now);
  pump();
}

void Rails::first_lost() {
  Rail& first = rails_.front();
  if (first.connection == nullptr) return;
  put_back(first);
  first.connection = nullptr;
  first.stalled = false;
  first.busy_bytes = first.busy_ns = 0;
}

void Rails::end(bool told) {
  std::deque<std::unique_ptr<StripedGet>> reads = std::move(reads_);
  reads_.clear();
  unasked_ = 0;
  std::erase_if(peer_.gets, [](const auto& entry) { return entry.second.whole != nullptr; });
  for (Rail& rail : rails_) rail.due = 0;
  for (const auto& read : reads)
    if (told) read->done->done(read->done, iface_.get_failed(peer_));
}

}  // namespace ashlar::tcp
