#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "components/launch/native/trace.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/launch_board.h"

namespace ashlar::launch {

/// A rank's side of the board. One thread at a time, but for view(); a module serves one process.
/// A function that fails has given the reason to the host. fence() sleeps on a futex of the board and spends no
/// processor time; nothing else blocks.
class Client {
 public:
  /// `host` outlives the client.
  explicit Client(const ashlar_host& host) : host_(host) {}
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  ashlar_result attach(const Trace& trace);
  const ashlar_job& job() const { return job_; }
  /// The job's board; nullptr before attach().
  const BoardHeader* board() const { return board_; }
  /// How often this rank has asked the launcher for a record.
  std::uint32_t questions() const { return board_want(board_, slot(job_.rank)).asked.load(std::memory_order_relaxed); }

  ashlar_result put(const char* key, const void* blob, std::size_t bytes);
  ashlar_result view(std::uint32_t rank, const char* key, const void** blob, std::size_t* bytes);
  ashlar_result fence(std::int64_t timeout_ms);
  void on_peer_failure(ashlar_launch_peer_failed* listener, void* context);
  void poll();
  ashlar_result initialized();
  void in_use(bool world, bool sessions);
  void connected(bool others);
  /// A connection to mpiexec for what it is wanted for (launch_board.h: wish).
  ashlar_result call_launcher(char wish, int* socket) const;
  void abort(int code, const char* text);
  ashlar_result finalize();
  /// The failure of the fence that timed out last.
  ashlar_result report_timeout() const;
  std::uint32_t* news();
  bool asked();
  void answer(const char* account, std::size_t bytes, bool settled);
  void moved(std::uint64_t moved_ns, bool waits);
  void waits(const char* account, std::size_t bytes);
  bool variables_asked();
  void variables(const char* text, std::size_t bytes);

  const char* host_of(std::uint32_t rank) const { return rank < job_.ranks ? board_host(board_, rank) : nullptr; }

 private:
  void know_nodes();
  ashlar_result ask(std::uint32_t rank, const char* key);
  void ring(char why) const;
  void tell_state() const;
  std::uint64_t await_control() const;
  /// The failure to use the board, with the reason in words.
  ashlar_result fail_with_board(const char* reason) const;
  /// The failure of a fence that a rank will never enter.
  ashlar_result fail_with_ended(std::uint32_t generation) const;
  std::string missing_ranks(std::uint32_t generation, bool only_ended) const;
  bool any_ended(std::uint32_t generation) const;
  void pass_fence(std::uint32_t generation) const;
  BoardSlot& slot(std::uint32_t rank) const { return board_slot(board_, rank); }

  const ashlar_host& host_;
  BoardHeader* board_ = nullptr;
  std::size_t mapped_ = 0;
  int bell_fd_ = -1;
  int shared_fd_ = -1;
  bool in_fence_ = false;
  // The fence that timed out last, for report_timeout().
  std::uint32_t late_fence_ = 0;
  std::int64_t late_ms_ = 0;
  std::uint32_t my_attach_ = 0;
  std::uint32_t failures_seen_ = 0;
  std::vector<bool> told_;
  std::mutex asking_;  // a rank has one question at a time
  ashlar_launch_peer_failed* listener_ = nullptr;
  void* listener_context_ = nullptr;
  std::string params_, launcher_, placement_, name_, parent_port_;
  std::vector<std::uint32_t> local_peers_;  // of a job on several nodes
  ashlar_job job_ = {};
};

}  // namespace ashlar::launch
