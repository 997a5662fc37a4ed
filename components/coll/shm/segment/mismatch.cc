#include "components/coll/shm/segment/mismatch.h"

#include <mpi.h>

namespace ashlar::coll::shm {
namespace {

constexpr std::uint64_t kHeadNumberMask = UINT64_MAX >> 24;  // a record's head has room for 40 bits of the number

/// What a rank called.
struct RecordedCall {
  bool known = false;
  Collective what = Collective::kBarrier;
  Rank root = 0;
  MPI_Count bytes = 0;

  bool operator==(const RecordedCall&) const = default;
};

RecordedCall read(const CallRecord& record, std::uint64_t head) {
  const std::uint64_t rest = record.root_bytes.load(std::memory_order_relaxed);
  return RecordedCall{.known = true,
                      .what = static_cast<Collective>((head & 0xff) - 1),
                      .root = static_cast<Rank>(rest >> kNumberBits),
                      .bytes = static_cast<MPI_Count>(rest & kNumberMask)};
}

RecordedCall own(const Ticket& ticket) {
  return RecordedCall{.known = true, .what = ticket.call->what, .root = ticket.call->root, .bytes = ticket.call->bytes};
}

/// The call of rank r that has `number` among its numbers, if it has come so far.
RecordedCall find(const SegmentLayout& layout, std::uint32_t r, std::uint64_t number) {
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    const CallRecord& record = layout.record(slot, r);
    const std::uint64_t head = record.head.load(std::memory_order_acquire);
    const std::uint64_t behind = ((number & kHeadNumberMask) - (head >> 24)) & kHeadNumberMask;
    if (head != 0 && behind <= (head >> 8 & 0xffff)) return read(record, head);
  }
  return RecordedCall{};
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
  const RecordedCall mine = own(ticket);
  for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
    const RecordedCall theirs = find(ticket.layout(), r, ticket.number);
    if (r == ticket.me() || !theirs.known || theirs == mine) continue;
    if (theirs.what != mine.what) {
      const char *const there = name_of(theirs.what), *const here = name_of(mine.what);
      return Status::fail(MPI_ERR_OTHER,
                          "the ranks are in different collectives: rank %u called MPI_%c%s, this rank MPI_%c%s; "
                          "collectives are called in the same order by all ranks of a communicator",
                          r, there[0] - 'a' + 'A', there + 1, here[0] - 'a' + 'A', here + 1);
    }
    if (theirs.root != mine.root) {
      return Status::fail(MPI_ERR_ROOT, "the ranks do not agree: rank %u passed root %d, this rank root %d", r,
                          theirs.root, mine.root);
    }
    return Status::fail(theirs.bytes > mine.bytes ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                        "the ranks do not agree: rank %u passed %lld bytes (%s), this rank %lld", r,
                        static_cast<long long>(theirs.bytes), quantity_of(mine.what),
                        static_cast<long long>(mine.bytes));
  }
  return Status::fail(MPI_ERR_COUNT,
                      "the ranks do not agree in their arguments, in this call or in one before it; "
                      "check.collectives=true shows the arguments of each");
}

Status sizes_differ(Rank from, MPI_Count sent, Rank to, MPI_Count expected) {
  return Status::fail(sent > expected ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                      "the ranks do not agree: rank %d sends %lld bytes to rank %d, which expects %lld", from,
                      static_cast<long long>(sent), to, static_cast<long long>(expected));
}

}  // namespace ashlar::coll::shm
