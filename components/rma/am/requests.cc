#include "components/rma/am/requests.h"

#include <algorithm>
#include <cstring>

#include "components/rma/am/element.h"
#include "components/rma/am/runs.h"
#include "components/rma/am/window.h"
#include "framework/base/failure.h"
#include "framework/rma/window.h"

namespace ashlar::rma::am {
namespace {

Operation& operation_of(Job& job) { return static_cast<Operation&>(job); }

const char* name_of(std::uint32_t sub) {
  switch (static_cast<Sub>(sub)) {
    case Sub::kPut:
      return "a put";
    case Sub::kGet:
      return "a get";
    case Sub::kSwap:
      return "a compare and swap";
    default:
      return "an accumulate";
  }
}

Status failure_of(const Fault& fault, Rank rank, const RmaWindow& window) {
  const char* const what = name_of(fault.sub);
  if (fault.error != MPI_ERR_RMA_RANGE)
    return fail(fault.error, "rma.asked_failed",
                {{"what", what}, {"bytes", fault.bytes}, {"peer", rank}, {"window", window.label()}});
  if (window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return fail(
        MPI_ERR_RMA_RANGE, "rma.asked_address",
        {{"what", what}, {"bytes", fault.bytes}, {"value", fault.offset}, {"peer", rank}, {"window", window.label()}});
  return fail(
      MPI_ERR_RMA_RANGE, "rma.asked_range",
      {{"what", what}, {"bytes", fault.bytes}, {"value", fault.offset}, {"peer", rank}, {"window", window.label()}});
}

}  // namespace

Requests::~Requests() { end(); }

void Requests::add(Job& job) {
  ++jobs_;
  if (job.kind == Job::Kind::kOperation) {
    ++operations_;
    window_.counters.queued.add();
  }
  queue_.push_back(&job);
}

void Requests::forget(Flush& flush) {
  if (flush.over) return;
  List<Job>::remove(&flush);
  --jobs_;
}

Status Requests::take_failure() {
  if (fault_.error == 0) [[likely]]
    return {};
  const Fault fault = fault_;
  fault_ = {};
  return failure_of(fault, to(), window_.window);
}

// --- sending
// ------------------------------------------------------------------------------------------------------------

bool Requests::next(std::size_t room, StreamMessage* out) {
  ping_ = false;
  while (Job* const job = queue_.front()) {
    switch (job->kind) {
      case Job::Kind::kOperation:
        return describe(operation_of(*job), room, out);
      case Job::Kind::kNote: {
        const auto& note = static_cast<const Note&>(*job);
        *out = {.word = Word{.sub = note.sub, .flags = 0, .sequence = sent_ + 1}.pack(), .length = note.length};
        return true;
      }
      case Job::Kind::kFlush:
        if (needs_ping(static_cast<Flush&>(*job))) return describe_ping(out);
    }
  }
  return false;
}

bool Requests::describe_ping(StreamMessage* out) {
  ping_ = true;
  *out = {.word = Word{.sub = Sub::kPing, .flags = 0, .sequence = sent_ + 1}.pack(), .length = 0};
  return true;
}

/// False: everything before has been confirmed or is about to be; then the flush has left the queue.
bool Requests::needs_ping(Flush& flush) {
  flush.sequence = sent_;
  if (flush.remote && confirmed_ != sent_ && asked_ != sent_) return true;
  List<Job>::remove(&flush);
  awaiting_.push_back(&flush);
  settle();
  return false;
}

/// Whether that fragment asks the target for an answer: one that fetches nothing does now and then, for credit.
bool Requests::asks(const Operation& operation, std::uint32_t sequence) const {
  return operation.fetches || sequence - asked_ >= std::max<std::uint64_t>(window_.config.credits / 2, 1);
}

/// The next fragment of an operation; false: the target has to answer others first.
bool Requests::describe(Operation& operation, std::size_t room, StreamMessage* out) {
  if (sent_ - confirmed_ >= window_.config.credits) {
    if (asked_ == confirmed_) return describe_ping(out);  // notes alone have taken the credit
    window_.counters.stalls.add();
    return false;
  }
  const ElementName name = name_of(operation.element);
  const std::size_t most_runs = std::clamp<std::size_t>(room / (4 * sizeof(Run)), 1, kRuns);  // a quarter of the room
  std::uint64_t most = room - sizeof(Head) - most_runs * sizeof(Run);
  if (operation.sub == Sub::kSwap) most = static_cast<std::uint64_t>(operation.element.size());
  const std::size_t runs =
      list_runs(operation.place, operation.element, operation.sent, most, {runs_, most_runs}, &data_);
  head_ = {.element = name.element,
           .index = name.index,
           .op = operation.op,
           .fetches = operation.fetches,
           .reserved = 0,
           .runs = static_cast<std::uint16_t>(runs),
           .reserved2 = 0};
  const std::uint8_t flags = asks(operation, sent_ + 1) ? Word::kAnswer : std::uint8_t{0};
  *out = {.word = Word{.sub = operation.sub, .flags = flags, .sequence = sent_ + 1}.pack(),
          .length = describe(operation)};
  return true;
}

/// The length of its payload.
std::uint32_t Requests::describe(const Operation& operation) {
  const std::uint64_t data = !operation.carries ? 0 : operation.sub == Sub::kSwap ? 2 * data_ : data_;
  return static_cast<std::uint32_t>(sizeof head_ + head_.runs * sizeof(Run) + data);
}

void Requests::fill(std::byte* to) {
  if (ping_) return;
  Job& job = *queue_.front();
  if (job.kind == Job::Kind::kNote) {
    const Note& note = static_cast<const Note&>(job);
    if (note.length != 0) std::memcpy(to, &note.payload, note.length);  // nowhere to write, if there is nothing
    return;
  }
  const Operation& operation = operation_of(job);
  std::memcpy(to, &head_, sizeof head_);
  to += sizeof head_;
  std::memcpy(to, runs_, head_.runs * sizeof(Run));
  to += head_.runs * sizeof(Run);
  if (!operation.carries) return;
  datatype::pack(operation.origin, operation.sent, to, data_);
  if (operation.sub == Sub::kSwap) std::memcpy(to + data_, operation.compare, data_);
}

void Requests::sent() {
  Job& job = *queue_.front();
  if (ping_) {
    asked_ = ++sent_;
    if (job.kind != Job::Kind::kFlush) return;
    static_cast<Flush&>(job).sequence = sent_;
    List<Job>::remove(&job);
    awaiting_.push_back(&job);
    return;
  }
  switch (job.kind) {
    case Job::Kind::kOperation:
      ++sent_;
      fragment_sent(operation_of(job));
      return;
    case Job::Kind::kNote:
      ++sent_;
      List<Job>::remove(&job);
      --jobs_;
      delete static_cast<Note*>(&job);
      return;
    case Job::Kind::kFlush:
      return;  // only ever pings
  }
}

void Requests::fragment_sent(Operation& operation) {
  window_.counters.fragments.add();
  window_.counters.fragment_bytes.add(data_);
  if (asks(operation, sent_)) asked_ = sent_;
  operation.sent += data_;
  if (operation.sent < operation.bytes) return;
  List<Job>::remove(&operation);
  if (operation.fetches) {
    awaiting_.push_back(&operation);
  } else {
    finish(operation);
  }
}

// --- answers
// ------------------------------------------------------------------------------------------------------------

/// The operation whose data comes next.
Operation* Requests::fetching() {
  for (Job& job : awaiting_)
    if (job.kind == Job::Kind::kOperation && operation_of(job).answered < operation_of(job).bytes)
      return &operation_of(job);
  Job* const job = queue_.front();
  return job != nullptr && job->kind == Job::Kind::kOperation && operation_of(*job).fetches ? &operation_of(*job)
                                                                                            : nullptr;
}

void Requests::on_data(std::uint32_t sequence, std::span<const std::byte> data) {
  if (Operation* const operation = fetching()) {
    datatype::unpack(operation->fetched(), operation->answered, data.data(), data.size());
    operation->answered += data.size();
  }
  confirm(sequence);
}

void Requests::on_refused(std::uint32_t sequence, const Fault& fault) {
  skip(fault.missing, fault);
  confirm(sequence);
}

void Requests::on_pong(std::uint32_t sequence, const Fault& fault) {
  if (fault.error != 0) keep(fault);
  confirm(sequence);
}

/// So many bytes that were to be fetched will not come.
void Requests::skip(std::uint64_t bytes, const Fault& fault) {
  while (bytes > 0) {
    Operation* const operation = fetching();
    if (operation == nullptr) return;
    const std::uint64_t here = std::min(bytes, operation->bytes - operation->answered);
    operation->answered += here;
    if (operation->fault.error == 0) operation->fault = fault;
    bytes -= here;
  }
}

void Requests::keep(const Fault& fault) {
  if (fault_.error == 0) fault_ = fault;
}

void Requests::confirm(std::uint32_t sequence) {
  if (reached(sequence, confirmed_)) confirmed_ = sequence;
  settle();
  static_cast<void>(window_.wire().kick(*this));  // of a target that is gone peer_failed() tells
}

/// Ends what is complete at the head of the list.
void Requests::settle() {
  while (Job* const job = awaiting_.front()) {
    if (job->kind == Job::Kind::kOperation) {
      Operation& operation = operation_of(*job);
      if (operation.answered < operation.bytes) return;
      List<Job>::remove(job);
      finish(operation);
      continue;
    }
    auto& flush = static_cast<Flush&>(*job);
    if (flush.remote && !reached(confirmed_, flush.sequence)) return;
    List<Job>::remove(job);
    --jobs_;
    flush.over = true;
  }
}

/// A failure becomes that of the operation's request, or of the next synchronization.
void Requests::finish(Operation& operation) {
  if (operation.done != nullptr) {
    operation.done->arrive(operation.fault.error == 0 ? Status() : failure_of(operation.fault, to(), window_.window));
  } else if (operation.fault.error != 0) {
    keep(operation.fault);
  }
  --jobs_;
  --operations_;
  window_.counters.queued.subtract();
  delete &operation;
}

void Requests::end() {
  const bool closing = window_.window.wire == nullptr;  // no operation is under way then
  for (List<Job>* const list : {&awaiting_, &queue_}) {
    while (Job* const job = list->pop_front()) {
      --jobs_;
      switch (job->kind) {
        case Job::Kind::kOperation:
          --operations_;
          window_.counters.queued.subtract();
          if (Gate* const done = operation_of(*job).done)
            done->arrive(closing ? Status() : window_.wire().fail_gone(to()));
          delete &operation_of(*job);
          break;
        case Job::Kind::kNote:
          delete static_cast<Note*>(job);
          break;
        case Job::Kind::kFlush:
          static_cast<Flush&>(*job).over = static_cast<Flush&>(*job).gone = true;
          break;
      }
    }
  }
  confirmed_ = asked_ = sent_;
}

}  // namespace ashlar::rma::am
