// Updates by a transport's atomic operations, and the others by the target itself. The transport's are atomic beside
// the atomic instructions by which the target makes its own (guard_own), so any mixture of the two is.
#include <mpi.h>

#include <bit>
#include <cstring>
#include <utility>

#include "components/rma/native/state.h"
#include "framework/base/failure.h"
#include "framework/rma/elements.h"
#include "framework/rma/whole.h"

namespace ashlar::rma::native {
namespace {

using Code = ReduceOp::Code;

constexpr int kNone = -1;

/// The integers whose sums wrap around, which are those of the transport.
bool is_integer(const Datatype& element) {
  const BasicClass of = element.basic_class();
  return of == BasicClass::kInteger || of == BasicClass::kFortranInteger || of == BasicClass::kMultiLanguage;
}

/// What the transport calls the operation; kNone: it has none like it.
int amo_of(const Update& u) {
  if (u.compare != nullptr) return ASHLAR_AMO_COMPARE_SWAP;
  const bool bits = is_integer(u.element) || u.element.basic_class() == BasicClass::kByte;
  switch (u.op.code()) {
    case Code::kSum:
      return is_integer(u.element) ? ASHLAR_AMO_ADD : kNone;
    case Code::kBand:
      return bits ? ASHLAR_AMO_AND : kNone;
    case Code::kBor:
      return bits ? ASHLAR_AMO_OR : kNone;
    case Code::kBxor:
      return bits ? ASHLAR_AMO_XOR : kNone;
    case Code::kReplace:
      return ASHLAR_AMO_SWAP;
    case Code::kNoOp:
      return ASHLAR_AMO_OR;  // with 0
    default:
      return kNone;
  }
}

/// The transport's operation for the update; kNone: the target makes it.
int amo_for(const NativeWindow& state, const ToTarget& to, const Update& u) {
  if (!atomic_width(u.element) || !u.place.type->dense()) return kNone;
  const auto width = static_cast<std::uint64_t>(u.element.size());
  const auto bytes = static_cast<std::uint64_t>(u.place.count) * static_cast<std::uint64_t>(u.place.type->size());
  if (bytes / width > state.config.atomic_elements) return kNone;
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(u.place.in(nullptr).data);
  if ((state.window.areas[to.rank].address + offset) % width != 0) return kNone;
  if ((u.reads_origin() && !u.origin.dense()) || (u.fetches() && !u.result.dense())) return kNone;
  const int op = amo_of(u);
  return op != kNone && (to.attributes.amo_ops[std::countr_zero(width)] >> op & 1) != 0 ? op : kNone;
}

struct AtomicPart final : Part {
  ashlar_result issue(ashlar_endpoint& to, ashlar_completion* done) override {
    return to.ops->amo(&to, op, width, key, offset, operand, compare, result, done);
  }
  const ashlar_key* key = nullptr;
  int op = 0;
  std::uint32_t width = 0;
  std::uint64_t offset = 0, operand = 0, compare = 0;
  std::byte* result = nullptr;
};

std::uint64_t integer_at(const void* at, std::uint32_t width) {
  return with_word(width, [at](auto word) -> std::uint64_t {
    std::memcpy(&word, at, sizeof word);
    return word;
  });
}

/// One atomic operation for each element.
Status start(NativeWindow& state, ToTarget& to, const Update& u, int op) {
  const LaneGuard guard(state.window.lane().lock);
  Operation* operation = nullptr;
  ASHLAR_TRY(begin(state, to, "accumulate", u.done, &operation));
  AtomicPart part;
  part.key = &to.key;
  part.op = op;
  part.width = static_cast<std::uint32_t>(u.element.size());
  part.offset = reinterpret_cast<std::uintptr_t>(u.place.in(nullptr).data);
  if (u.compare != nullptr) part.compare = integer_at(u.compare, part.width);
  const auto* from = u.reads_origin() ? static_cast<const std::byte*>(u.origin.data) : nullptr;
  if (u.fetches()) part.result = static_cast<std::byte*>(u.result.data);
  to.atomic = true;
  if (part.result == nullptr) to.unflushed = true;
  const auto count =
      static_cast<std::uint64_t>(u.place.count) * static_cast<std::uint64_t>(u.place.type->size()) / part.width;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (from != nullptr) part.operand = integer_at(from + i * part.width, part.width);
    state.counters.atomics.add();
    if (!add_part(*operation, part)) break;
    part.offset += part.width;
    if (part.result != nullptr) part.result += part.width;
  }
  return leave(*operation, u.target);
}

/// Whether the accumulates of this process to one target take place in the order of its calls.
bool ordered(const RmaWindow& window) {
  const Hints& hints = window.hints;
  return hints.rar || hints.raw || hints.war || hints.waw;
}

}  // namespace

Status update(const Update& u) {
  if (u.place.count == 0 || u.place.type->size() == 0) return {};
  NativeWindow& state = state_of(u.window);
  ToTarget& to = state.to(u.target);
  const int op = amo_for(state, to, u);
  // One kind waits for the other: they travel apart.
  if (op != kNone) {
    if (to.asked && ordered(u.window)) {
      to.asked = LaneLock::threads_on();
      if (to.others->flush != nullptr) ASHLAR_TRY(to.others->flush(u.window, u.target, true));
    }
    return start(state, to, u, op);
  }
  {
    const LaneGuard guard(u.window.lane().lock);
    state.counters.asked.add();
    if (ordered(u.window) && std::exchange(to.atomic, false)) ASHLAR_TRY(drain(state, to, u.target, true));
    to.asked = true;
  }
  return to.others->update(u);
}

Status flush(RmaWindow& window, Target& target, bool remote) {
  NativeWindow& state = state_of(window);
  ToTarget& to = state.to(target);
  Status own;
  bool asked = false;
  {
    const LaneGuard guard(window.lane().lock);
    own = drain(state, to, target, remote);
    const Status failure = std::exchange(to.failure, Status());
    if (own.ok()) own = failure;
    asked = to.asked;
    if (remote && !LaneLock::threads_on()) to.asked = false;
  }
  const Status others = asked && to.others->flush != nullptr ? to.others->flush(window, target, remote) : Status();
  return own.ok() ? others : own;
}

const Way native = {.name = "native", .put = put, .get = get, .update = update, .flush = flush};

}  // namespace ashlar::rma::native
