#include "framework/rma/hints.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/comm/hints.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/progress/user_call.h"
#include "framework/rma/check.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

struct BoolHint {
  const char* key;
  bool Hints::*member;
};
constexpr BoolHint kPromises[] = {{"no_locks", &Hints::no_locks},
                                  {"same_size", &Hints::same_size},
                                  {"same_disp_unit", &Hints::same_disp_unit},
                                  {"alloc_shared_noncontig", &Hints::noncontiguous}};
// The orders that mpi_accumulate_ordering keeps: what is not kept is a promise of the program.
constexpr BoolHint kOrders[] = {{"rar", &Hints::rar}, {"raw", &Hints::raw}, {"war", &Hints::war}, {"waw", &Hints::waw}};
constexpr std::uint32_t kSameOp = 1u << 8;
constexpr unsigned kFirstOrder = 16;
constexpr std::uint64_t kMostAlignment = std::uint64_t{1} << 30;

bool read_number(const std::string& text, std::uint64_t* value) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  char* end = nullptr;
  *value = std::strtoull(text.c_str(), &end, 10);
  return *end == '\0';
}

Status bad_value(const char* key, const std::string& value, const char* wanted) {
  return fail(MPI_ERR_INFO_VALUE, "info.value",
              {{"argument", "info"}, {"key", key}, {"value", value}, {"wanted", wanted}});
}

/// "rar,raw", "none"; false: it has a word that is no order.
bool read_orders(std::string_view text, Hints* hints) {
  Hints read = *hints;
  for (const BoolHint& order : kOrders) read.*order.member = false;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (word == "none") continue;
    const auto* const found =
        std::ranges::find(kOrders, word, [](const BoolHint& o) { return std::string_view(o.key); });
    if (found == std::end(kOrders)) return false;
    read.*found->member = true;
  }
  *hints = read;
  return true;
}

std::string orders_of(const Hints& hints) {
  std::string text;
  for (const BoolHint& order : kOrders)
    if (hints.*order.member) text += (text.empty() ? "" : ",") + std::string(order.key);
  return text.empty() ? "none" : text;
}

}  // namespace

Status read_hints(const Info* info, Hints* hints) {
  if (info == nullptr) return {};
  for (const BoolHint& promise : kPromises) {
    const std::string* const value = info->find(promise.key);
    if (value != nullptr && (*value == "true" || *value == "false")) hints->*promise.member = *value == "true";
  }
  if (const std::string* const value = info->find("accumulate_ordering"); value != nullptr)
    static_cast<void>(read_orders(*value, hints));
  if (const std::string* const value = info->find("accumulate_ops"); value != nullptr) {
    if (*value == "same_op" || *value == "same_op_no_op") hints->same_op = *value == "same_op";
  }
  if (const std::string* const value = info->find("mpi_accumulate_granularity"); value != nullptr) {
    std::uint64_t bytes = 0;
    if (read_number(*value, &bytes)) hints->granularity = bytes;
  }
  if (const std::string* const value = info->find("mpi_minimum_memory_alignment"); value != nullptr) {
    std::uint64_t bytes = 0;
    if (!read_number(*value, &bytes) || bytes == 0 || (bytes & (bytes - 1)) != 0 || bytes > kMostAlignment)
      return bad_value("mpi_minimum_memory_alignment", *value, "a power of two, at most 2^30");
    hints->alignment = std::max(hints->alignment, static_cast<std::uint32_t>(bytes));
  }
  return {};
}

std::uint32_t bits_of(const Hints& hints) {
  std::uint32_t bits = hints.same_op ? kSameOp : 0;
  for (unsigned i = 0; i < std::size(kPromises); ++i) bits |= hints.*kPromises[i].member ? 1u << i : 0u;
  for (unsigned i = 0; i < std::size(kOrders); ++i) bits |= hints.*kOrders[i].member ? 0u : 1u << (kFirstOrder + i);
  return bits;
}

namespace {

void take_bits(std::uint32_t bits, Hints* hints) {
  hints->same_op = (bits & kSameOp) != 0;
  for (unsigned i = 0; i < std::size(kPromises); ++i) hints->*kPromises[i].member = (bits & 1u << i) != 0;
  for (unsigned i = 0; i < std::size(kOrders); ++i) hints->*kOrders[i].member = (bits & 1u << (kFirstOrder + i)) == 0;
}

}  // namespace

Hints hints_of(std::uint32_t bits) {
  Hints hints;
  take_bits(bits, &hints);
  return hints;
}

const char* differing_hint(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t differ = a ^ b;
  if ((differ & kSameOp) != 0) return "accumulate_ops";
  if (differ >> kFirstOrder != 0) return "accumulate_ordering";
  for (unsigned i = 0; i < std::size(kPromises); ++i)
    if ((differ & 1u << i) != 0 && kPromises[i].member != &Hints::noncontiguous) return kPromises[i].key;
  return nullptr;
}

void agree_on(std::span<const Card> cards, Hints* hints) {
  std::uint32_t all = ~0u;
  std::uint64_t granularity = cards.empty() ? 0 : cards[0].granularity;
  for (const Card& card : cards) {
    all &= card.hints;
    if (card.granularity != granularity) granularity = 0;
  }
  take_bits(all, hints);
  hints->granularity = granularity;
}

Status change_hints(RmaWindow& window, const Info* info) {
  constexpr std::uint32_t kNoLocks = 1;  // kPromises[0]
  constexpr std::uint32_t kOrderBits = ((1u << std::size(kOrders)) - 1) << kFirstOrder;
  constexpr std::uint32_t kChangeable = kNoLocks | kSameOp | kOrderBits;
  static_assert(kPromises[0].member == &Hints::no_locks);
  Hints wanted = window.hints;
  const Status read = read_hints(info, &wanted);
  const std::uint32_t before = bits_of(window.hints), mine = read.ok() ? bits_of(wanted) : before;
  std::uint32_t all = 0;
  const progress::UserCall call("MPI_Win_set_info", &window);
  ASHLAR_TRY(coll::allreduce(&mine, &all, 1, datatype::predefined(MPI_UINT32_T), datatype::predefined_op(MPI_BAND),
                             *window.comm));
  take_bits((before & ~kChangeable) | (all & kChangeable), &window.hints);
  if (read.ok() && info != nullptr) comm::promise_memory_kinds(*window.comm, *info);
  return read;
}

Status write_hints(const RmaWindow& window, Info& info) {
  const Hints& hints = window.hints;
  for (const BoolHint& promise : kPromises)
    ASHLAR_TRY(info::set(&info, promise.key, hints.*promise.member ? "true" : "false"));
  ASHLAR_TRY(info::set(&info, "accumulate_ordering", orders_of(hints).c_str()));
  ASHLAR_TRY(info::set(&info, "accumulate_ops", hints.same_op ? "same_op" : "same_op_no_op"));
  ASHLAR_TRY(info::set(&info, "mpi_accumulate_granularity", std::to_string(hints.granularity).c_str()));
  ASHLAR_TRY(info::set(&info, "mpi_minimum_memory_alignment", std::to_string(hints.alignment).c_str()));
  ASHLAR_TRY(comm::write_memory_kinds(*window.comm, info));
  std::string ways;
  window.targets.each([&](const Target& target) {
    const std::string way = reached(target).copies->name;
    if (target.copies == &unresolved || (", " + ways + ",").find(", " + way + ",") != std::string::npos) return;
    ways += (ways.empty() ? "" : ", ") + way;
  });
  ASHLAR_TRY(info::set(&info, "ashlar_progress", window.lane().config.thread ? "background" : "calls"));
  return info::set(&info, "ashlar_way", ways.empty() ? "unresolved" : ways.c_str());
}

}  // namespace ashlar::rma
