#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/progress/lane.h"
#include "framework/progress/peer.h"

namespace ashlar {
class RmaWindow;
namespace plugin {
class AccountWriter;
}
}  // namespace ashlar

/// Messages between the processes of a window, for components: what they mean is the component's. All functions and all
/// callbacks are under the lock of the window's lane unless said; callbacks never block.
namespace ashlar::rma {

struct LaneWindows;

/// A message as it arrives. `data` is valid during the call.
struct WindowMessage {
  Rank from;
  std::uint64_t word;  // as in StreamMessage
  std::span<const std::byte> data;
};

class WindowReceiver {
 public:
  virtual ~WindowReceiver() = default;
  /// A message has arrived; those of one sender come in the order of each of its streams. May kick streams.
  virtual void deliver(const WindowMessage& message) = 0;
  /// The process is gone, or none of its messages can arrive any more. Called once for each.
  virtual void peer_failed(Rank rank) = 0;
};

/// A message as its sender describes it.
struct StreamMessage {
  std::uint64_t word = 0;    // travels in the header
  std::uint32_t length = 0;  // bytes of payload
};

/// Messages to one process, which leave in order, as soon as the transport has room. The derived class has the queue.
class Stream : private Pending {
 public:
  explicit Stream(Rank to) : to_(to) {}
  virtual ~Stream();

  Rank to() const { return to_; }
  /// Describes the message that is next, with a payload of `room` bytes at most. False: there is none that may leave
  /// now. Called again for the same message when the transport had no room.
  virtual bool next(std::size_t room, StreamMessage* out) = 0;
  /// Writes its payload. May be called again for the same message.
  virtual void fill(std::byte* to) = 0;
  /// It has left.
  virtual void sent() = 0;

 private:
  friend class WindowWire;

  const Rank to_;
  Link* link_ = nullptr;  // set by the first message
  class WindowWire* wire_ = nullptr;
  bool pushing_ = false;
};

/// What a call waits for.
class WindowWait {
 public:
  virtual bool over() = 0;
  /// Whether it can end without this process, which is gone.
  virtual bool needs(Rank rank) const = 0;
  /// Writes it into a report.
  virtual void tell(plugin::AccountWriter& account) const = 0;
  /// The rank whose library, and not its program, has to do something for it to end; -1: there is none.
  virtual Rank asked() const { return -1; }

 protected:
  ~WindowWait() = default;
};

/// The messages of one window at one process.
class WindowWire {
 public:
  /// The least payload that a message can have.
  static constexpr std::size_t kLeastRoom = 256;

  /// From now on messages for the window are taken in: before its cards travel, so that a process which has finished
  /// creation finds every other one prepared. The first one makes the wire (Component::listen), so that windows without
  /// messages cost nothing here. Takes the lane's lock.
  static Status listen(RmaWindow& window);
  /// Not any more. Takes the lane's lock.
  static void unlisten(RmaWindow& window);
  /// Makes window.wire, if it is not there, by the component that sends messages. Under the lane's lock.
  static Status open(RmaWindow& window);
  /// Makes window.wire, which keeps messages until start().
  static Status attach(RmaWindow& window, std::unique_ptr<WindowReceiver> receiver);
  /// Takes the lane's lock. No operation is under way.
  ~WindowWire();
  WindowWire(const WindowWire&) = delete;
  WindowWire& operator=(const WindowWire&) = delete;

  /// The window is made: what was kept is delivered.
  void start();
  WindowReceiver& receiver() { return *receiver_; }

  /// Sends what `stream` has to send, now or as soon as there is room. Fails when its process is gone.
  Status kick(Stream& stream);

  /// Makes progress until the wait is over, or fails when a process that it needs is gone. The caller holds the lock,
  /// which is given up between. `call`: the user's, for reports, if it has not been said before (flush()).
  Status wait(WindowWait& wait, const char* call = nullptr);
  /// Whether it may still come to an end: fails when a process that it needs is gone.
  Status can_go_on(const WindowWait& wait);
  /// Whether the process of that rank has failed.
  bool gone(Rank rank) const;
  /// Its number in the job, for reports.
  std::uint32_t process_of(Rank rank) const;
  /// The failure of something that needs that rank.
  Status fail_gone(Rank rank) const;
  /// A collective of the window's processes, over its communicator. Without the lane's lock.
  Status barrier(const char* call);

 private:
  friend struct LaneWindows;
  struct Kept {
    Rank from;
    std::uint64_t word;
    std::vector<std::byte> data;
  };

  WindowWire(RmaWindow& window, std::unique_ptr<WindowReceiver> receiver);
  void deliver(const WindowMessage& message);
  Status wait_for(WindowWait& wait);
  static ashlar_result push(Pending& work, Link& link);
  static ashlar_result push_one(Stream& stream, Link& link, bool* any);

  RmaWindow& window_;
  Lane& lane_;
  std::unique_ptr<WindowReceiver> receiver_;
  std::vector<Kept> kept_;  // arrived before start()
  bool started_ = false;
};

}  // namespace ashlar::rma
