#include "components/coll/shm/agree.h"

#include <mpi.h>

namespace ashlar::coll::shm {
namespace {

/// What a rank called at a number of the segment.
struct Called {
  bool known = false;
  Collective what = Collective::kBarrier;
  Rank root = 0;
  MPI_Count bytes = 0;

  bool operator==(const Called&) const = default;
};

Called called(const CallNote& note) {
  const std::uint64_t what = note.number_what.load(std::memory_order_acquire) & 0xff;
  const std::uint64_t rest = note.root_bytes.load(std::memory_order_relaxed);
  return Called{true, static_cast<Collective>(what), static_cast<Rank>(rest >> kNumberBits),
                static_cast<MPI_Count>(rest & kNumberMask)};
}

/// Of the collective that has `number` on rank r, as far as it has got there.
Called called_by(const Layout& layout, std::uint32_t r, std::uint64_t number) {
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    const CallNote& note = layout.note(i, r);
    const std::uint64_t head = note.number_what.load(std::memory_order_acquire);
    const std::uint64_t begin = head >> 24;
    if (begin == 0 || begin > number || begin + (head >> 8 & 0xffff) < number) continue;
    return called(note);
  }
  return Called{};
}

Called called_here(const Visit& visit) { return Called{true, visit.call->what, visit.call->root, visit.call->bytes}; }

}  // namespace

bool all_alike(const Visit& visit) {
  const Layout& layout = visit.layout();
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    if (layout.contribution(visit.number, r).number.load(std::memory_order_relaxed) != visit.word()) return false;
  }
  return true;
}

bool notes_agree(const Visit& visit) {
  const Layout& layout = visit.layout();
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    const CallNote& note = layout.note(visit.first, r);
    if (note.number_what.load(std::memory_order_acquire) >> 24 != visit.first) continue;
    if (called(note) != called_here(visit)) return false;
  }
  return true;
}

Status disagreement(const Visit& visit, std::uint32_t me) {
  const Layout& layout = visit.layout();
  const Called mine = called_here(visit);
  for (std::uint32_t r = 0; r < layout.header().ranks; ++r) {
    const Called theirs = called_by(layout, r, visit.number);
    if (r == me || !theirs.known || theirs == mine) continue;
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
                      "check.collectives=true tells who passed what");
}

Status sizes_differ(Rank from, MPI_Count sent, Rank to, MPI_Count expected) {
  return Status::fail(sent > expected ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                      "the ranks do not agree: rank %d sends %lld bytes to rank %d, which expects %lld", from,
                      static_cast<long long>(sent), to, static_cast<long long>(expected));
}

}  // namespace ashlar::coll::shm
