#include "framework/memory/space.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "framework/base/bytes_text.h"
#include "framework/base/failure.h"

namespace ashlar::memory {

Status Space::open(std::uint64_t reserve) {
  if (!backing_.base()) ASHLAR_TRY(backing_.make(reserve));
  const auto base = reinterpret_cast<std::uint64_t>(backing_.base());
  pages_.add({.begin = base + kPage, .bytes = backing_.bytes() - kPage}, Pages::kNone);
  return {};
}

Status Space::back(Range range, bool claimed) {
  const Pages pages = pages_.pages(range.begin);
  if (pages == Pages::kClaimed) return {};
  ASHLAR_TRY(claimed ? backing_.claim(range) : headroom_.admit(range.bytes));
  pages_.change_taken(range.begin, claimed ? Pages::kClaimed : Pages::kSome);
  return {};
}

bool Space::take_pages(std::uint64_t bytes, std::uint64_t alignment, bool claimed, Range* out, bool* fresh) {
  const Pages first = claimed ? Pages::kClaimed : Pages::kSome;
  const Pages second = claimed ? Pages::kSome : Pages::kClaimed;
  for (const Pages pages : {first, second, Pages::kNone}) {
    *fresh = pages == Pages::kNone;
    if (pages_.take(bytes, alignment, pages, out)) return true;
  }
  return false;
}

Status Space::place_pages(std::uint64_t bytes, std::uint64_t alignment, bool claimed, Range* out, bool* fresh) {
  // What is kept may be what is missing: the second time it has gone back to the system.
  for (const bool again : {false, true}) {
    Status status;
    if (take_pages(bytes, alignment, claimed, out, fresh)) {
      status = back(*out, claimed);
      if (status.ok()) {
        backing_.used_up_to(out->end());
        return {};
      }
      pages_.give(out->begin);
    } else {
      status = fail(MPI_ERR_NO_MEM, "memory.heap_narrow", {{"size", bytes_text(backing_.bytes())}});
    }
    if (again || kept() == 0) return status;
    discard_kept(0);
  }
  return {};
}

Status Space::place_small(std::uint64_t bytes, std::uint64_t alignment, Range* out) {
  if (small_.take(bytes, alignment, out)) return {};
  Range chunk;
  bool fresh = false;
  ASHLAR_TRY(place_pages(SmallBlocks::kChunk, kPage, /*claimed=*/true, &chunk, &fresh));
  try {
    small_.add(chunk.begin);
  } catch (...) {
    pages_.give(chunk.begin);
    throw;
  }
  small_.take(bytes, alignment, out);
  return {};
}

void Space::zero(std::uint64_t begin, std::uint64_t bytes) {
  const Range pages = pages_.taken(begin);
  const bool cheap = bytes >= kDiscarded && pages_.pages(begin) == Pages::kSome;
  if (!cheap || !backing_.discard(pages)) std::memset(reinterpret_cast<void*>(begin), 0, bytes);
}

Status Space::place(std::uint64_t bytes, std::uint64_t alignment, const Config& config, Range* out, bool* fresh) {
  *fresh = false;
  if (is_small(bytes, alignment)) return place_small(bytes, alignment, out);
  const bool claimed = backing_.claims_all() || bytes < config.claim_below;
  return place_pages(bytes, alignment, claimed, out, fresh);
}

std::uint64_t Space::bytes_at(std::uint64_t begin) const {
  if (const Range small = small_.taken(begin); small.bytes != 0) return small.bytes;
  return small_.is_chunk(begin) ? 0 : pages_.taken(begin).bytes;
}

std::uint64_t Space::release(std::uint64_t begin, const Config& config) {
  const std::uint64_t bytes = bytes_at(begin);
  if (bytes == 0) return 0;
  if (const Range free = small_.give(begin); free.bytes != 0)
    give_back_chunk(free);
  else
    pages_.give(begin);
  // Half of it stays, so that the next block does not cross the limit again.
  if (kept() > config.heap_keep) discard_kept(config.heap_keep / 2);
  return bytes;
}

// One chunk stays, for the next small blocks.
void Space::give_back_chunk(Range free) {
  if (free.bytes < SmallBlocks::kChunk || small_.free_bytes() < 2 * SmallBlocks::kChunk) return;
  small_.remove(free.begin);
  pages_.give(free.begin);
}

// All of it where there is no memory for another entry of the table.
Range Space::end_of(Range free, std::uint64_t bytes) {
  const std::uint64_t pages = (bytes + kPage - 1) / kPage * kPage;
  if (pages >= free.bytes) return free;
  const Range end{.begin = free.end() - pages, .bytes = pages};
  try {
    pages_.cut_free(free.begin, end.begin);
  } catch (const std::bad_alloc&) {
    return free;
  }
  return end;
}

void Space::discard_kept(std::uint64_t most) {
  while (discards_ && kept() > most) {
    const Range some = pages_.largest(Pages::kSome), claimed = pages_.largest(Pages::kClaimed);
    const Range gone = end_of(some.bytes > claimed.bytes ? some : claimed, kept() - most);
    discards_ = backing_.discard(gone);
    pages_.change_free(gone.begin, discards_ ? Pages::kNone : pages_.pages(gone.begin));
  }
}

}  // namespace ashlar::memory
