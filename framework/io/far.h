#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/coll/co.h"
#include "framework/io/facts.h"
#include "framework/io/rows.h"
#include "framework/io/shared_block.h"
#include "framework/io/window.h"

namespace ashlar::io {

struct Plan;
struct Together;

/// What travels to an aggregator for one window: rows of pieces, of a write with their data behind them, in messages
/// that fit into the aggregator's buffer. The head of each goes ahead of it. No messages: an empty head is sent.
struct Parcel {
  /// In front of the rows of a message.
  struct Head {
    std::uint32_t rows = 0;    // 0: nothing follows the head
    std::uint32_t last = 1;    // of the parcel
    std::uint64_t packed = 0;  // bytes of data that the rows stand for
  };
  struct Message {
    std::size_t at, bytes;            // in `bytes` of the parcel
    std::uint64_t first, packed = 0;  // of the view's packed stream
    std::size_t answer = 0;           // of a read: where the answer comes to, in Parcel::answers
  };
  std::vector<std::byte> bytes;
  std::vector<Message> messages;
  std::vector<std::byte> answers;  // each: how many bytes the file has, in 8 bytes, and these
};

/// What a collective call has where its processes meet by messages (far.cc).
class Far {
 public:
  /// What a process tells the others. Calls that differ exchange it, too, and are told apart by Facts::call.
  struct Told {
    Facts facts;
    AgreedValues agreed;
  };
  explicit Far(int ranks) : told(static_cast<std::size_t>(ranks)), outcomes(static_cast<std::size_t>(ranks)) {}

  std::vector<Told> told;              // by rank
  std::vector<std::int32_t> outcomes;  // error classes, by rank

  // --- of an aggregator
  Window window;
  std::uint64_t valid = 0;     // bytes of the window that the file has
  std::vector<std::byte> got;  // a message
  /// Answers that are under way: those of a round, so that no rank waits for another answer, unless they take too much.
  std::vector<std::vector<std::byte>> answers;
  std::uint64_t answered = 0;  // bytes of these
  /// Room for what the plan asks of this process. False: no memory.
  bool make_room(const Plan& plan, bool aggregates, bool writes);
  /// Of the message whose head is in `got`: as many bytes as fit there.
  std::size_t rest_of_message(bool writes) const;
  /// Puts the data of the message in `got` in place. False: it is none.
  bool put_message();
  /// Makes the answer to it, the last of `answers`. MPI_ERR_OTHER: the message is none, MPI_ERR_NO_MEM; no answer then.
  int answer_message();
  /// Those under way have arrived.
  void drop_answers();
  const Parcel::Head& head() const { return *reinterpret_cast<const Parcel::Head*>(got.data()); }

  // --- of a process with data
  std::vector<Parcel> parcels;  // by aggregator
  /// Makes the parcel of bytes [first, last) of the stream, in the window at `begin`. False: no memory; it is empty
  /// then.
  bool pack(const Stream& stream, std::uint64_t begin, std::uint64_t first, std::uint64_t last, bool writes,
            std::size_t most, Parcel* out);

 private:
  const Row* rows() const { return reinterpret_cast<const Row*>(got.data() + sizeof(Parcel::Head)); }
  bool good_message(bool with_data) const;

  std::vector<std::byte> window_bytes_;
  std::vector<Mask> mask_;
  std::vector<Row> rows_;
};

/// No message is longer: a row has no more data than a window.
std::size_t message_room(const Plan& plan);

Status no_memory_for_messages();
/// All get what all tell.
coll::Co exchange_told(coll::Op& op, Far& far);
/// The access where its processes share no memory. Under the lock of the lane.
coll::Co run_far(coll::Op& op, Together& access);

}  // namespace ashlar::io
