#pragma once
#include <cstddef>
#include <cstdint>

#include "components/rma/am/message.h"
#include "framework/base/list.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/reduce_op.h"
#include "framework/rma/way.h"

namespace ashlar::rma::am {

/// What waits in the queue for one target, or for answers of it.
struct Job : ListHook {
  enum class Kind : std::uint8_t { kOperation, kNote, kFlush };
  explicit Job(Kind k) : kind(k) {}

  const Kind kind;
};

/// An operation of the program. It outlives its call: it holds references to the datatypes.
struct Operation : Job {
  static constexpr std::size_t kLargestElement = 32;

  Operation(Sub what, const DataView& from, const Place& to, Datatype& of)
      : Job(Kind::kOperation),
        sub(what),
        origin(from),
        place(to),
        element(of),
        target_type(Ref<Datatype>::share(*to.type)),
        bytes(static_cast<std::uint64_t>(to.count) * static_cast<std::uint64_t>(to.type->size())) {
    if (from.type != nullptr) origin_type = Ref<Datatype>::share(*from.type);
  }

  const Sub sub;  // kPut, kGet, kUpdate or kSwap
  bool fetches = false;
  bool carries = true;    // the fragments have data of the origin
  std::uint16_t op = 0;   // as in Head
  const DataView origin;  // kGet: where the data goes
  DataView result;
  const Place place;
  Datatype& element;  // of the accumulate family; else MPI_BYTE
  const Ref<Datatype> target_type;
  Ref<Datatype> origin_type, result_type;
  Gate* done = nullptr;
  std::byte compare[kLargestElement] = {};  // of kSwap

  const std::uint64_t bytes;   // of data, all told
  std::uint64_t sent = 0;      // those whose fragments have left
  std::uint64_t answered = 0;  // those that have been fetched
  Fault fault;                 // what became of those that have not

  /// Where fetched data goes.
  const DataView& fetched() const { return sub == Sub::kGet ? origin : result; }
};

/// A message without data.
struct Note : Job {
  Note(Sub what, const LockRequest* lock) : Job(Kind::kNote), sub(what), length(lock != nullptr ? sizeof *lock : 0) {
    if (lock != nullptr) payload = *lock;
  }
  const Sub sub;
  const std::uint32_t length;
  LockRequest payload;
};

/// The end of a flush: belongs to the call that waits for it.
struct Flush : Job {
  explicit Flush(bool at_target) : Job(Kind::kFlush), remote(at_target) {}
  const bool remote;
  bool over = false;
  bool gone = false;           // it is over because the target is gone
  std::uint32_t sequence = 0;  // what the target has to have done
};

}  // namespace ashlar::rma::am
