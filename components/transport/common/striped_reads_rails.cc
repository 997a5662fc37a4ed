#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "components/transport/common/interface.h"
#include "components/transport/common/striped_reads.h"
#include "framework/base/clock.h"
#include "framework/base/hash.h"

// The rails to a peer: how they are found and lost, and what --explain tells of them.
namespace ashlar::network {
namespace {

constexpr std::uint64_t kAskAgain = 200'000'000;

bool leads_alike(const RailOffer& one, const RailOffer& other) {
  return one.number == other.number && one.address_bytes == other.address_bytes &&
         std::equal(one.address, one.address + one.address_bytes, other.address);
}

}  // namespace

void StripedReads::ask_for_rails(const StripedRead& read, std::uint64_t now) {
  asked_at_ = now;
  const RailsWanted wanted = {.read = read.number, .key = read.key};
  iface_.control(peer_, Kind::kRailsWanted, &wanted, sizeof wanted);
}

void StripedReads::offered(const RailsOffered& head, std::span<const RailOffer> offers) {
  unanswered_ = 0;
  none_ = head.rails == 0;
  const std::uint64_t now = now_ns();
  const auto found =
      std::find_if(reads_.begin(), reads_.end(), [&](const auto& read) { return read->number == head.read; });
  StripedRead* const read = found != reads_.end() ? found->get() : nullptr;
  if (read != nullptr) read->answered = true;
  std::array<bool, kMostRails> taken = {};  // by number, of the offers
  for (std::uint8_t i = 1; i <= last(); ++i) {
    if (!iface_.rails().open(i, now)) continue;
    const std::uint64_t network = Hash::of(iface_.fabric(i).network());
    const auto fits = [&](const RailOffer& offer) {
      return offer.network == network && offer.address_bytes <= kRailAddressMost && offer.number < kMostRails &&
             !taken[offer.number];
    };
    auto offer = std::find_if(offers.begin(), offers.end(),
                              [&](const RailOffer& one) { return fits(one) && one.number == rails_[i].offer.number; });
    if (offer == offers.end()) offer = std::find_if(offers.begin(), offers.end(), fits);
    if (offer == offers.end()) continue;
    taken[offer->number] = true;
    take(i, *offer, read, now);
  }
  pump();
}

void StripedReads::take(std::uint8_t number, const RailOffer& offer, StripedRead* read, std::uint64_t now) {
  Rail& rail = rails_[number];
  // What names memory on one rail of the owner names other memory on another.
  if (!leads_alike(rail.offer, offer)) {
    rail.at = kNoPath;
    if (rail.state == State::kGood) rail.state = State::kUnknown;
  }
  rail.offer = offer;
  if (rail.at == kNoPath) {
    rail.at = iface_.fabric(number).insert({offer.address, offer.address + offer.address_bytes}, &peer_);
    if (rail.at != kNoPath) peer_.rail_paths.emplace_back(number, rail.at);
  }
  if (read != nullptr) {
    read->ways[number].known = true;
    read->ways[number].there = offer.region;
  }
  const bool may_probe = rail.state == State::kUnknown || (rail.state == State::kLost && now >= rail.pause_ends);
  if (may_probe && rail.at != kNoPath) probe(number, now);
}

void StripedReads::probe(std::uint8_t number, std::uint64_t now) {
  Rail& rail = rails_[number];
  rail.state = State::kProbing;
  rail.nonce = iface_.rails().landing(number, sizeof peer_.nonce);
  if (rail.nonce == nullptr) return lose(number, now);
  auto transfer = std::make_unique<Transfer>();
  transfer->what = Operation::What::kRead;
  transfer->peer = &peer_;
  transfer->here = rail.nonce->bytes.get();
  transfer->there = rail.offer.nonce;
  transfer->length = sizeof peer_.nonce;
  transfer->done = &rail.probe;
  transfer->region = rail.nonce->known != nullptr ? &rail.nonce->known->region() : nullptr;
  transfer->rail = number;
  transfer->part = true;
  transfer->keeps = rail.nonce;
  if (!iface_.rails().post(*transfer, rail.at)) return lose(number, now);
  rail.probe.transfer = transfer.release();
}

void StripedReads::probe_over(std::uint8_t number, bool good) {
  Rail& rail = rails_[number];
  rail.probe.transfer = nullptr;
  const std::shared_ptr<const Landing> nonce = std::move(rail.nonce);
  if (!good || std::memcmp(nonce->bytes.get(), &peer_.nonce, sizeof peer_.nonce) != 0) return lose(number, now_ns());
  rail.state = State::kGood;
  rail.pauses.reset();
  told_ = false;
  pump();
}

/// Stripes do not take the rail, for a while.
void StripedReads::lose(std::uint8_t number, std::uint64_t now) {
  Rail& rail = rails_[number];
  if (rail.state == State::kGood) {
    iface_.counters.rails_lost.add();
    told_ = false;
  }
  rail.state = State::kLost;
  rail.pause_ends = now + rail.pauses.next();
  rail.meter.forget_speed();
}

void StripedReads::tick(std::uint64_t now) {
  bool ask = false;
  for (std::uint8_t i = 1; i <= last(); ++i) {
    Rail& rail = rails_[i];
    ask = ask || rail.state == State::kUnknown || (rail.state == State::kLost && now >= rail.pause_ends);
    const auto shows = [&](const Rail& other) {
      return &other != &rail && other.state == State::kGood && other.meter.shows_stall_of(rail.meter);
    };
    // Also one that is good no more may still have stripes.
    if (!rail.meter.is_silent(now) || std::none_of(rails_.begin(), rails_.begin() + last() + 1, shows)) continue;
    give_up_stalled(i);
    iface_.counters.rails_stalled.add();
    if (rail.state == State::kGood) lose(i, now);
    tell_loss(i, "brought nothing for 0.5 s while others did");
  }
  if (ask && !none_ && peer_.way != Endpoint::Way::kFailed && now - asked_at_ >= kAskAgain)
    for (const auto& read : reads_) ask_for_rails(*read, now);
  pump();
}

/// Its stripes are asked for over others.
void StripedReads::give_up_stalled(std::uint8_t number) {
  for (const auto& read : reads_) {
    const auto lands_elsewhere = [&](const auto& stripe) {
      if (stripe->rail != number || stripe->late) return false;
      stripe->late = true;
      put_back(*read, stripe->range);
      if (stripe->landing != nullptr) stripe->transfer->done = nullptr;
      return stripe->landing != nullptr;
    };
    std::erase_if(read->stripes, lands_elsewhere);
  }
  rails_[number].meter.give_up_all();
}

std::string StripedReads::describe(std::uint8_t number) const {
  return number == 0 || iface_.rails().is_open(number) ? iface_.fabric(number).device() : "none";
}

void StripedReads::tell_loss(std::uint8_t number, const std::string& what) {
  iface_.tell_rails(peer_, describe(number),
                    describe(number) + " " + what + "; what was due over it is read over others");
}

/// Once all rails have been measured.
void StripedReads::tell_shares() {
  if (told_) return;
  std::array<const plugin::RailMeter*, kMostRails> meters;
  std::size_t good = 0;
  for (const Rail& rail : rails_)
    if (rail.state == State::kGood) meters[good++] = &rail.meter;
  const std::string shares = good < 2 ? "" : plugin::shares_of({meters.data(), good});
  if (shares.empty()) return;
  told_ = true;
  std::string all;
  for (std::uint8_t i = 0; i <= last(); ++i)
    if (rails_[i].state == State::kGood) all += (i == 0 ? "" : ", ") + describe(i);
  iface_.tell_rails(peer_, std::to_string(good) + ": " + all, "the peer's nonce was read over each; " + shares);
}

}  // namespace ashlar::network
