#include "components/transport/common/interface.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "components/transport/common/tagged.h"
#include "framework/base/clock.h"
#include "framework/base/shared_file.h"
#include "framework/plugin/transport_component.h"
#include "framework/plugin/transport_fail.h"

// Rounds of progress, sleeping, exposed memory.
namespace ashlar::network {
namespace {

constexpr std::size_t kSmallInSlab = 64, kLargeInSlab = 8;
constexpr std::uint64_t kLinger = 100'000'000;  // for what has not left when the interface ends
constexpr std::uint64_t kRestless =
    2'000'000;                              // ns without an event, after which a library that allows no sleep is masked
constexpr long kNap = 1'000'000;            // ns asleep, while it is masked
constexpr long kSleepAtMost = 500'000'000;  // ns: a process that sleeps asks for its peers, too

}  // namespace

Interface::Interface(const ashlar_host& host, const Traits& traits, std::unique_ptr<Fabric> fabric,
                     const Config& config, const ashlar_transport_context& context)
    : host_(host),
      traits_(traits),
      fabric_(std::move(fabric)),
      config_(config),
      context_(context),
      memory_(*fabric_, config_, context_, counters),
      rails_(host_, config_, context_, counters) {
  ops = &kInterfaceOps;
  pace_.set(config.look_interval, context.oversubscribed != 0);
  traits_.show(host_, counters);
}

Interface::~Interface() {
  closing_ = true;
  for (auto& [nonce, peer] : peers_) {
    (void)give_up_striped(*peer);
    while (!peer->transfers_waiting.empty()) {
      dispose(*peer->transfers_waiting.back());
      peer->transfers_waiting.pop_back();
    }
    if (peer->way == Endpoint::Way::kOpen && !peer->left) control(*peer, Kind::kBye);
  }
  for (const std::uint64_t until = now_ns() + kLinger; !idle() && now_ns() < until;) {
    flush_all();
    (void)look();
  }
  fabric_->close();
  std::array<bool, kMostRails> left = {};  // to the library, with its transfers
  for (std::uint8_t rail = 1; rail <= rails_.last(); ++rail) {
    if (!rails_.is_open(rail)) continue;
    for (auto& [name, exposed] : exposed_) leave_rail(rail, exposed);
    left[rail] = !rails_.close(rail);
  }
  for (auto& [nonce, peer] : peers_)
    for (Transfer* transfer : peer->transfers)
      if (!left[transfer->rail]) dispose(*transfer);
  while (TagReceive* receive = tags_.front()) dispose(*receive);
  for (const auto& [name, exposed] : exposed_) memory_.give_back(*exposed.region, exposed.bytes);
  memory_.clear();
  traits_.hide(host_, counters);
}

ashlar_result Interface::open() {
  const Place place = {.one_node = context_.local_size >= context_.job_size,
                       .local_rank = context_.local_rank,
                       .local_size = std::max(context_.local_size, 1u)};
  if (ASHLAR_HAS(&context_, tags_wanted)) fabric_->want_tags(context_.tags_wanted);
  if (const ashlar_result opened = fabric_->open(host_, place, *this); opened != ASHLAR_OK) return opened;
  record_.nonce = random_nonce();
  if (getrandom(record_.secret.data(), record_.secret.size(), 0) != static_cast<ssize_t>(record_.secret.size())) {
    const Descriptor source(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
    if (!source || ::read(source.get(), record_.secret.data(), record_.secret.size()) !=
                       static_cast<ssize_t>(record_.secret.size()))
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.no_secret", nullptr, 0);
  }
  liveness_.open(fabric_->source());
  record_.alive = liveness_.own();
  record_.name = fabric_->name();
  record_.frame_bytes = fabric_->frame_bytes();
  record_.address = fabric_->address();
  if (record_.address.size() > kAddressMost) {
    const ashlar_fact facts[] = {
        {.name = "library", .text = traits_.library, .number = 0},
        {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(record_.address.size())},
        {.name = "most", .text = nullptr, .number = static_cast<std::int64_t>(kAddressMost)},
        {.name = "settings", .text = traits_.settings, .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.long_address", facts, std::size(facts));
  }
  small_ = std::make_unique<BufferPool>(*fabric_, sizeof(Frame) + kMaxShort, kSmallInSlab);
  large_ = std::make_unique<BufferPool>(*fabric_, fabric_->frame_bytes(), kLargeInSlab);
  if (!prove()) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(config_.handshake_timeout) / 1e9);
    const ashlar_fact facts[] = {{.name = "library", .text = traits_.library, .number = 0},
                                 {.name = "name", .text = fabric_->name().c_str(), .number = 0},
                                 {.name = "device", .text = fabric_->device().c_str(), .number = 0},
                                 {.name = "seconds", .text = seconds, .number = 0},
                                 {.name = "settings", .text = traits_.settings, .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.unproved", facts, std::size(facts));
  }
  std::string tags = fabric_->tag_bits() != 0 ? "" : fabric_->no_tags();
  if (fabric_->senders_in_tags() && context_.job_size > std::uint32_t{1} << kSenderBits) {
    tags = "the job has more processes than its tags can name";
  } else if (fabric_->tag_bits() != 0) {
    const char* const wrong = prove_tags();
    if (wrong == nullptr)
      record_.tag_bits = fabric_->tag_bits();
    else
      tags = std::string("a message to this process itself showed that ") + wrong;
  }
  rails_.begin(*fabric_, place, record_.nonce, *this);
  watch_arrivals();
  if (host_.record != nullptr && context_.lane == 0)
    host_.record(
        "transport", (std::string("network of ") + traits_.component).c_str(),
        (fabric_->name() + " over " + fabric_->device()).c_str(),
        (fabric_->why() + "; a message to this process itself went through it; " +
         (record_.tag_bits != 0 ? "it matches tags of " + std::to_string(record_.tag_bits) + " bits"
                                : "no tags: " + tags) +
         (fabric_->why_rails().empty() ? "" : "; " + fabric_->why_rails()) + about_hooks() +
         (by_clock_ ? "; its arrivals do not wake a process that sleeps, so the clock does, every millisecond" : ""))
            .c_str(),
        fabric_->others().c_str(), traits_.settings);
  return ASHLAR_OK;
}

/// What becomes of registrations of the program's memory, for the record.
std::string Interface::about_hooks() const {
  const std::string setting = std::string("transport.") + traits_.component + ".memory_hooks";
  if (fabric_->has_hooks())
    return std::string("; ") + traits_.library + " may patch mmap() and its kin to learn of freed memory, as " +
           setting + " says";
  if (config_.memory_hooks)
    return std::string("; ") + traits_.library + " was loaded before " + setting + " was set, and has no hooks";
  return fabric_->keeps() ? "; memory of the program is registered for each message (" + setting + ")" : "";
}

/// Makes the descriptor on which the process sleeps: arrivals make it readable, or the clock alone, where the library
/// does not do as it says.
void Interface::watch_arrivals() {
  Descriptor wake(epoll_create1(EPOLL_CLOEXEC));
  timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  epoll_event event = {};
  event.events = EPOLLIN;
  by_clock_ = fabric_->wake_fd() < 0 || epoll_ctl(wake.get(), EPOLL_CTL_ADD, fabric_->wake_fd(), &event) != 0;
  if (!by_clock_ && !prove_wake(wake.get())) {
    by_clock_ = true;
    (void)epoll_ctl(wake.get(), EPOLL_CTL_DEL, fabric_->wake_fd(), nullptr);
  }
  if (wake_after(kSleepAtMost) && epoll_ctl(wake.get(), EPOLL_CTL_ADD, timer_.get(), &event) == 0)
    wake_ = std::move(wake);
}

/// Once after this time, and then as often as a process that sleeps wakes in any case.
bool Interface::wake_after(long ns) {
  const itimerspec when = {.it_interval = {.tv_sec = 0, .tv_nsec = kSleepAtMost},
                           .it_value = {.tv_sec = 0, .tv_nsec = ns}};
  return timerfd_settime(timer_.get(), 0, &when, nullptr) == 0;
}

void Interface::read_timer() {
  std::uint64_t expired = 0;
  if (timer_) (void)!::read(timer_.get(), &expired, sizeof expired);
}

ashlar_result Interface::write_address(void* out, std::uint32_t* length) const {
  *length = write(record_, out, *length);
  if (*length != 0) return ASHLAR_OK;
  return ashlar_fail_no_memory(&host_, "the address of the process", record_.address.size());
}

unsigned Interface::progress() {
  pace_.begin_round();
  if (!to_flush_.empty()) flush_all();
  return pace_.due() ? look() : 0;
}

unsigned Interface::look() {
  pace_.begin_look();
  counters.looks.add();
  has_looked_ = true;
  const unsigned handled = fabric_->look();
  const unsigned over_rails = rails_.awake() ? rails_.look(pace_.clock()) : 0;
  if (!to_post_.empty() && !closing_) [[unlikely]]
    post_waiting();
  if (!taking_.empty()) [[unlikely]]
    give_up_claims();
  if (pace_.clock() >= next_tick_) tick();
  if (handled + over_rails != 0) {
    pace_.heat();
    restless_since_ = 0;
  } else {
    counters.empty_looks.add();
  }
  return handled + over_rails;
}

ashlar_result Interface::arm() {
  if (rests_) end_rest();  // another thread sleeps, and has not been woken
  flush_all();
  epoll_event event;
  // What has come by now only a look tells where the library does not.
  const bool quiet = by_clock_ ? std::exchange(has_looked_, false)
                               : fabric_->may_sleep() && rails_.may_sleep(wake_.get()) &&
                                     !(wake_ && epoll_wait(wake_.get(), &event, 1, 0) > 0);
  if (quiet && to_flush_.empty()) {
    restless_since_ = 0;
    if (by_clock_ && wake_) rest();
    return ASHLAR_OK;
  }
  const std::uint64_t now = now_ns();
  if (restless_since_ == 0) restless_since_ = now;
  if (now - restless_since_ < kRestless) return ASHLAR_AGAIN;
  if (wake_) rest();
  return ASHLAR_OK;
}

/// While a peer that computes has not answered a new connection, libraries keep their descriptors readable, or do not
/// let the process sleep, though there is nothing to do. Then the clock wakes it, until something happens.
void Interface::rest() {
  (void)wake_after(kNap);
  hear_library(false);
  rails_.mute(wake_.get());
  rests_ = true;
}

void Interface::disarm() {
  pace_.heat();
  if (rests_) end_rest();
}

void Interface::end_rest() {
  rests_ = false;
  read_timer();
  hear_library(true);
}

/// Whether arrivals wake the process.
void Interface::hear_library(bool on) {
  if (by_clock_) return;
  epoll_event event = {};
  if (on) event.events = EPOLLIN;
  (void)epoll_ctl(wake_.get(), EPOLL_CTL_MOD, fabric_->wake_fd(), &event);
}

bool Interface::idle() {
  bool idle = true;
  for (auto& [nonce, peer] : peers_) {
    if (peer->way == Endpoint::Way::kFailed) continue;
    // The library does not tell when messages have left that it has copied, but it does of a frame behind them.
    if (peer->injected != 0 && peer->way == Endpoint::Way::kOpen && !queues(*peer)) {
      control(*peer, Kind::kWake);
      peer->injected = 0;
    }
    if (peer->under_way != 0 || !peer->first.empty() || !peer->waiting.empty() || peer->batch != nullptr ||
        (peer->at != kNoPath && !fabric_->left(peer->at)))
      idle = false;
  }
  return idle;
}

ashlar_result Interface::expose(const void* address, std::uint64_t length, int kind, ashlar_key* out) {
  if (kind != ASHLAR_MEMORY_HOST) return plugin::fail_memory_kind(host_, kind);
  Key key = {.owner = record_.nonce, .length = length, .remote = {}};
  if (length != 0) {
    Region* const region = memory_.take(address, length, Fabric::kRead | (fabric_->puts() ? Fabric::kPut : 0u));
    if (region == nullptr) return fail_to_register(length);
    key.remote = fabric_->key_of(region->known, address);
    exposed_.emplace(std::to_array(key.remote.bytes),
                     Exposed{.address = address, .base = key.remote.base, .region = region, .bytes = length});
  }
  *out = {};
  std::memcpy(out->bytes, &key, sizeof key);
  return ASHLAR_OK;
}

void Interface::unexpose(const ashlar_key& given) {
  Key key;
  std::memcpy(&key, given.bytes, sizeof key);
  if (key.length == 0 || key.owner != record_.nonce) return;
  // What has one name is one region, exposed several times.
  const auto [first, last] = exposed_.equal_range(std::to_array(key.remote.bytes));
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second.bytes != key.length || entry->second.base != key.remote.base) continue;
    Region& region = *entry->second.region;
    for (std::uint8_t rail = 1; rail <= rails_.last(); ++rail) leave_rail(rail, entry->second);
    exposed_.erase(entry);
    return memory_.give_back(region, key.length);
  }
}

/// One-sided communication counts on transfers only if they need nothing of the memory's owner.
void Interface::attributes(ashlar_iface_attributes* out) const {
  ashlar_iface_attributes all = {};
  all.size = out->size;
  all.put_completion = fabric_->puts() ? ASHLAR_PUT_AT_DONE : ASHLAR_PUT_UNKNOWN;
  all.tag_bits = record_.tag_bits;
  all.tag_most = static_cast<std::uint32_t>(std::min<std::uint64_t>(fabric_->frame_bytes() - sizeof(Frame), kTagMost));
  all.tags_pay = fabric_->tags_pay() ? 1 : 0;
  std::memcpy(static_cast<void*>(out), static_cast<const void*>(&all), std::min<std::size_t>(out->size, sizeof all));
}

ashlar_result Interface::fail_to_register(std::uint64_t bytes) {
  const std::string reason = fabric_->reason();
  const ashlar_fact facts[] = {{.name = "library", .text = traits_.library, .number = 0},
                               {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(bytes)},
                               {.name = "lower", .text = reason.c_str(), .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "network.region", facts, std::size(facts));
}

namespace {

constexpr ashlar_iface_ops functions() {
  ashlar_iface_ops all = plugin::interface_functions<Interface, Endpoint>();
  all.attributes = [](ashlar_iface* i, ashlar_iface_attributes* out) { static_cast<Interface*>(i)->attributes(out); };
  all.forget = [](ashlar_iface* i, std::uint32_t peer) { static_cast<Interface*>(i)->forget(peer); };
  all.ended = [](ashlar_iface* i, ashlar_endpoint* e, const char* how) {
    static_cast<Interface*>(i)->process_ended(*static_cast<Endpoint*>(e), how);
  };
  all.tags = &kTagOps;
  return all;
}

}  // namespace

constexpr ashlar_iface_ops kInterfaceOps = functions();

}  // namespace ashlar::network
