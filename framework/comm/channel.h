#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "framework/comm/seal.h"
#include "framework/plugin/account.h"
#include "framework/progress/waiting.h"

namespace ashlar::comm {

/// A connected socket between the leaders of two groups that no communicator has both. While one waits for the other
/// the process makes progress.
class Channel {
 public:
  Channel() = default;
  /// `socket` is a stream that does not block. `seals`: of one that leaves the host; nullptr: the kernel keeps it.
  explicit Channel(Descriptor socket, std::unique_ptr<Seals> seals = nullptr)
      : socket_(std::move(socket)), seals_(std::move(seals)) {}
  explicit operator bool() const { return static_cast<bool>(socket_); }
  int fd() const { return socket_.get(); }

  /// Gives the other side `mine` and gets what it gives. Fails with MPI_ERR_OTHER when the other side has hung up, or
  /// when what has come is not what it sent.
  Status trade(Lane& lane, const std::vector<std::int64_t>& mine, std::vector<std::int64_t>* theirs);

 private:
  Descriptor socket_;
  std::unique_ptr<Seals> seals_;
};

/// Makes progress until done() holds, which looks at descriptors and does not block. MPI's messages do not end such a
/// wait, and descriptors wake no lane: it looks again every millisecond. `what`: it waits "for ...".
template <class Done>
void wait_beside(Lane& lane, const char* what, Done done) {
  const auto tell = [](const void* text, Lane&, plugin::AccountWriter& account) {
    account.waits_for(plugin::kNoPeer, static_cast<const char*>(text));
  };
  const LaneGuard guard(lane.lock);
  ++lane.waits_beside;
  progress::wait(lane, done, {.tell = tell, .what = what});
  --lane.waits_beside;
}

}  // namespace ashlar::comm
