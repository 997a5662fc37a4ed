#include "components/transport/ofi/interface.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <iterator>

#include "framework/base/clock.h"
#include "framework/base/shared_file.h"
#include "framework/plugin/transport_component.h"
#include "framework/plugin/transport_fail.h"

// Rounds of progress, sleeping, exposed memory.
namespace ashlar::ofi {
namespace {

constexpr std::size_t kSmallInSlab = 64, kLargeInSlab = 8;
constexpr int kEntriesAtOnce = 32;
constexpr int kLooksAtOnce = 4;
constexpr int kQuietTries = 100;
constexpr std::uint64_t kLinger = 100'000'000;  // for what has not left when the interface ends
constexpr long kSleepAtMost = 500'000'000;      // ns: a process that sleeps asks for its peers, too

}  // namespace

Interface::Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context)
    : host_(host), config_(config), context_(context) {
  ops = &kInterfaceOps;
  pace_.set(config.look_interval, context.oversubscribed != 0);
  show(host_, &counters);
}

Interface::~Interface() {
  closing_ = true;
  for (auto& [nonce, peer] : peers_) {
    while (!peer->reads_waiting.empty()) {
      delete peer->reads_waiting.back();
      peer->reads_waiting.pop_back();
    }
    if (peer->way == Endpoint::Way::kOpen && !peer->left) control(*peer, Kind::kBye);
  }
  for (const std::uint64_t until = now_ns() + kLinger; !idle() && now_ns() < until;) {
    flush_all();
    (void)look();
  }
  provider_.close_endpoint();
  for (auto& [nonce, peer] : peers_)
    for (Read* read : peer->reads) {
      if (read->known != nullptr) fi_close(&read->known->fid);
      delete read;
    }
  for (auto& [key, region] : regions_) fi_close(&region->fid);
  hide(host_, counters);
}

ashlar_result Interface::open() {
  const bool one_node = context_.local_size >= context_.job_size;
  if (const ashlar_result opened = provider_.open(host_, config_, one_node); opened != ASHLAR_OK) return opened;
  record_.nonce = random_nonce();
  if (getrandom(record_.secret.data(), record_.secret.size(), 0) != static_cast<ssize_t>(record_.secret.size())) {
    const Descriptor source(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
    if (!source ||
        read(source.get(), record_.secret.data(), record_.secret.size()) != static_cast<ssize_t>(record_.secret.size()))
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "ofi.no_secret", nullptr, 0);
  }
  liveness_.open(provider_.address_format(), provider_.source());
  record_.alive = liveness_.own();
  record_.provider = provider_.name();
  record_.address = provider_.address();
  small_ = std::make_unique<BufferPool>(provider_, sizeof(Frame) + kMaxShort, kSmallInSlab);
  large_ = std::make_unique<BufferPool>(provider_, config_.frame_bytes, kLargeInSlab);
  receives_ = std::make_unique<BufferPool>(provider_, config_.frame_bytes, provider_.receives());
  for (std::uint64_t i = 0; i < provider_.receives(); ++i) {
    Buffer* const buffer = receives_->take();
    if (buffer == nullptr) return ashlar_fail_no_memory(&host_, "receive buffers of libfabric", config_.frame_bytes);
    buffer->what = Operation::What::kReceive;
    receive_again(*buffer);
  }
  if (!prove()) {
    const ashlar_fact facts[] = {{.name = "provider", .text = provider_.name().c_str(), .number = 0},
                                 {.name = "domain", .text = provider_.device().c_str(), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "ofi.unproved", facts, std::size(facts));
  }
  watch_arrivals();
  if (host_.record != nullptr && context_.lane == 0)
    host_.record("transport", "network of ofi", (provider_.name() + " over " + provider_.device()).c_str(),
                 "the first of those that libfabric lists; a message to this process itself went through it",
                 provider_.others().c_str(), "transport.ofi.provider, transport.ofi.domain");
  return ASHLAR_OK;
}

/// Makes the descriptor on which the process sleeps. That of a provider which is readable while nothing arrives would
/// wake it at once, for ever: none is offered then.
void Interface::watch_arrivals() {
  if (provider_.wake_fd() < 0) return;
  epoll_event event = {};
  event.events = EPOLLIN;
  Descriptor wake(epoll_create1(EPOLL_CLOEXEC));
  if (epoll_ctl(wake.get(), EPOLL_CTL_ADD, provider_.wake_fd(), &event) != 0) return;
  bool quiet = false;
  for (int i = 0; i < kQuietTries && !quiet; ++i) {
    (void)look();
    quiet = provider_.may_sleep() && epoll_wait(wake.get(), &event, 1, 0) == 0;
  }
  if (!quiet) return;
  timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec when = {.it_interval = {.tv_sec = 0, .tv_nsec = kSleepAtMost},
                           .it_value = {.tv_sec = 0, .tv_nsec = kSleepAtMost}};
  if (timerfd_settime(timer_.get(), 0, &when, nullptr) == 0 &&
      epoll_ctl(wake.get(), EPOLL_CTL_ADD, timer_.get(), &event) == 0)
    wake_ = std::move(wake);
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
  unsigned handled = 0;
  for (int looks = 0; looks < kLooksAtOnce; ++looks) {
    // Those that a send has read are older.
    std::vector<fi_cq_msg_entry> kept;
    kept.swap(kept_);
    for (const fi_cq_msg_entry& entry : kept) handled += take(entry);
    std::array<fi_cq_msg_entry, kEntriesAtOnce> entries;
    const ssize_t count = fi_cq_read(provider_.completions, entries.data(), entries.size());
    if (count == -FI_EAVAIL) {
      handled += take_error();
      continue;
    }
    for (ssize_t i = 0; i < count; ++i) handled += take(entries[static_cast<std::size_t>(i)]);
    if (count < kEntriesAtOnce) break;
  }
  if (!to_receive_.empty()) {
    std::vector<Buffer*> again;
    again.swap(to_receive_);
    for (Buffer* buffer : again) receive_again(*buffer);
  }
  if (pace_.clock() >= next_tick_) tick();
  if (handled != 0)
    pace_.heat();
  else
    counters.empty_looks.add();
  return handled;
}

ashlar_result Interface::arm() {
  flush_all();
  if (!to_flush_.empty() || !to_receive_.empty() || !kept_.empty()) return ASHLAR_AGAIN;
  if (!provider_.may_sleep()) return ASHLAR_AGAIN;
  epoll_event event;
  return wake_ && epoll_wait(wake_.get(), &event, 1, 0) > 0 ? ASHLAR_AGAIN : ASHLAR_OK;
}

bool Interface::idle() {
  bool idle = true;
  for (auto& [nonce, peer] : peers_) {
    if (peer->way == Endpoint::Way::kFailed) continue;
    // Libfabric does not tell when injected messages have left, but when a frame behind them has.
    if (peer->injected != 0 && peer->way == Endpoint::Way::kOpen) control(*peer, Kind::kWake);
    if (peer->under_way != 0 || !peer->first.empty() || !peer->waiting.empty() || peer->batch != nullptr) idle = false;
  }
  return idle;
}

ashlar_result Interface::expose(const void* address, std::uint64_t length, int kind, ashlar_key* out) {
  if (kind != ASHLAR_MEMORY_HOST) return plugin::fail_memory_kind(host_, kind);
  Key key = {.owner = record_.nonce, .key = 0, .base = 0, .length = length};
  if (length != 0) {
    fid_mr* region = nullptr;
    if (const int error = provider_.enlist(address, length, FI_REMOTE_READ, &region); error != 0) {
      const ashlar_fact facts[] = {{.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(length)},
                                   {.name = "lower", .text = provider_.reason(error), .number = 0}};
      return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "ofi.region", facts, std::size(facts));
    }
    key.key = fi_mr_key(region);
    key.base = provider_.wants(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uintptr_t>(address) : 0;
    regions_[key.key] = region;
    counters.regions.raise();
  }
  *out = {};
  std::memcpy(out->bytes, &key, sizeof key);
  return ASHLAR_OK;
}

void Interface::unexpose(const ashlar_key& given) {
  Key key;
  std::memcpy(&key, given.bytes, sizeof key);
  const auto known = regions_.find(key.key);
  if (key.length == 0 || known == regions_.end()) return;
  fi_close(&known->second->fid);
  regions_.erase(known);
  counters.regions.lower();
}

namespace {

constexpr ashlar_iface_ops functions() {
  ashlar_iface_ops all = plugin::interface_functions<Interface, Endpoint>();
  // Reads need the owner's progress with some providers, and one-sided communication does not count on that: no
  // attributes, so nothing is promised.
  all.forget = [](ashlar_iface* i, std::uint32_t peer) { static_cast<Interface*>(i)->forget(peer); };
  return all;
}

}  // namespace

constexpr ashlar_iface_ops kInterfaceOps = functions();

}  // namespace ashlar::ofi
