#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "components/launch/native/trace.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/launch_board.h"

namespace ashlar::launch {

/// A rank's side of the board. One thread at a time; a module serves one process.
/// fence() sleeps on a futex of the board and spends no processor time; nothing else blocks.
class Client {
 public:
  Client() = default;
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  ashlar_launch_result attach(const Trace& trace);
  const ashlar_job& job() const { return job_; }

  ashlar_launch_result put(const char* key, const void* blob, std::size_t bytes);
  ashlar_launch_result view(std::uint32_t rank, const char* key, const void** blob, std::size_t* bytes);
  ashlar_launch_result fence(std::int64_t timeout_ms);
  void on_peer_failure(ashlar_launch_peer_failed* listener, void* context);
  void poll();
  ashlar_launch_result initialized();
  void in_use(bool world, bool sessions);
  void abort(int code, const char* text);
  ashlar_launch_result finalize();
  std::uint32_t* news();
  bool asked();
  void answer(const char* account, std::size_t bytes, bool settled);

  const char* host() const { return host_.c_str(); }
  const char* why();

 private:
  ashlar_launch_result fail(ashlar_launch_result result, const char* format, ...) __attribute__((format(printf, 3, 4)));
  void blame_the_missing(std::uint32_t generation, ashlar_launch_result result, std::int64_t waited_ms);
  bool someone_left(std::uint32_t generation) const;
  BoardSlot& slot(std::uint32_t rank) const { return board_slot(board_, rank); }

  BoardHeader* board_ = nullptr;
  std::size_t mapped_ = 0;
  int bell_fd_ = -1;
  int shared_fd_ = -1;
  bool in_fence_ = false;
  // A fence that timed out; its sentence is made by why(), because some callers wait in small steps.
  std::uint32_t late_fence_ = 0;
  std::int64_t late_ms_ = 0;
  std::uint32_t my_attach_ = 0;
  std::uint32_t failures_seen_ = 0;
  std::vector<bool> told_;
  ashlar_launch_peer_failed* listener_ = nullptr;
  void* listener_context_ = nullptr;
  std::string host_, params_, launcher_, placement_;
  ashlar_job job_ = {};
  char why_[512] = {};
};

}  // namespace ashlar::launch
