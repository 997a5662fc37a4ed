#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "components/rma/am/job.h"
#include "components/rma/am/message.h"
#include "framework/base/list.h"
#include "framework/rma/wire.h"

namespace ashlar::rma::am {

struct AmWindow;

/// The origin's side of what one process asks of another: a queue of jobs, cut into fragments as there is room and
/// credit for them. Answers come in the order of the fragments. Guarded by the lane's lock.
///
///   queue_: not sent, or in part -> awaiting_: sent, not answered -> over
class Requests final : public Stream {
 public:
  Requests(AmWindow& window, Rank to) : Stream(to), window_(window) {}
  ~Requests();

  /// Takes over an Operation or a Note, made by new. A Flush stays its caller's. The caller kicks the stream.
  void add(Job& job);
  /// Nothing is to be sent, answered or confirmed.
  bool idle() const { return jobs_ == 0 && confirmed_ == sent_; }
  std::uint64_t operations() const { return operations_; }
  /// The call that waited for the flush does so no more.
  void forget(Flush& flush);
  /// The first failure at the target that has not been reported.
  Status take_failure();
  /// The target is gone: everything is over.
  void end();

  void on_data(std::uint32_t sequence, std::span<const std::byte> data);
  void on_refused(std::uint32_t sequence, const Fault& fault);
  void on_pong(std::uint32_t sequence, const Fault& fault);

  bool next(std::size_t room, StreamMessage* out) override;
  void fill(std::byte* to) override;
  void sent() override;

 private:
  static constexpr std::size_t kRuns = 32;

  bool describe(Operation& operation, std::size_t room, StreamMessage* out);
  std::uint32_t describe(const Operation& operation);
  bool needs_ping(Flush& flush);
  bool describe_ping(StreamMessage* out);
  bool asks(const Operation& operation, std::uint32_t sequence) const;
  void fragment_sent(Operation& operation);
  void confirm(std::uint32_t sequence);
  void settle();
  void skip(std::uint64_t bytes, const Fault& fault);
  void keep(const Fault& fault);
  void finish(Operation& operation);
  Operation* fetching();

  AmWindow& window_;
  List<Job> queue_;
  List<Job> awaiting_;
  std::uint64_t jobs_ = 0, operations_ = 0;  // in both lists
  std::uint32_t sent_ = 0;                   // sequence number of the last message that has left
  std::uint32_t asked_ = 0;                  // of the last one that the target answers
  std::uint32_t confirmed_ = 0;              // up to this everything is done there
  Fault fault_;                              // not reported yet

  // What is next: a ping, or a fragment.
  bool ping_ = false;
  Head head_;
  Run runs_[kRuns];
  std::uint64_t data_ = 0;  // bytes
};

}  // namespace ashlar::rma::am
