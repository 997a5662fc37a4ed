// What a process does to its own memory by the functions of remote memory.
#include "components/transport/self/remote.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "components/transport/self/loopback.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::loopback {
namespace {

constexpr std::uint32_t kMostPieces = 1024;

struct Key {
  std::uint64_t address, length;
};

Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }

// Checks a key; the address of byte `offset`, or nullptr with the failure in `*result`.
std::byte* place(const Endpoint& ep, const ashlar_key* key, std::uint64_t offset, std::uint64_t length,
                 ashlar_result* result) {
  Key k;
  std::memcpy(&k, key->bytes, sizeof k);
  if (offset <= k.length && length <= k.length - offset) return reinterpret_cast<std::byte*>(k.address) + offset;
  *result = plugin::fail_outside(ep.iface->host(), ep.peer, offset, length, k.length);
  return nullptr;
}

ashlar_result copy_pieces(ashlar_endpoint* e, bool writes, const ashlar_key* key, const ashlar_piece* pieces,
                          std::uint32_t count) {
  ashlar_result result = ASHLAR_OK;
  for (std::uint32_t i = 0; i < count && result == ASHLAR_OK; ++i) {
    const ashlar_piece& piece = pieces[i];
    std::byte* const there = place(self(e), key, piece.offset, piece.length, &result);
    if (there != nullptr)
      std::memmove(writes ? there : static_cast<std::byte*>(piece.local), writes ? piece.local : there, piece.length);
  }
  return result;
}

[[gnu::cold]] ashlar_result no_such_amo(const Endpoint& ep, int op, std::uint32_t width) {
  const ashlar_fact given[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                               {.name = "op", .text = nullptr, .number = op},
                               {.name = "width", .text = nullptr, .number = width}};
  return ashlar_fail_with(&ep.iface->host(), ASHLAR_ERR_ARG, "transport.no_amo", given, std::size(given));
}

/// What was there before.
template <class Word>
Word update(Word* at, int op, Word operand, Word compare) {
  switch (op) {
    case ASHLAR_AMO_ADD:
      return __atomic_fetch_add(at, operand, __ATOMIC_ACQ_REL);
    case ASHLAR_AMO_AND:
      return __atomic_fetch_and(at, operand, __ATOMIC_ACQ_REL);
    case ASHLAR_AMO_OR:
      return __atomic_fetch_or(at, operand, __ATOMIC_ACQ_REL);
    case ASHLAR_AMO_XOR:
      return __atomic_fetch_xor(at, operand, __ATOMIC_ACQ_REL);
    case ASHLAR_AMO_SWAP:
      return __atomic_exchange_n(at, operand, __ATOMIC_ACQ_REL);
    default:
      __atomic_compare_exchange_n(at, &compare, operand, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
      return compare;
  }
}

template <class Word>
void update_at(std::byte* at, int op, std::uint64_t operand, std::uint64_t compare, void* result) {
  const Word was = update(reinterpret_cast<Word*>(at), op, static_cast<Word>(operand), static_cast<Word>(compare));
  if (result != nullptr) std::memcpy(result, &was, sizeof was);
}

}  // namespace

ashlar_key key_of(const void* address, std::uint64_t length) {
  const Key key{.address = reinterpret_cast<std::uint64_t>(address), .length = length};
  ashlar_key out = {};
  std::memcpy(out.bytes, &key, sizeof key);
  return out;
}

ashlar_result get(ashlar_endpoint* e, void* to, const ashlar_key* key, std::uint64_t offset, std::uint64_t length,
                  ashlar_completion*) {
  if (length == 0) return ASHLAR_OK;
  ashlar_result result = ASHLAR_OK;
  if (const std::byte* from = place(self(e), key, offset, length, &result)) std::memmove(to, from, length);
  return result;
}

ashlar_result put(ashlar_endpoint* e, const void* from, const ashlar_key* key, std::uint64_t offset,
                  std::uint64_t length, ashlar_completion*) {
  if (length == 0) return ASHLAR_OK;
  ashlar_result result = ASHLAR_OK;
  if (std::byte* to = place(self(e), key, offset, length, &result)) std::memmove(to, from, length);
  return result;
}

ashlar_result getv(ashlar_endpoint* e, const ashlar_key* key, const ashlar_piece* pieces, std::uint32_t count,
                   ashlar_completion*) {
  return copy_pieces(e, false, key, pieces, count);
}

ashlar_result putv(ashlar_endpoint* e, const ashlar_key* key, const ashlar_piece* pieces, std::uint32_t count,
                   ashlar_completion*) {
  return copy_pieces(e, true, key, pieces, count);
}

ashlar_result amo(ashlar_endpoint* e, int op, std::uint32_t width, const ashlar_key* key, std::uint64_t offset,
                  std::uint64_t operand, std::uint64_t compare, void* result, ashlar_completion*) {
  if (op < ASHLAR_AMO_ADD || op > ASHLAR_AMO_COMPARE_SWAP) return no_such_amo(self(e), op, width);
  ashlar_result outcome = ASHLAR_OK;
  std::byte* const at = place(self(e), key, offset, width, &outcome);
  if (at == nullptr) return outcome;
  switch (reinterpret_cast<std::uintptr_t>(at) % std::max(width, 1u) == 0 ? width : 0) {
    case 1:
      update_at<std::uint8_t>(at, op, operand, compare, result);
      return ASHLAR_OK;
    case 2:
      update_at<std::uint16_t>(at, op, operand, compare, result);
      return ASHLAR_OK;
    case 4:
      update_at<std::uint32_t>(at, op, operand, compare, result);
      return ASHLAR_OK;
    case 8:
      update_at<std::uint64_t>(at, op, operand, compare, result);
      return ASHLAR_OK;
    default:
      return no_such_amo(self(e), op, width);
  }
}

// The process's own processor does all of it.
void attributes(ashlar_iface*, ashlar_iface_attributes* out) {
  constexpr std::uint32_t kAll = (1u << (ASHLAR_AMO_COMPARE_SWAP + 1)) - 1;
  if (ASHLAR_HAS(out, put_completion)) out->put_completion = ASHLAR_PUT_AT_DONE;
  if (ASHLAR_HAS(out, amo_coherent)) out->amo_coherent = 1;
  if (ASHLAR_HAS(out, amo_ops)) std::fill(std::begin(out->amo_ops), std::end(out->amo_ops), kAll);
  if (ASHLAR_HAS(out, pieces_most)) out->pieces_most = kMostPieces;
}

}  // namespace ashlar::loopback
