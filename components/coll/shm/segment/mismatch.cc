#include "components/coll/shm/segment/mismatch.h"

#include <mpi.h>

#include <optional>

#include "framework/base/failure.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::uint64_t kHeadNumberMask = UINT64_MAX >> 24;  // a record's head has room for 40 bits of the number

ComparedCall read(const CallRecord& record, std::uint64_t head) {
  const std::uint64_t rest = record.root_bytes.load(std::memory_order_relaxed);
  return {.what = static_cast<Collective>((head & 0xff) - 1),
          .root = static_cast<Rank>(rest >> kNumberBits),
          .bytes = rest & kNumberMask};
}

ComparedCall own(const Ticket& ticket) {
  const Call& call = *ticket.call;
  return {.what = call.what, .root = call.root, .bytes = static_cast<std::uint64_t>(call.bytes)};
}

/// The call of rank r that has `number` among its numbers, if it has come so far.
std::optional<ComparedCall> find(const SegmentLayout& layout, std::uint32_t r, std::uint64_t number) {
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    const CallRecord& record = layout.record(slot, r);
    const std::uint64_t head = record.head.load(std::memory_order_acquire);
    const std::uint64_t behind = ((number & kHeadNumberMask) - (head >> 24)) & kHeadNumberMask;
    if (head != 0 && behind <= (head >> 8 & 0xffff)) return read(record, head);
  }
  return std::nullopt;
}

}  // namespace

bool flags_agree(const Ticket& ticket) {
  for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
    if (ticket.line(r).flag.load(std::memory_order_relaxed) != ticket.flag()) return false;
  }
  return true;
}

// Where ranks count differently, they do since a call that all began with one number: that call's records differ.
bool records_agree(const Ticket& ticket) {
  for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
    const CallRecord& record = ticket.layout().record(ticket.first, r);
    const std::uint64_t head = record.head.load(std::memory_order_acquire);
    if (head == 0 || head >> 24 != (ticket.first & kHeadNumberMask)) continue;
    if (read(record, head) != own(ticket)) return false;
  }
  return true;
}

Status mismatch(const Ticket& ticket) {
  const ComparedCall mine = own(ticket);
  for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
    const std::optional<ComparedCall> theirs = find(ticket.layout(), r, ticket.number);
    if (r == ticket.me() || !theirs || *theirs == mine) continue;
    return calls_differ(mine, {.rank = ticket.member->wire.rank_in_whole(static_cast<Rank>(r))}, *theirs);
  }
  return fail(MPI_ERR_COUNT, "coll.other_arguments");
}

}  // namespace ashlar::coll::shm
