#include "components/coll/shm/segment/mismatch.h"

#include <mpi.h>

#include <cctype>
#include <cstdio>

#include "framework/base/failure.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::uint64_t kHeadNumberMask = UINT64_MAX >> 24;  // a record's head has room for 40 bits of the number

/// "MPI_Allreduce"
struct CallName {
  char text[40];
  explicit CallName(Collective what) {
    const char* const name = name_of(what);
    std::snprintf(text, sizeof text, "MPI_%c%s", std::toupper(static_cast<unsigned char>(name[0])), name + 1);
  }
};

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
      return fail(MPI_ERR_OTHER, "coll.other_collective",
                  {{"peer", r}, {"theirs", CallName(theirs.what).text}, {"mine", CallName(mine.what).text}});
    }
    if (theirs.root != mine.root)
      return fail(MPI_ERR_ROOT, "coll.other_root", {{"peer", r}, {"theirs", theirs.root}, {"mine", mine.root}});
    return fail(theirs.bytes > mine.bytes ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, "coll.other_bytes",
                {{"peer", r}, {"theirs", theirs.bytes}, {"quantity", quantity_of(mine.what)}, {"mine", mine.bytes}});
  }
  return fail(MPI_ERR_COUNT, "coll.other_arguments");
}

Status sizes_differ(Rank from, MPI_Count sent, Rank to, MPI_Count expected) {
  return fail(sent > expected ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, "coll.other_block",
              {{"sender", from}, {"bytes_got", sent}, {"receiver", to}, {"bytes_wanted", expected}});
}

}  // namespace ashlar::coll::shm
