#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/unit/transport_ofi/double/objects.h"

// Endpoints: operations are checked when they are posted, and take place in progress().
namespace ofi_double {
namespace {

/// Messages that wait for a receive at their receiver.
constexpr std::size_t kUnreceived = 64;
constexpr unsigned kSlow = 5;

Endpoint& of(fid_ep* ep) { return *reinterpret_cast<Endpoint*>(ep); }

}  // namespace

bool refuses(Endpoint& endpoint) {
  if (endpoint.started.size() < ofi_double_settings.sends && endpoint.refusals++ >= ofi_double_settings.again) {
    endpoint.refusals = 0;
    return false;
  }
  ++ofi_double_seen.refused;
  return true;
}

bool registered(const Endpoint& endpoint, const void* memory, std::size_t length, void* description,
                std::uint64_t access, Region** out) {
  *out = nullptr;
  if ((endpoint.domain->mr_mode & FI_MR_LOCAL) == 0) return true;
  auto* const region = static_cast<Region*>(description);
  const auto* const from = static_cast<const std::byte*>(memory);
  if (region == nullptr)
    broken("FI_MR_LOCAL: memory without a description");
  else if (!region->usable)
    broken("FI_MR_ENDPOINT: a region that is not bound and enabled");
  else if (from < region->base || from + length > region->base + region->length)
    broken("FI_MR_LOCAL: memory outside of the region");
  else if ((region->access & access) == 0)
    broken("FI_MR_LOCAL: a region of another access");
  else
    return ++(*out = region)->used, true;
  return false;
}

Operation made(const Endpoint& endpoint, Operation::What what, const void* memory, std::size_t length, fi_addr_t to,
               Region* region, void* context) {
  endpoint.completions->wake();
  return {.what = what,
          .to = endpoint.peers->at(to),
          .memory = static_cast<std::byte*>(const_cast<void*>(memory)),
          .length = length,
          .copy = {},
          .address = 0,
          .key = 0,
          .region = region,
          .context = context,
          .wait = ofi_double_settings.late,
          .tag = 0,
          .ignored = 0,
          .data = 0};
}

void mark(void* context) { std::memset(context, 0x5a, sizeof(fi_context2)); }
void check_mark(const void* context) {
  const auto* const bytes = static_cast<const unsigned char*>(context);
  for (std::size_t i = 0; i < sizeof(fi_context2); ++i)
    if (bytes[i] != 0x5a) return broken("FI_CONTEXT2: the context was written while the operation was under way");
}

namespace {

ssize_t send(fid_ep* ep, const void* memory, std::size_t length, void* description, fi_addr_t to, void* context) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  if (refuses(endpoint)) return -FI_EAGAIN;
  Region* region = nullptr;
  if (!registered(endpoint, memory, length, description, FI_SEND, &region)) return -FI_EINVAL;
  ++ofi_double_seen.sends;
  mark(context);
  endpoint.started.push_back(made(endpoint, Operation::What::kSend, memory, length, to, region, context));
  return 0;
}

ssize_t inject(fid_ep* ep, const void* memory, std::size_t length, fi_addr_t to) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  if (length > ofi_double_settings.inject) return broken("fi_inject: longer than inject_size"), -FI_EINVAL;
  if (refuses(endpoint)) return -FI_EAGAIN;
  ++ofi_double_seen.injects;
  endpoint.started.push_back(made(endpoint, Operation::What::kInject, nullptr, length, to, nullptr, nullptr));
  const auto* const bytes = static_cast<const std::byte*>(memory);
  endpoint.started.back().copy.assign(bytes, bytes + length);
  return 0;
}

ssize_t receive(fid_ep* ep, void* memory, std::size_t length, void* description, fi_addr_t, void* context) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  Region* region = nullptr;
  if (!registered(endpoint, memory, length, description, FI_RECV, &region)) return -FI_EINVAL;
  mark(context);
  endpoint.receives.push_back(
      {.memory = static_cast<std::byte*>(memory), .length = length, .region = region, .context = context, .multi = {}});
  return 0;
}

ssize_t receive_many(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  const auto locked = guard();
  if (flags != FI_MULTI_RECV || message->iov_count != 1 || ofi_double_settings.multi_receive == 0) {
    broken("fi_recvmsg: flags that were not asked for");
    return -FI_EINVAL;
  }
  const iovec& to = *message->msg_iov;
  const ssize_t error = receive(ep, to.iov_base, to.iov_len, *message->desc, message->addr, message->context);
  if (error != 0) return error;
  of(ep).receives.back().multi = std::make_shared<MultiReceive>();
  ++ofi_double_seen.multi_receives;
  return 0;
}

ssize_t read(fid_ep* ep, void* memory, std::size_t length, void* description, fi_addr_t from, std::uint64_t address,
             std::uint64_t key, void* context) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  if (refuses(endpoint)) return -FI_EAGAIN;
  if (length > ofi_double_settings.longest) return broken("fi_read: longer than max_msg_size"), -FI_EMSGSIZE;
  Region* region = nullptr;
  if (!registered(endpoint, memory, length, description, FI_READ, &region)) return -FI_EINVAL;
  ++ofi_double_seen.reads;
  ++ofi_double_seen.card_reads[endpoint.domain->card];
  mark(context);
  endpoint.started.push_back(made(endpoint, Operation::What::kRead, memory, length, from, region, context));
  endpoint.started.back().address = address;
  endpoint.started.back().key = key;
  return 0;
}

ssize_t write_message(fid_ep* ep, const fi_msg_rma* message, std::uint64_t flags) {
  const auto locked = guard();
  Endpoint& endpoint = of(ep);
  if (refuses(endpoint)) return -FI_EAGAIN;
  if (message->msg_iov->iov_len > ofi_double_settings.longest)
    return broken("fi_writemsg: longer than max_msg_size"), -FI_EMSGSIZE;
  if ((flags & FI_DELIVERY_COMPLETE) == 0) broken("a put whose end does not tell that the bytes are there");
  const iovec& from = *message->msg_iov;
  const fi_rma_iov& there = *message->rma_iov;
  Region* region = nullptr;
  if (!registered(endpoint, from.iov_base, from.iov_len, *message->desc, FI_WRITE, &region)) return -FI_EINVAL;
  ++ofi_double_seen.writes;
  mark(message->context);
  endpoint.started.push_back(
      made(endpoint, Operation::What::kWrite, from.iov_base, from.iov_len, message->addr, region, message->context));
  endpoint.started.back().address = there.addr;
  endpoint.started.back().key = there.key;
  return 0;
}

/// Counts `*at` down; true when it reaches 0 by that.
bool due(unsigned* at) { return *at != 0 && --*at == 0; }

}  // namespace

std::map<std::uint64_t, Endpoint*>& endpoints() {
  static std::map<std::uint64_t, Endpoint*> all;
  return all;
}

std::unique_lock<std::recursive_mutex> guard() {
  static std::recursive_mutex mutex;
  return std::unique_lock(mutex);
}

void broken(const char* rule) {
  if (std::getenv("OFI_DOUBLE") != nullptr) {
    std::fprintf(stderr, "a rule of libfabric is broken: %s\n", rule);
    std::abort();
  }
  if (ofi_double_seen.broken[0] == 0) std::snprintf(ofi_double_seen.broken, sizeof ofi_double_seen.broken, "%s", rule);
}

int set_option(fid* object, int level, int option, const void* value, std::size_t length) {
  if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV || length != sizeof(std::size_t))
    return -FI_ENOPROTOOPT;
  std::memcpy(&reinterpret_cast<Endpoint*>(object)->least_multi_receive, value, length);
  return 0;
}

void give_functions(Endpoint& endpoint) {
  static fi_ops_msg messages = table<fi_ops_msg>([](auto& made) {
    made.recv = receive;
    made.recvmsg = receive_many;
    made.send = send;
    made.inject = inject;
  });
  static fi_ops_rma memory = table<fi_ops_rma>([](auto& made) {
    made.read = read;
    made.writemsg = write_message;
  });
  endpoint.fid.msg = &messages;
  endpoint.fid.rma = &memory;
  give_tag_functions(endpoint);
}

void Endpoint::finish(void* context, std::uint64_t flags, std::size_t length, int error, std::uint64_t tag,
                      std::uint64_t data, void* at) {
  check_mark(context);
  if (completions->done.size() >= completions->room) broken("the completion queue overruns");
  fi_cq_err_entry entry = {};
  entry.op_context = context;
  entry.flags = flags;
  entry.len = length;
  entry.err = error;
  entry.tag = tag;
  entry.data = data;
  entry.buf = at;
  completions->done.push_back(entry);
}

/// 0, or an error of libfabric.
int Endpoint::transfer(const Operation& operation) {
  const bool writes = operation.what == Operation::What::kWrite;
  const auto owner = endpoints().find(operation.to);
  if (owner == endpoints().end()) return FI_EHOSTUNREACH;
  const Domain& theirs = *owner->second->domain;
  const auto region = theirs.regions.find(operation.key);
  if (region == theirs.regions.end()) return FI_EACCES;
  const Region& found = *region->second;
  const std::byte* const there = (theirs.mr_mode & FI_MR_VIRT_ADDR) != 0
                                     ? reinterpret_cast<const std::byte*>(operation.address)
                                     : found.base + operation.address;
  if (!found.usable || (found.access & (writes ? FI_REMOTE_WRITE : FI_REMOTE_READ)) == 0 || there < found.base ||
      there + operation.length > found.base + found.length)
    return FI_EACCES;
  if (writes && ofi_double_settings.puts == 2) return 0;
  if (writes)
    std::memcpy(const_cast<std::byte*>(there), operation.memory, operation.length);
  else if (domain->card != 0 && domain->card == ofi_double_settings.foreign_card)
    std::memset(operation.memory, 0x77, operation.length);
  else
    std::memcpy(operation.memory, there, operation.length);
  return 0;
}

void Endpoint::progress() {
  const bool is_card = domain->card != 0;
  if (is_card && domain->card == ofi_double_settings.dead_card) return;
  look_for_messages();
  for (auto at = slow.begin(); at != slow.end();) {
    if (ofi_double_settings.slow_stay || at->wait-- > 0) {
      ++at;
      continue;
    }
    give(at->to, at->bytes);
    at = slow.erase(at);
  }
  while (!started.empty()) {
    Operation& operation = started.front();
    if (operation.wait > 0) {
      --operation.wait;
      break;
    }
    const auto there = endpoints().find(operation.to);
    if (operation.what == Operation::What::kPeek || operation.what == Operation::What::kCancel) {
      const Operation taken = operation;
      started.pop_front();
      taken.what == Operation::What::kPeek ? peek(taken) : cancel(taken);
      continue;
    }
    // Resource management (FI_RM_ENABLED): who receives nothing is sent no more.
    const bool transfers = operation.what == Operation::What::kRead || operation.what == Operation::What::kWrite;
    if (!transfers && there != endpoints().end() && there->second->arrived.size() >= kUnreceived) break;
    if (operation.region != nullptr) --operation.region->used;
    if (operation.what == Operation::What::kTagged) {
      const bool fails = due(&ofi_double_settings.fail_send);
      if (!fails && there != endpoints().end())
        there->second->deliver({.from = address,
                                .tag = operation.tag,
                                .data = operation.data,
                                .bytes = {operation.memory, operation.memory + operation.length}});
      finish(operation.context, FI_SEND | FI_TAGGED, 0, fails ? FI_ECONNABORTED : 0);
    } else if (transfers) {
      const bool fails = is_card && domain->card == ofi_double_settings.failing_card;
      const int error = fails || due(&ofi_double_settings.fail_read) ? FI_EIO : transfer(operation);
      finish(operation.context, FI_RMA | (operation.what == Operation::What::kRead ? FI_READ : FI_WRITE), 0, error);
    } else {
      const bool injected = operation.what == Operation::What::kInject;
      const bool fails = !injected && due(&ofi_double_settings.fail_send);
      if (!fails && there != endpoints().end() && ofi_double_settings.stray != 0)
        there->second->arrived.emplace_back(ofi_double_settings.stray, std::byte{0x33});
      if (!fails && there != endpoints().end())
        there->second->arrived.emplace_back(
            injected ? operation.copy : std::vector<std::byte>(operation.memory, operation.memory + operation.length));
      if (!fails && there != endpoints().end()) there->second->completions->wake();
      if (!injected) finish(operation.context, FI_SEND | FI_MSG, 0, fails ? FI_ECONNABORTED : 0);
    }
    started.pop_front();
  }
  while (!arrived.empty() && !receives.empty() && may_receive()) {
    const std::vector<std::byte> message = std::move(arrived.front());
    const Receive to = take_receive(message.size());
    arrived.pop_front();
    if (ofi_double_settings.slow_from != 0 && message.size() >= ofi_double_settings.slow_from)
      slow.push_back({to, message, kSlow});
    else
      give(to, message);
  }
}

/// Resource management (FI_RM_ENABLED): messages for which the completion queue has no room wait. Other operations have
/// theirs there.
bool Endpoint::may_receive() const {
  return receives.front().multi == nullptr ||
         completions->done.size() + slow.size() + ofi_double_settings.sends + 2 < completions->room;
}

Receive Endpoint::take_receive(std::size_t length) {
  Receive& first = receives.front();
  Receive taken = first;
  if (first.multi == nullptr) {
    receives.pop_front();
    return taken;
  }
  MultiReceive& multi = *first.multi;
  taken.memory += multi.taken;
  taken.length -= multi.taken;
  multi.taken += std::min(length, taken.length);
  ++multi.under_way;
  multi.is_consumed = first.length - multi.taken < least_multi_receive;
  if (multi.is_consumed) receives.pop_front();
  return taken;
}

void Endpoint::give(const Receive& to, const std::vector<std::byte>& message) {
  const bool releases = to.ends();
  if (releases && to.region != nullptr) --to.region->used;
  ++ofi_double_seen.receives;
  const bool fits = message.size() <= to.length;
  const int error = due(&ofi_double_settings.fail_receive) ? FI_EIO : fits ? 0 : FI_ETRUNC;
  std::memcpy(to.memory, message.data(), fits ? message.size() : to.length);
  if (to.multi == nullptr) return finish(to.context, FI_RECV | FI_MSG, message.size(), error);
  const bool at_once = releases && ofi_double_settings.multi_receive == 1;
  finish(to.context, FI_RECV | FI_MSG | (at_once ? FI_MULTI_RECV : 0), message.size(), error, 0, 0, to.memory);
  if (releases && !at_once) finish(to.context, FI_MULTI_RECV, 0, 0);
}

}  // namespace ofi_double
