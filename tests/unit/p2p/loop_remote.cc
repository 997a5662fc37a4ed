#include "tests/unit/p2p/loop_remote.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ashlar::test {
namespace {

std::byte* address_of(const ashlar_key* key, std::uint64_t offset) {
  std::uint64_t address;
  std::memcpy(&address, key->bytes, sizeof address);
  return reinterpret_cast<std::byte*>(address) + offset;
}

/// What goes wrong, or takes longer, before an operation begins. PENDING: nothing does.
ashlar_result hindrance(LoopIface& iface, std::uint32_t peer, ashlar_completion* done) {
  const LoopOptions& options = iface.network->options;
  if (chance(iface.random, options.again)) {
    ++iface.agains;
    return ASHLAR_AGAIN;
  }
  if (iface.network->dead(peer)) return -MPI_ERR_PROC_ABORTED;
  if (!chance(iface.random, options.put_fails)) return ASHLAR_PENDING;
  if (!chance(iface.random, options.put_pending)) return -MPI_ERR_OTHER;
  iface.remotes.push_back({.peer = peer, .act = {}, .done = done, .result = -MPI_ERR_OTHER});
  return ASHLAR_OK;
}

/// Starts what acts on the peer's memory. `here`: the origin's memory is used by it, so it is not over before.
ashlar_result start(LoopEndpoint& endpoint, std::function<void()> act, bool here, bool in_order,
                    ashlar_completion* done) {
  LoopIface& iface = *endpoint.iface;
  const LoopOptions& options = iface.network->options;
  const bool waits = in_order && std::any_of(iface.remotes.begin(), iface.remotes.end(), [&](const LoopRemote& r) {
                       return r.in_order && r.act && r.peer == endpoint.peer;
                     });
  if (waits || chance(iface.random, options.put_pending)) {
    iface.remotes.push_back({.peer = endpoint.peer, .act = std::move(act), .done = done, .in_order = in_order});
    return ASHLAR_PENDING;
  }
  if (!here && options.put_completion == ASHLAR_PUT_AT_FLUSH) {
    iface.remotes.push_back({.peer = endpoint.peer, .act = std::move(act), .done = nullptr, .in_order = in_order});
    return ASHLAR_OK;
  }
  act();
  return ASHLAR_OK;
}

/// What was there before.
template <class Word>
Word update(std::byte* at, int op, std::uint64_t operand, std::uint64_t compare) {
  auto* const word = reinterpret_cast<Word*>(at);
  const auto value = static_cast<Word>(operand);
  auto expected = static_cast<Word>(compare);
  switch (op) {
    case ASHLAR_AMO_ADD:
      return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    case ASHLAR_AMO_AND:
      return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);
    case ASHLAR_AMO_OR:
      return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);
    case ASHLAR_AMO_XOR:
      return __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST);
    case ASHLAR_AMO_SWAP:
      return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    default:
      __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      return expected;
  }
}

template <class Word>
void update_at(std::byte* at, int op, std::uint64_t operand, std::uint64_t compare, void* result) {
  const Word was = update<Word>(at, op, operand, compare);
  if (result != nullptr) std::memcpy(result, &was, sizeof was);
}

}  // namespace

ashlar_result loop_put(ashlar_endpoint* e, const void* from, const ashlar_key* key, std::uint64_t offset,
                       std::uint64_t length, ashlar_completion* done) {
  const ashlar_piece piece{.local = const_cast<void*>(from), .offset = offset, .length = length};
  return loop_putv(e, key, &piece, 1, done);
}

ashlar_result loop_putv(ashlar_endpoint* e, const ashlar_key* key, const ashlar_piece* pieces, std::uint32_t count,
                        ashlar_completion* done) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopIface& iface = *endpoint.iface;
  const ashlar_result hindered = hindrance(iface, e->peer, done);
  if (hindered != ASHLAR_PENDING) return hindered == ASHLAR_OK ? ASHLAR_PENDING : hindered;
  ++iface.puts;
  EXPECT_TRUE(count == 1 || count <= iface.network->options.pieces_most);
  // Whether it is over at once is not known yet: so what it writes is what is there now.
  std::vector<std::pair<std::byte*, std::vector<std::byte>>> data;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto* const from = static_cast<const std::byte*>(pieces[i].local);
    data.emplace_back(address_of(key, pieces[i].offset), std::vector<std::byte>(from, from + pieces[i].length));
  }
  return start(
      endpoint,
      [written = std::move(data)] {
        for (const auto& [to, bytes] : written) std::memcpy(to, bytes.data(), bytes.size());
      },
      false, false, done);
}

ashlar_result loop_getv(ashlar_endpoint* e, const ashlar_key* key, const ashlar_piece* pieces, std::uint32_t count,
                        ashlar_completion* done) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopIface& iface = *endpoint.iface;
  const ashlar_result hindered = hindrance(iface, e->peer, done);
  if (hindered != ASHLAR_PENDING) return hindered == ASHLAR_OK ? ASHLAR_PENDING : hindered;
  ++iface.gets;
  EXPECT_LE(count, iface.network->options.pieces_most);
  return start(
      endpoint,
      [key = *key, pieces, count] {
        for (std::uint32_t i = 0; i < count; ++i)
          std::memcpy(pieces[i].local, address_of(&key, pieces[i].offset), pieces[i].length);
      },
      true, false, done);
}

ashlar_result loop_amo(ashlar_endpoint* e, int op, std::uint32_t width, const ashlar_key* key, std::uint64_t offset,
                       std::uint64_t operand, std::uint64_t compare, void* result, ashlar_completion* done) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopIface& iface = *endpoint.iface;
  EXPECT_NE(iface.network->options.amo_ops >> op & 1, 0u) << "operation " << op << " is not offered";
  std::byte* const at = address_of(key, offset);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % width, 0u);
  const ashlar_result hindered = hindrance(iface, e->peer, done);
  if (hindered != ASHLAR_PENDING) return hindered == ASHLAR_OK ? ASHLAR_PENDING : hindered;
  ++iface.amos;
  const auto act = width == 1   ? update_at<std::uint8_t>
                   : width == 2 ? update_at<std::uint16_t>
                   : width == 4 ? update_at<std::uint32_t>
                                : update_at<std::uint64_t>;
  return start(
      endpoint, [=] { act(at, op, operand, compare, result); }, result != nullptr, true, done);
}

ashlar_result loop_flush(ashlar_endpoint* e, ashlar_completion* done) {
  LoopIface& iface = *static_cast<LoopEndpoint*>(e)->iface;
  if (!iface.network->options.flush) return ASHLAR_OK;
  if (chance(iface.random, iface.network->options.again)) return ASHLAR_AGAIN;
  ++iface.flushes;
  const bool nothing = std::none_of(iface.remotes.begin(), iface.remotes.end(),
                                    [e](const LoopRemote& r) { return r.peer == e->peer && r.act; });
  if (nothing) return ASHLAR_OK;
  iface.remotes.push_back({.peer = e->peer, .act = {}, .done = done, .flushes = true});
  return ASHLAR_PENDING;
}

void loop_attributes(ashlar_iface* i, ashlar_iface_attributes* out) {
  const LoopOptions& options = static_cast<LoopIface*>(i)->network->options;
  out->put_completion = options.put ? options.put_completion : 0;
  out->pieces_most = options.pieces_most;
  out->amo_coherent = options.amo ? options.amo_coherent : 0;
  out->tag_bits = options.tags ? 64 : 0;
  out->tag_most = options.tags ? options.max_bcopy : 0;
  for (std::uint32_t& ops : out->amo_ops) ops = options.amo ? options.amo_ops : 0;
}

namespace {

/// Whether something that has to come first has not acted yet.
bool must_wait(const std::deque<LoopRemote>& remotes, std::size_t which) {
  const LoopRemote& remote = remotes[which];
  for (std::size_t i = 0; i < which; ++i) {
    const LoopRemote& earlier = remotes[i];
    if (earlier.peer != remote.peer || !earlier.act) continue;
    if (remote.flushes || (remote.in_order && earlier.in_order)) return true;
  }
  return false;
}

}  // namespace

unsigned advance_remotes(LoopIface& iface) {
  unsigned events = 0;
  LoopNetwork& network = *iface.network;
  std::vector<std::size_t> order(iface.remotes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), iface.random);
  for (const std::size_t i : order) {
    LoopRemote& remote = iface.remotes[i];
    if (chance(iface.random, network.options.delay)) continue;
    if (network.dead(remote.peer)) {
      remote.act = nullptr;
      remote.result = -MPI_ERR_PROC_ABORTED;
    } else if (must_wait(iface.remotes, i)) {
      continue;
    }
    if (remote.act) std::exchange(remote.act, nullptr)();
    remote.flushes = false;
    ++events;
    // May start operations, which are behind all of these.
    if (ashlar_completion* const done = std::exchange(remote.done, nullptr)) done->done(done, iface.remotes[i].result);
  }
  std::erase_if(iface.remotes, [](const LoopRemote& r) { return !r.act && r.done == nullptr && !r.flushes; });
  return events;
}

}  // namespace ashlar::test
