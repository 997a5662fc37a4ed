#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "components/rma/shm/far.h"
#include "components/rma/shm/state.h"
#include "framework/plugin/component.h"
#include "framework/rma/rows.h"

/// Operations on many short runs of memory that cannot be mapped, short updates of it, and short copies where a call of
/// the system takes long. The kernel takes 0.1 us for each run, and an update is two calls of the system, so the origin
/// offers the operation to the target, which carries it out if it makes progress right now. If it does not take the
/// offer within microseconds, the origin withdraws it and copies, and makes no other for some time: so no operation
/// waits for its target.
///
/// A long update of a row of elements is offered, too: a target that copies the origin's elements and combines them in
/// place has one copy to make, where the origin has two. Of a long put or get the two copy parts at the same time.
///
/// Data of a few words that goes to or comes from one place travels in the mailbox itself, so that the two processes
/// exchange one cache line.
///
///   origin: rows and data into its Delegated,      target, in each round of progress (one load):
///           or the mailbox
///           Mailbox: kFree -> kWriting -> kOffered          kOffered -> kTaken
///           polls, and looks after its own mailbox           executes under its update lock
///   too late: kOffered -> kFree                               kTaken -> kDone
namespace ashlar::rma::shm {

/// What an offer asks for.
struct Work {
  enum class Kind : std::uint8_t { kPut, kGet, kUpdate, kSwapIfEqual, kLongUpdate, kSharedPut, kSharedGet };

  Kind kind = Kind::kPut;
  bool reads_origin = false, fetches = false;
  bool in_mailbox = false;    // data and place are there, and there is no Delegated
  std::uint16_t op = 0;       // constant of a predefined operation
  std::uint16_t element = 0;  // constant of a predefined datatype
  std::uint64_t bytes = 0;    // packed. Of kLongUpdate, afterwards: what the target has done
};

/// What a process offers, in its heap, if the mailbox has no room for it.
struct Delegated {
  static constexpr std::size_t kRows = 256;
  static constexpr std::size_t kBytes = 32 * 1024;
  static constexpr std::size_t kLongBytes = 512 * 1024;  // of kLongUpdate: the target does nothing else meanwhile

  Work work;
  std::byte compare[16];  // kSwapIfEqual: an element
  std::uint64_t rows = 0;
  Row row[kRows];
  alignas(kCacheLine) std::byte in[kBytes];   // of the origin
  alignas(kCacheLine) std::byte out[kBytes];  // what the target fetches

  // kLongUpdate, kSharedPut, kSharedGet: where the bytes are in the origin's memory, in a row; row[0]: where they are
  // at the target.
  alignas(kCacheLine) std::uint64_t origin = 0;
  // kSharedPut, kSharedGet: bytes of a part; where the part begins that the target could not copy, or `bytes`; where
  // the first part begins that neither side has taken.
  std::uint64_t part = 0, failed_at = 0;
  std::atomic<std::uint64_t> next{0};
};

/// Where others offer operations to a process, one at a time; in its heap, made with its first window whose memory they
/// cannot map. A fetch-and-op or a compare-and-swap of 8 bytes is in the first of its two lines.
struct alignas(kCacheLine) Mailbox {
  enum State : std::uint32_t { kFree = 0, kWriting, kOffered, kTaken, kDone, kRefused };
  static constexpr std::size_t kBytes = 88;

  std::atomic<std::uint32_t> state;
  // Written by the origin in kWriting, read by the target in kTaken.
  std::uint32_t context;  // of the window
  Rank origin, target;    // in the window
  Work work;
  std::uint64_t at;  // the Delegated's address in the origin's heap; of Work::in_mailbox: byte of the target's window
  // Of Work::in_mailbox, each as long as Work::bytes and only if the work needs it: of the origin, what the target
  // fetches, and what is compared.
  std::byte data[kBytes];
};
static_assert(sizeof(Mailbox) == 2 * kCacheLine && offsetof(Mailbox, data) + 3 * sizeof(std::uint64_t) == kCacheLine);

/// Bytes in Mailbox::data of a work on `bytes` packed bytes.
constexpr std::size_t bytes_in_mailbox(const Work& work, std::uint64_t bytes) {
  return bytes *
         ((work.reads_origin ? 1u : 0u) + (work.fetches ? 1u : 0u) + (work.kind == Work::Kind::kSwapIfEqual ? 1u : 0u));
}

/// Where the data is of a work in the mailbox.
struct MailboxData {
  explicit MailboxData(Mailbox& box)
      : in(box.data),
        out(in + (box.work.reads_origin ? box.work.bytes : 0)),
        compare(out + (box.work.fetches ? box.work.bytes : 0)) {}
  std::byte *in, *out, *compare;
};

/// Lets the target carry out the operation, piece by piece. Returns how many packed bytes it has: all, or those before
/// the piece that it did not take. Called without the lane's lock.
std::size_t delegate_put(const Access& access);
std::size_t delegate_get(const Access& access);
std::size_t delegate_update(const Update& update);
/// Copies all of a long put or get, in parts, of which the target takes some if it makes progress meanwhile. `window`:
/// where the window begins at the target. False: it is to be copied otherwise. *error: 0 or an errno.
bool share_copy(Direction direction, const Access& access, std::uint64_t window, int* error);

/// Makes the mailbox, and with it a heap, before the process tells others about that. Origins need one, too.
void prepare_offers();
/// Of a window that this component synchronizes: from now on other processes may offer operations on its memory.
void accept_offers(RmaWindow& window, const Control& control);
/// The window goes away.
void refuse_offers(RmaWindow& window);

/// By the target: takes parts of an origin's put or get. `window`: where its own begins. Whether there were any, and
/// they could be copied.
bool share_copy_of(const Neighbour& origin, Delegated& piece, std::byte* window);

/// Carries out what is in this process's mailbox. Returns whether there was anything.
bool carry_out_offer();

/// Parameter rma.shm.delegate_from.
std::uint64_t delegate_from();

struct DelegateCounters {
  Counter offered, carried_out;
};
DelegateCounters& delegate_counters();

}  // namespace ashlar::rma::shm
