#include "components/transport/tcp/rails.h"

#include <algorithm>
#include <cstring>

#include "components/transport/tcp/interface.h"
#include "framework/base/clock.h"

// Stripes of large messages: which rail each is asked for over, and what becomes of those that a rail does not bring.
namespace ashlar::tcp {

double Rails::speed() const {
  double sum = 0;
  for (const Rail& rail : rails_)
    if (is_open(rail)) sum += rail.meter.speed();
  return sum;
}

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
                                                           .missing = length,
                                                           .unasked = plugin::UnaskedRanges(length),
                                                           .done = done}));
  unasked_ += length;
  if (peer_.connection == nullptr) iface_.need_connection(peer_);
  pump();
  return true;
}

void Rails::pump() {
  const std::uint64_t stripe = iface_.config().stripe;
  while (unasked_ != 0) {
    StripedGet& read = **std::find_if(reads_.begin(), reads_.end(), [](const auto& r) { return !r->unasked.empty(); });
    const std::uint64_t length = read.unasked.next_length(stripe);
    const int rail = plugin::next_rail<kMostRails>(
        rails_, [&](std::size_t i) { return is_open(rails_[i]); }, length, unasked_, stripe);
    if (rail == plugin::kNoRail) return;
    ask(rails_[static_cast<std::size_t>(rail)], read, read.unasked.take(length));
  }
}

void Rails::ask(Rail& rail, StripedGet& read, const plugin::Range& range) {
  rail.meter.ask(range.length, now_ns());
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
    count(*rail, found->second.received);
    rail->meter.over(bytes, now_ns(), iface_.config().stripe);
  }
  peer_.gets.erase(found);
  read.missing -= bytes;
  pump();
  if (read.missing == 0) finish(read, true);
}

void Rails::count(Rail& rail, std::uint64_t bytes) {
  rail.meter.count(bytes);
  iface_.counters.rail_bytes[rail.number].add(bytes);
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
    read.unasked.put_back({.offset = get.offset - read.offset + get.received, .length = left});
    unasked_ += left;
    count(rail, get.received);
    at = peer_.gets.erase(at);
  }
  rail.meter.give_up_all();
}

void Rails::finish(StripedGet& read, bool good) {
  for (auto at = peer_.gets.begin(); !good && at != peer_.gets.end();) {
    if (at->second.whole != &read) {
      ++at;
      continue;
    }
    at->second.over->forget_get(at->first);
    if (Rail* const rail = rail_of(at->second.over); rail != nullptr) rail->meter.give_up(at->second.length);
    at = peer_.gets.erase(at);
  }
  if (!good) unasked_ -= read.unasked.bytes();
  ashlar_completion* const done = read.done;
  reads_.erase(std::find_if(reads_.begin(), reads_.end(), [&](const auto& r) { return r.get() == &read; }));
  if (good) tell_shares();
  done->done(done, good ? ASHLAR_OK : iface_.get_failed(peer_));
}

void Rails::heard(const Connection& over) {
  Rail* const rail = rail_of(&over);
  if (rail == nullptr) return;
  rail->meter.heard(iface_.clock());
  rail->stalled = false;
}

/// Another rail shows that the peer makes progress, or has time to bring what this one does not.
bool Rails::has_stalled(const Rail& rail, std::uint64_t now) const {
  if (rail.stalled || !rail.meter.is_silent(now)) return false;
  return std::any_of(rails_.begin(), rails_.end(), [&](const Rail& other) {
    return &other != &rail && is_open(other) && other.meter.shows_stall_of(rail.meter);
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
  first.meter.forget_speed();
}

void Rails::end(bool told) {
  std::deque<std::unique_ptr<StripedGet>> reads = std::move(reads_);
  reads_.clear();
  unasked_ = 0;
  std::erase_if(peer_.gets, [](const auto& entry) { return entry.second.whole != nullptr; });
  for (Rail& rail : rails_) rail.meter.give_up_all();
  for (const auto& read : reads)
    if (told) read->done->done(read->done, iface_.get_failed(peer_));
}

}  // namespace ashlar::tcp
