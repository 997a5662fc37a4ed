#include "components/transport/common/striped_reads.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "components/transport/common/interface.h"
#include "framework/base/clock.h"
#include "framework/base/hash.h"

// Large reads in stripes: which rail each takes, and what becomes of those that a rail does not bring. Which rails
// there are: striped_reads_rails.cc.
namespace ashlar::network {
namespace {

constexpr std::uint64_t kFirstShare = 8;  // of a stripe: the first one of a read
constexpr unsigned kUnansweredMost = 3;   // of a peer that cannot answer, as it has no session to this process

}  // namespace

StripedReads::StripedReads(Interface& iface, Endpoint& peer) : iface_(iface), peer_(peer) {
  rails_[0].state = State::kGood;
  for (std::uint8_t rail = 1; rail < kMostRails; ++rail) {
    rails_[rail].probe.all = this;
    rails_[rail].probe.rail = rail;
    rails_[rail].probe.done = [](ashlar_completion* self, ashlar_result result) {
      auto& ended = *static_cast<Probe*>(self);
      ended.all->probe_over(ended.rail, result == ASHLAR_OK);
    };
  }
}

StripedReads::~StripedReads() { (void)give_up(); }

double StripedReads::speed() const {
  double sum = 0;
  for (const Rail& rail : rails_)
    if (rail.state == State::kGood) sum += rail.meter.speed();
  return sum;
}

std::uint8_t StripedReads::last() const { return iface_.rails().last(); }

bool StripedReads::read(void* to, const Key& key, std::uint64_t offset, std::uint64_t length, ashlar_completion* done) {
  if (none_ || (unanswered_ >= kUnansweredMost && reads_.empty())) return false;
  reads_.push_back(std::make_unique<StripedRead>(StripedRead{.number = ++last_number_,
                                                             .to = static_cast<std::byte*>(to),
                                                             .key = key,
                                                             .offset = offset,
                                                             .length = length,
                                                             .missing = length,
                                                             .unasked = plugin::UnaskedRanges(length),
                                                             .done = done}));
  unasked_ += length;
  StripedRead& read = *reads_.back();
  if (!hold(read, 0)) {
    unasked_ -= length;
    reads_.pop_back();
    return false;  // with a smaller region, or for its own reason, it fails as a whole
  }
  iface_.counters.striped.add();
  ++unanswered_;
  ask_for_rails(read, now_ns());
  pump();
  return true;
}

bool StripedReads::is_open(const StripedRead& read, std::uint8_t rail) const {
  return rail == 0 || (rails_[rail].state == State::kGood && read.ways[rail].known);
}

void StripedReads::pump() {
  const std::uint64_t stripe = iface_.config().stripe;
  while (unasked_ != 0) {
    StripedRead& read = **std::find_if(reads_.begin(), reads_.end(), [](const auto& r) { return !r->unasked.empty(); });
    // Some libraries send what is read before any message, the owner's answer too: it would come behind all stripes.
    const bool first = !read.answered && read.missing == read.length;
    if (first && !read.stripes.empty()) return;
    const std::uint64_t length = read.unasked.next_length(first ? stripe / kFirstShare : stripe);
    const int rail = plugin::next_rail<kMostRails>(
        std::span(rails_).first(last() + 1u),
        [&](std::size_t i) { return is_open(read, static_cast<std::uint8_t>(i)); }, length, unasked_, stripe);
    if (rail == plugin::kNoRail) return;
    ask(read, static_cast<std::uint8_t>(rail), length);
  }
}

/// Makes the memory of a read known to a rail's library, as a whole, for all its stripes. False: it is not taken.
bool StripedReads::hold(StripedRead& read, std::uint8_t rail) {
  StripedRead::Way& way = read.ways[rail];
  Fabric& fabric = iface_.fabric(rail);
  if (way.here != nullptr || !fabric.uses_known_memory()) return true;
  Registrations& memory = iface_.memory(rail);
  Region* const region = memory.take(read.to, read.length, Fabric::kWritten);
  if (region != nullptr) way.here = std::make_shared<const HeldRegion>(memory, *region, read.length);
  return region != nullptr;
}

void StripedReads::ask(StripedRead& read, std::uint8_t rail, std::uint64_t length) {
  StripedRead::Way& way = read.ways[rail];
  const bool lands = rail != 0 && !iface_.fabric(rail).ends_soon();
  std::shared_ptr<const Landing> landing = lands ? iface_.rails().landing(rail, length) : nullptr;
  if (lands ? landing == nullptr : !hold(read, rail)) {
    way.known = false;  // never of the first fabric, which read() has asked
    return;
  }
  const plugin::Range range = read.unasked.take(length);
  unasked_ -= length;
  auto transfer = std::make_unique<Transfer>();
  auto stripe = std::make_unique<Stripe>();
  stripe->all = this;
  stripe->read = &read;
  stripe->rail = rail;
  stripe->range = range;
  stripe->transfer = transfer.get();
  stripe->done = [](ashlar_completion* self, ashlar_result result) {
    auto& ended = *static_cast<Stripe*>(self);
    ended.all->stripe_over(ended, result);
  };
  transfer->what = Operation::What::kRead;
  transfer->peer = &peer_;
  transfer->here = lands ? landing->bytes.get() : read.to + range.offset;
  transfer->there = rail == 0 ? read.key.remote : way.there;
  transfer->offset = read.offset + range.offset;
  transfer->length = length;
  transfer->done = stripe.get();
  transfer->rail = rail;
  transfer->part = true;
  const HeldRegion* const known = lands ? landing->known.get() : way.here.get();
  transfer->region = known != nullptr ? &known->region() : nullptr;
  transfer->keeps = lands ? std::shared_ptr<const void>(landing) : way.here;
  stripe->landing = std::move(landing);
  rails_[rail].meter.ask(length, now_ns());
  if (rail == 0) {
    iface_.post_later(*transfer.release());
  } else if (!iface_.rails().post(*transfer, rails_[rail].at)) {
    rails_[rail].meter.give_up(length);
    put_back(read, range);
    note(iface_.fabric(rail).reason());
    lose(rail, now_ns());
    return tell_loss(rail, "takes no reads");
  } else {
    (void)transfer.release();
  }
  read.stripes.push_back(std::move(stripe));
}

void StripedReads::put_back(StripedRead& read, const plugin::Range& range) {
  if (read.result != ASHLAR_OK) return;
  read.unasked.put_back(range);
  unasked_ += range.length;
}

/// Nothing more is asked for; it is over with its last stripe.
void StripedReads::fail(StripedRead& read, ashlar_result result) {
  if (read.result != ASHLAR_OK) return;
  read.result = result;
  unasked_ -= read.unasked.bytes();
  read.unasked = plugin::UnaskedRanges(0);
}

void StripedReads::stripe_over(Stripe& stripe, ashlar_result result) {
  StripedRead& read = *stripe.read;
  const std::uint8_t number = stripe.rail;
  Rail& rail = rails_[number];
  const plugin::Range range = stripe.range;
  const std::uint64_t now = now_ns();
  if (!stripe.late && result == ASHLAR_OK) {
    if (stripe.landing != nullptr) std::memcpy(read.to + range.offset, stripe.landing->bytes.get(), range.length);
    rail.meter.count(range.length);
    rail.meter.over(range.length, now, iface_.config().stripe);
    rail.meter.heard(now);
    iface_.counters.rail_bytes[number].add(range.length);
    read.missing -= range.length;
  } else if (!stripe.late) {
    rail.meter.give_up(range.length);
    if (number == 0)
      fail(read, result);
    else
      put_back(read, range);
  }
  std::erase_if(read.stripes, [&](const auto& one) { return one.get() == &stripe; });
  if (result != ASHLAR_OK && number != 0 && rail.state == State::kGood) {
    lose(number, now);
    tell_loss(number, "failed (" + reason_ + ")");
  }
  pump();
  if (read.missing == 0 && read.result == ASHLAR_OK) tell_shares();
  tell_ended(peer_);
}

void StripedReads::tell_ended(Endpoint& peer) {
  const auto over = [](const auto& read) {
    return (read->missing == 0 || read->result != ASHLAR_OK) && read->stripes.empty();
  };
  while (peer.striped != nullptr) {
    std::deque<std::unique_ptr<StripedRead>>& reads = peer.striped->reads_;
    const auto found = std::find_if(reads.begin(), reads.end(), over);
    if (found == reads.end()) return;
    ashlar_completion* const done = (*found)->done;
    const ashlar_result result = (*found)->result;
    if (result == ASHLAR_OK) peer.iface->counters.get_bytes.add((*found)->length);
    reads.erase(found);
    done->done(done, result);
  }
}

void StripedReads::stop(ashlar_result result) {
  for (const auto& read : reads_) fail(*read, result);
  for (std::uint8_t rail = 1; rail <= last(); ++rail) rails_[rail].state = State::kLost;
}

std::vector<ashlar_completion*> StripedReads::give_up() {
  std::vector<ashlar_completion*> users;
  for (const auto& read : reads_) {
    for (const auto& stripe : read->stripes) stripe->transfer->done = nullptr;
    users.push_back(read->done);
  }
  reads_.clear();
  unasked_ = 0;
  for (Rail& rail : rails_) {
    if (Transfer* const transfer = std::exchange(rail.probe.transfer, nullptr)) transfer->done = nullptr;
    rail.nonce = nullptr;
    rail.meter.give_up_all();
  }
  return users;
}

}  // namespace ashlar::network
