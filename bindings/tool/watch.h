#pragma once
#include <atomic>
#include <cstdint>

#define ASHLAR_MPI_H_NO_CONVERSIONS
#include <mpi.h>

#include "framework/base/clock.h"
#include "framework/plugin/call_hooks.h"

/// What the generated wrappers of libashlar_tool.so are made of.
namespace ashlar::tool {

/// The kernel's side, nullptr while no tool watches.
extern std::atomic<const ashlar_call_hooks*> hooks;

/// Whether this thread is in a hook: calls of MPI that a tool makes there are done, and shown to no tool. The wrappers
/// are loaded before the program starts, so that a fixed place of thread-local storage does.
extern constinit thread_local bool in_hook __attribute__((tls_model("initial-exec")));

/// The function `name` that the program would call without this library: of another profiling library, or of MPI. Ends
/// the process when there is none, as the dynamic loader does.
void* find_next(const char* name) noexcept;

/// The function behind a wrapper, looked up once.
template <class F>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}
  F operator()() {
    F found = found_.load(std::memory_order_relaxed);
    if (!found) [[unlikely]] {
      found = reinterpret_cast<F>(find_next(name_));
      found_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  const char* name_;
  std::atomic<F> found_{nullptr};
};

/// One call of the program, while it is in a wrapper. True when a tool wants it.
class Watched {
 public:
  explicit Watched(std::uint32_t number) : hooks_(hooks.load(std::memory_order_acquire)) {
    if (!hooks_) [[unlikely]] {
      early_ = {.number = number, .began = ticks()};
    } else if (number < hooks_->procedure_count && hooks_->wanted[number] && !in_hook) {
      start(number, ticks());
    }
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  explicit operator bool() const { return wanted_; }

  void to(int rank, int tag) {
    call_.to = rank;
    call_.send_tag = tag;
  }
  void to(int rank) { call_.to = rank; }
  void from(int rank, int tag) {
    call_.from = rank;
    call_.receive_tag = tag;
  }
  void level(int value) { call_.send_tag = value; }
  void request(MPI_Request handle) { call_.request = reinterpret_cast<std::uintptr_t>(handle); }
  void requests(const MPI_Request* handles, int count) {
    static_assert(sizeof(MPI_Request) == sizeof *call_.requests);
    if (!handles || count <= 0) return;
    call_.requests = reinterpret_cast<const std::uint64_t*>(handles);
    call_.request_count = static_cast<std::uint32_t>(count);
  }
  /// After the ranks.
  void on(MPI_Comm comm) { local_size_of_inter_ = hooks_->describe(comm, &call_); }
  /// Whether what counts at the root alone counts here.
  void root(int rank) {
    call_.root = rank;
    at_root_ = inter() ? rank == MPI_ROOT : rank == call_.comm_rank;
    takes_part_ = rank != MPI_PROC_NULL;
  }
  bool at_root() const { return at_root_; }
  /// Whether the arguments for a process that is not the root count: not in the root's group of an intercommunicator.
  bool is_leaf() const { return takes_part_ && !(inter() && at_root_); }
  int others() const { return call_.comm_size; }
  int members() const { return inter() ? local_size_of_inter_ : call_.comm_size; }
  /// This process's element of an array with one for each rank.
  template <class Count>
  Count own(const Count* counts) const {
    return counts && call_.comm_rank >= 0 ? counts[call_.comm_rank] : 0;
  }

  void out(std::uint64_t bytes) { call_.bytes_out += bytes; }
  void in(std::uint64_t bytes) { call_.bytes_in += bytes; }
  std::uint64_t bytes_in() const { return call_.bytes_in; }
  std::uint64_t of(MPI_Count count, MPI_Datatype type, int times = 1) const {
    return count > 0 && times > 0
               ? static_cast<std::uint64_t>(count) * hooks_->type_bytes(type) * static_cast<std::uint64_t>(times)
               : 0;
  }
  template <class Count>
  std::uint64_t of(const Count* counts, int ranks, MPI_Datatype type) const {
    MPI_Count sum = 0;
    for (int i = 0; counts && i < ranks; ++i) sum += counts[i];
    return of(sum, type);
  }
  template <class Count>
  std::uint64_t of(const Count* counts, int ranks, const MPI_Datatype* types) const {
    std::uint64_t sum = 0;
    for (int i = 0; counts && types && i < ranks; ++i)
      if (counts[i] > 0) sum += of(counts[i], types[i]);
    return sum;
  }

  void enter() const {
    in_hook = true;
    hooks_->enter(hooks_->self, &call_);
    in_hook = false;
  }
  /// After the call: whether there is something to tell of it. Calls that begin MPI are entered here, those that end it
  /// are not left.
  bool returned(int result) {
    if (!hooks_) [[unlikely]]
      return returned_early(result);
    if (!wanted_ || hooks.load(std::memory_order_acquire) != hooks_) return false;
    call_.ended = ticks();
    call_.result = result;
    return true;
  }
  /// Of a receive, a probe or a wait that has completed.
  void status(const MPI_Status* status, MPI_Comm comm = MPI_COMM_NULL) {
    if (call_.result != MPI_SUCCESS || !status || status == MPI_STATUS_IGNORE) return;
    const bool known = call_.from == status->MPI_SOURCE;  // on() has described it
    call_.from = status->MPI_SOURCE;
    call_.receive_tag = status->MPI_TAG;
    if (comm != MPI_COMM_NULL && !known) (void)hooks_->describe(comm, &call_);
    call_.bytes_in = hooks_->status_bytes(status);  // last: what is kept for after a call costs more than the call
  }
  void leave() const {
    in_hook = true;
    hooks_->leave(hooks_->self, &call_);
    in_hook = false;
  }

 private:
  struct Early {
    std::uint32_t number;
    std::uint64_t began;
  };
  void start(std::uint32_t number, std::uint64_t began) {
    wanted_ = true;
    call_ = {.size = sizeof call_,
             .number = number,
             .began = began,
             .ended = 0,
             .comm = 0,
             .comm_rank = ASHLAR_TOOL_NONE,
             .comm_size = 0,
             .to = ASHLAR_TOOL_NONE,
             .to_world = ASHLAR_TOOL_NONE,
             .send_tag = ASHLAR_TOOL_NONE,
             .from = ASHLAR_TOOL_NONE,
             .from_world = ASHLAR_TOOL_NONE,
             .receive_tag = ASHLAR_TOOL_NONE,
             .root = ASHLAR_TOOL_NONE,
             .result = 0,
             .bytes_out = 0,
             .bytes_in = 0,
             .request = 0,
             .object = nullptr,
             .requests = nullptr,
             .request_count = 0};
  }
  bool returned_early(int result);
  bool inter() const { return local_size_of_inter_ > 0; }

  const ashlar_call_hooks* hooks_;
  bool wanted_ = false, at_root_ = false, takes_part_ = true;
  int local_size_of_inter_ = 0;
  union {
    ashlar_tool_call call_;
    Early early_;
  };
};

}  // namespace ashlar::tool
