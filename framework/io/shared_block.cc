#include "framework/io/shared_block.h"

#include <linux/futex.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <new>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/comm/outside.h"
#include "framework/datatype/datatype.h"
#include "framework/io/file.h"
#include "framework/memory/heap.h"

namespace ashlar::io {
namespace {

constexpr std::uint32_t kFree = 0, kHeld = 1, kAwaited = 2;

/// Where rank 0's block lies.
struct BlockCard {
  Card place;
  std::uint32_t node = 0;
  std::uint32_t reserved = 0;
};

Status make_own(OpenFile& file, BlockCard* card) {
  const int ranks = file.comm->size;
  void* room = nullptr;
  ASHLAR_TRY(memory::Heap::own().allocate(SharedBlock::bytes(ranks), kCacheLine, true, &room));
  file.shared = new (room) SharedBlock();
  for (Rank rank = 0; rank < ranks; ++rank) new (&file.shared->slot(rank)) RankSlot();
  card->place = {.heap = memory::Heap::own().handle(), .address = reinterpret_cast<std::uintptr_t>(room)};
  return {};
}

Status map_block(OpenFile& file, const BlockCard& card) {
  const Comm& comm = *file.comm;
  if (card.place.address == 0) return fail(MPI_ERR_OTHER, "io.no_block");
  if (card.node != file.node) return fail(MPI_ERR_OTHER, "io.several_nodes");
  const memory::MappedHeap* heap = nullptr;
  ASHLAR_TRY(memory::map_heap(card.place.heap, &heap));
  file.shared = reinterpret_cast<SharedBlock*>(heap->find(card.place.address, SharedBlock::bytes(comm.size)));
  return file.shared != nullptr ? Status() : fail(MPI_ERR_OTHER, "io.no_block");
}

long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), what, value, nullptr, nullptr, 0);
}

}  // namespace

Status make_block(OpenFile* file, Comm& comm) {
  BlockCard card;
  Status own;
  if (file != nullptr) file->node = comm::own_node_in(comm);
  if (file != nullptr && comm.rank == 0) {
    own = make_own(*file, &card);
    card.node = file->node;
  }
  ASHLAR_TRY(coll::bcast(&card, sizeof card, datatype::predefined(MPI_BYTE), 0, comm));
  if (file == nullptr) return {};
  if (comm.rank != 0) own = map_block(*file, card);
  if (!own.ok()) file->why_not_shared = own.text();
  return {};
}

void give_up_block(OpenFile& file) {
  if (file.why_not_shared.empty()) file.why_not_shared = "another process cannot map it";
  drop_block(file);
}

void drop_block(OpenFile& file) {
  if (file.shared != nullptr && file.comm->rank == 0) memory::Heap::own().free(file.shared);
  file.shared = nullptr;
}

BlockLock::BlockLock(std::atomic<std::uint32_t>* word) : word_(word) {
  if (word_ == nullptr) return;
  std::uint32_t seen = kFree;
  if (word_->compare_exchange_strong(seen, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return;
  while (word_->exchange(kAwaited, std::memory_order_acquire) != kFree) futex(*word_, FUTEX_WAIT, kAwaited);
}

BlockLock::~BlockLock() {
  if (word_ == nullptr) return;
  if (word_->exchange(kFree, std::memory_order_release) == kAwaited) futex(*word_, FUTEX_WAKE, 1);
}

}  // namespace ashlar::io
