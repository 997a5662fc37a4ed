// Short puts that return before their target has carried them out.
#include "components/rma/shm/short_puts.h"

#include <cstring>
#include <utility>

#include "components/rma/shm/far.h"
#include "components/rma/shm/offers.h"
#include "framework/datatype/layout.h"

namespace ashlar::rma::shm {
namespace {

constexpr std::uint64_t kPutsOfLook = 4;  // between two looks at the mailbox, whose line the target is using

bool ended(std::uint32_t state) { return state == Mailbox::kDone || state == Mailbox::kRefused; }

Delegated* empty_piece() {
  Delegated* const piece = make_piece();
  if (piece != nullptr) piece->work = {.kind = Work::Kind::kPut, .reads_origin = true};
  return piece;
}

bool has_room(const Delegated& piece, std::size_t bytes) {
  return piece.rows < Delegated::kRows && bytes <= Delegated::kBytes - piece.work.bytes;
}

/// Puts side by side are one row.
void append(const Access& a, std::size_t bytes, Delegated* piece) {
  datatype::pack(a.origin, 0, piece->in + piece->work.bytes, bytes);
  piece->work.bytes += bytes;
  Row* const last = piece->rows == 0 ? nullptr : &piece->row[piece->rows - 1];
  if (last != nullptr && last->offset + static_cast<std::int64_t>(last->block) == a.place.offset)
    last->block += bytes;
  else
    piece->row[piece->rows++] = {.offset = a.place.offset, .block = bytes, .count = 1};
}

void clear(Delegated* piece) { piece->rows = piece->work.bytes = 0; }

/// Behind the mailbox's own fields, where there is room.
void describe(const Delegated& piece, Mailbox* box) {
  box->work = piece.work;
  box->work.in_mailbox = piece.rows == 1 && piece.work.bytes <= Mailbox::kBytes;
  if (box->work.in_mailbox) {
    box->at = static_cast<std::uint64_t>(piece.row[0].offset);
    std::memcpy(box->data, piece.in, piece.work.bytes);
  } else {
    box->at = reinterpret_cast<std::uintptr_t>(&piece);
  }
}

}  // namespace

bool ShortPuts::offer_pending() {
  if (!claim(*taker_->box)) return false;
  describe(*pending_, taker_->box);
  offer(*window_, rank_, *taker_->box);
  std::swap(pending_, offered_);
  clear(pending_);
  return true;
}

void ShortPuts::copy(Delegated* piece) {
  iovec runs[Delegated::kRows];
  for (std::size_t i = 0; i < piece->rows; ++i)
    runs[i] = {reinterpret_cast<void*>(address_ + static_cast<std::uint64_t>(piece->row[i].offset)),
               piece->row[i].block};
  ProcessMemory memory(pid_, 0);
  const int error = piece->rows == 0 ? 0 : memory.write(piece->in, {runs, piece->rows});
  if (error != 0 && failure_.error == 0) failure_ = {window_, rank_, error};
  clear(piece);
}

void ShortPuts::end_offer() {
  const bool done = await(*taker_->box, window_->lane().config.oversubscribed);
  if (done) {
    taker_->box->state.store(Mailbox::kFree, std::memory_order_release);
    taker_->reluctance = {};
    clear(offered_);
  } else {
    taker_->reluctance.failed(true);
    copy(offered_);
  }
  if (pending_->rows != 0 && done && offer_pending()) return;
  copy(pending_);
  window_ = nullptr;
}

void ShortPuts::finish() {
  while (window_ != nullptr) end_offer();
}

bool ShortPuts::add(const Access& a, Taker& taker, std::size_t bytes) {
  if (window_ != nullptr && (window_ != &a.window || rank_ != a.target.rank)) finish();
  if (pending_ == nullptr) pending_ = empty_piece();
  if (offered_ == nullptr) offered_ = empty_piece();
  if (pending_ == nullptr || offered_ == nullptr) return false;
  while (window_ != nullptr && !has_room(*pending_, bytes)) end_offer();
  if (window_ == nullptr) {
    window_ = &a.window;
    rank_ = a.target.rank;
    pid_ = owner_of(a.target).pid;
    address_ = a.window.areas[rank_].address;
    taker_ = &taker;
    append(a, bytes, pending_);
    if (offer_pending()) return true;
    clear(pending_);
    window_ = nullptr;
    return false;
  }
  append(a, bytes, pending_);
  if (++added_ % kPutsOfLook == 0 && ended(taker_->box->state.load(std::memory_order_relaxed))) end_offer();
  return true;
}

ShortPuts::Failure ShortPuts::complete(const RmaWindow& window, Rank rank) {
  if (window_ == &window && rank_ == rank) finish();
  if (failure_.window != &window) return {};
  return std::exchange(failure_, {});
}

}  // namespace ashlar::rma::shm
