#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "components/rma/native/params.h"
#include "framework/base/counter.h"
#include "framework/base/list.h"
#include "framework/base/status.h"
#include "framework/plugin/transport.h"
#include "framework/rma/component.h"
#include "framework/rma/guard.h"
#include "framework/rma/way.h"
#include "framework/rma/window.h"

namespace ashlar::rma::native {

struct NativeWindow;

/// How one transport reaches the memory of a process. Travels.
struct Exposure {
  std::uint64_t transport = 0;  // transport_number() of its name; 0: none
  std::uint32_t coherent = 0;   // its atomic operations are atomic beside those of this process's processor
  std::uint32_t reserved = 0;
  ashlar_key key = {};
};
inline constexpr std::size_t kTransports = 3;  // that a process registers a window's memory with
using Exposures = std::array<Exposure, kTransports>;

std::uint64_t transport_number(const char* name);

struct ToTarget;

/// An operation of the program, or a flush, of which a transport still has to do something. Its parts share it as their
/// completion. Freed when it has left the call that started it, and all parts are over.
struct Operation : ashlar_completion, ListHook {
  NativeWindow* window = nullptr;  // nullptr: the window is gone
  ToTarget* target = nullptr;
  const char* what = "";  // "put"
  Gate* gate = nullptr;
  std::uint64_t number = 0;
  std::uint32_t parts = 0;  // under way
  bool left = false;        // the call that started it
  Status outcome;
  std::vector<std::unique_ptr<ashlar_piece[]>> pieces;  // of its parts
};

/// What the component keeps of a target that it reaches. Guarded by the lane's lock.
struct ToTarget {
  Rank rank = 0;
  ashlar_endpoint* endpoint = nullptr;
  ashlar_key key = {};
  ashlar_iface_attributes attributes = {};
  /// For updates that the transport does not make; nullptr: it makes none.
  const Way* others = nullptr;
  List<Operation> under_way;  // in the order of the calls
  bool unflushed = false;     // what is complete here may not have taken place there
  bool asked = false;         // `others` may have updates under way
  bool atomic = false;        // so may the transport
  Status failure;             // the first that no call has reported
};

/// Performance variables rma.native.*, of one window. Written under the lane's lock.
struct Counters {
  Counter puts, gets, atomics, bytes, asked, flushes, full, under_way;
};

/// What the component knows of a window.
struct NativeWindow {
  NativeWindow(RmaWindow& of, const Config& parameters) : window(of), config(parameters) {}

  RmaWindow& window;
  const Config& config;
  Counters counters;
  std::vector<Exposures> exposures;                     // by rank
  std::array<ashlar_iface*, kTransports> exposed = {};  // where this process's own are registered
  std::vector<std::unique_ptr<ToTarget>> targets;       // by rank, those that were reached
  std::uint64_t started = 0;                            // number of the last operation
  // Of the memory of this process, where transports update it: there is no other process that does so with its own
  // processor.
  UpdateLine line = {};
  OriginLine own = {};
  Guard guard = {};

  ToTarget& to(const Target& target) { return *targets[static_cast<std::size_t>(target.rank)]; }
};

/// The component's place in the window, and what lies there: nullptr where no transport is used.
void*& window_state(RmaWindow& window);
inline NativeWindow& state_of(RmaWindow& window) { return *static_cast<NativeWindow*>(window_state(window)); }
/// The table of the component.
extern const Component component;

// exposing.cc: the memory of this process, and how others are told.
/// Whether the window's memory is registered at all: the same on all processes.
bool wants_transports(const RmaWindow& window, const Config& config, std::span<const Card> cards);
/// Collective. Without a state (no memory) this process registers nothing.
Status exchange_keys(NativeWindow* state, Comm& comm);
/// Registers this process's memory with the transports of the window's lane.
void expose(NativeWindow& state, Exposures* out);
void unexpose(NativeWindow& state);
/// Lets this process update its own memory by atomic instructions, if transports update it as well.
void guard_own(NativeWindow& state);

// reach.cc
Status reach(RmaWindow& window, Target& target);

// operations.cc: what is common to all of them. Under the lane's lock.
/// Starts an operation; waits while as many are under way as may be.
Status begin(NativeWindow& state, ToTarget& to, const char* what, Gate* gate, Operation** out);
/// The call leaves the operation: what fails from now on is reported by its gate, or by a later synchronization.
Status leave(Operation& operation, Target& target);
/// Waits until at most `parts` parts of the operation are under way.
Status await_parts(Operation& operation, std::uint32_t parts);
/// Waits until everything that was started toward the target before is complete here; with `remote`, there as well.
/// Failures of operations are left in ToTarget::failure.
Status drain(NativeWindow& state, ToTarget& to, Target& target, bool remote);
/// Leaves what is under way to itself: it touches nothing of the window any more.
void abandon(NativeWindow& state);

/// Gives a part of an operation to the transport.
class Part {
 public:
  virtual ashlar_result issue(ashlar_endpoint& to, ashlar_completion* done) = 0;

 protected:
  ~Part() = default;
};
/// Waits while the transport has no room for it. False: the operation has failed, nothing more of it is started.
bool add_part(Operation& operation, Part& part);

// copies.cc, updates.cc
Status put(const Access& access);
Status get(const Access& access);
Status update(const Update& update);
Status flush(RmaWindow& window, Target& target, bool remote);

extern const Way native;

}  // namespace ashlar::rma::native
