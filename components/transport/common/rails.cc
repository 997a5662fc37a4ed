#include "components/transport/common/rails.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "framework/base/hash.h"

namespace ashlar::network {
namespace {

// A peer that got an offer looks at once whether the rail leads here.
constexpr std::uint64_t kExpected = 100'000'000;

}  // namespace

Rails::~Rails() {
  for (Rail& rail : rails_) {
    if (rail.fabric == nullptr) continue;
    rail.landings.clear();
    rail.nonce.reset();
    rail.memory.reset();
    counters_.rails.lower();
  }
}

void Rails::begin(Fabric& first, const Place& place, std::uint64_t nonce, Fabric::Events& events) {
  first_ = &first;
  events_ = &events;
  place_ = place;
  nonce_ = nonce;
  rails_.resize(first.reads() ? std::min<std::size_t>(first.rails(), kMostRails - 1) : 0);
}

bool Rails::open(std::uint8_t number, std::uint64_t now) {
  Rail& rail = rails_[number - 1u];
  if (rail.fabric != nullptr) return true;
  if (now < rail.open_from) return false;
  if (start(rail, number)) return true;
  rail.nonce.reset();
  rail.memory.reset();
  rail.fabric.reset();
  rail.open_from = now + rail.pauses.next();
  return false;
}

bool Rails::start(Rail& rail, std::uint8_t number) {
  rail.fabric = first_->rail(number - 1u);
  if (rail.fabric == nullptr || rail.fabric->open(host_, place_, *events_) != ASHLAR_OK) return false;
  rail.memory = std::make_unique<Registrations>(*rail.fabric, config_, context_, counters_);
  rail.address = rail.fabric->address();
  Region* const region = rail.memory->take(&nonce_, sizeof nonce_, Fabric::kRead);
  if (region == nullptr || rail.address.empty()) return false;
  rail.nonce = std::make_unique<HeldRegion>(*rail.memory, *region, sizeof nonce_);
  counters_.rails.raise();
  return true;
}

bool Rails::close(std::uint8_t number) {
  Rail& rail = rails_[number - 1u];
  if (rail.under_way == 0 || rail.fabric->ends_soon()) {
    rail.fabric->close();
    return true;
  }
  static auto* const left = new std::vector<Rail>;  // of the process; its destructor never runs
  left->push_back(std::move(rail));
  rail = {};
  counters_.rails.lower();
  return false;
}

std::shared_ptr<const Landing> Rails::landing(std::uint8_t number, std::uint64_t bytes) {
  Rail& rail = rails_[number - 1u];
  std::unique_ptr<Landing> landing;
  if (!rail.landings.empty()) {
    landing = std::move(rail.landings.back());
    rail.landings.pop_back();
  }
  if (landing == nullptr || landing->length < bytes) {
    landing = std::make_unique<Landing>();
    landing->bytes.reset(new (std::nothrow) std::byte[bytes]);
    if (landing->bytes == nullptr) return nullptr;
    landing->length = bytes;
    if (rail.fabric->uses_known_memory()) {
      Region* const region = rail.memory->take(landing->bytes.get(), bytes, Fabric::kWritten);
      if (region == nullptr) return nullptr;
      landing->known = std::make_unique<HeldRegion>(*rail.memory, *region, bytes);
    }
  }
  return {landing.release(), [this, number](Landing* used) { rails_[number - 1u].landings.emplace_back(used); }};
}

bool Rails::offer(std::uint8_t number, const Region& region, const void* memory, RailOffer* out) const {
  const Rail& rail = rails_[number - 1u];
  if (rail.address.size() > kRailAddressMost) return false;
  *out = {.network = Hash::of(rail.fabric->network()),
          .number = number,
          .address_bytes = static_cast<std::uint16_t>(rail.address.size()),
          .reserved = 0,
          .nonce = rail.fabric->key_of(rail.nonce->region().known, &nonce_),
          .region = rail.fabric->key_of(region.known, memory),
          .address = {}};
  std::memcpy(out->address, rail.address.data(), rail.address.size());
  return true;
}

bool Rails::post(Transfer& transfer, Path to) {
  Rail& rail = rails_[transfer.rail - 1u];
  Fabric::Posted posted = Fabric::Posted::kLater;
  if (rail.waiting.empty() && rail.under_way < rail.fabric->sends()) posted = rail.fabric->post(transfer, to);
  if (posted == Fabric::Posted::kFailed) return false;
  ++busy_;
  awake_ = true;
  if (posted == Fabric::Posted::kLater) {
    rail.waiting.emplace_back(&transfer, to);
    return true;
  }
  ++rail.under_way;
  transfer.peer->transfers.insert(&transfer);
  return true;
}

void Rails::ended(std::uint8_t number) {
  --rails_[number - 1u].under_way;
  --busy_;
}

std::vector<Transfer*> Rails::take_waiting(const Endpoint& peer) {
  std::vector<Transfer*> taken;
  for (Rail& rail : rails_)
    std::erase_if(rail.waiting, [&](const auto& entry) {
      if (entry.first->peer != &peer) return false;
      taken.push_back(entry.first);
      --busy_;
      return true;
    });
  return taken;
}

void Rails::exposed(bool now) {
  now ? ++exposed_ : --exposed_;
  awake_ = true;  // until the next look finds otherwise
}

void Rails::expect(std::uint64_t now) {
  awake_until_ = now + kExpected;
  awake_ = true;
}

unsigned Rails::look(std::uint64_t now) {
  unsigned handled = 0;
  for (Rail& rail : rails_) {
    if (rail.fabric == nullptr) continue;
    handled += rail.fabric->look();
    while (!rail.waiting.empty() && rail.under_way < rail.fabric->sends()) {
      const auto [transfer, to] = rail.waiting.front();
      const Fabric::Posted posted = rail.fabric->post(*transfer, to);
      if (posted == Fabric::Posted::kLater) break;
      rail.waiting.pop_front();
      ++rail.under_way;
      transfer->peer->transfers.insert(transfer);
      if (posted == Fabric::Posted::kFailed) events_->not_transferred(*transfer, rail.fabric->reason());
    }
  }
  awake_ = exposed_ != 0 || busy_ != 0 || now < awake_until_;
  return handled;
}

/// Whether arrivals over the rail wake a process that sleeps.
void Rails::hear(Rail& rail, int epoll, bool on) {
  if (rail.wakes == on || rail.fabric->wake_fd() < 0) return;
  epoll_event event = {};
  if (on) event.events = EPOLLIN;
  const int what = rail.watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll, what, rail.fabric->wake_fd(), &event) != 0) return;
  rail.watched = true;
  rail.wakes = on;
}

bool Rails::may_sleep(int epoll) {
  for (Rail& rail : rails_) {
    if (rail.fabric == nullptr) continue;
    if (awake_ && (!rail.waiting.empty() || !rail.fabric->may_sleep())) return false;
    if (epoll >= 0) hear(rail, epoll, awake_);
  }
  return true;
}

void Rails::mute(int epoll) {
  for (Rail& rail : rails_)
    if (rail.fabric != nullptr) hear(rail, epoll, false);
}

void Rails::give_up_freed() {
  for (Rail& rail : rails_)
    if (rail.memory != nullptr) rail.memory->give_up_freed();
}

}  // namespace ashlar::network
