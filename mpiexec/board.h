#pragma once
#include <cstdint>
#include <string>

#include "framework/base/status.h"
#include "framework/plugin/launch_board.h"
#include "mpiexec/node_map.h"

namespace ashlar::mpiexec {

struct BoardFacts {
  std::string job_id, host, launcher, params;
  std::string name, parent_port;  // of a further job (further_jobs.h)
  NodeMap nodes;
  std::uint64_t cookie = 0;  // 0: the board draws one
  unsigned ranks = 0;
  unsigned universe = 0;
  std::uint64_t heap_per_rank = 64 * 1024;
  std::uint64_t tool_bytes = 0;  // for the tools of each rank
  bool oversubscribed = false;
  bool keep_going = false;        // when a rank fails
  bool partial = false;           // a daemon's
  bool starts_elsewhere = false;  // further jobs may run on other hosts than those of the job
};

/// mpiexec's side of the board (framework/plugin/launch_board.h): makes it, reads and writes its half of the slots.
/// The descriptors have high numbers, so that shell scripts which use 3 to 20 for themselves leave them alone.
class Board {
 public:
  Board() = default;
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// Makes the board, the bell and the shared memfd. Fails when the system refuses.
  Status make(const BoardFacts& facts);

  launch::BoardSlot& slot(unsigned rank) { return launch::board_slot(board_, rank); }
  launch::RankState state(unsigned rank) { return static_cast<launch::RankState>(slot(rank).state.load()); }
  std::string abort_text(unsigned rank);
  /// For a rank that cannot do it itself, and rings the bell. Any thread.
  void note_abort(unsigned rank, int code, const std::string& words);
  /// Wakes the processes that poll the bell; 's': the states of ranks have changed. Any thread.
  void ring(char what);
  void set_placement(unsigned rank, unsigned appnum, bool bound, const std::string& words);

  /// The value of ASHLAR__JOB for `rank`.
  std::string variable(unsigned rank) const;

  /// Publishes that `rank` ended, and wakes the ranks that wait for it.
  void ended(unsigned rank, int wait_status, bool failed);

  /// Of a job on several nodes: the fence that all of them have entered is complete for the ranks of this one.
  void fence_complete(std::uint32_t generation);
  /// The question of `rank` is answered; a record that was found is on the board.
  void want_answered(unsigned rank, std::uint32_t question);
  /// Wakes the ranks that wait for something on the board.
  void wake();

  launch::BoardHeader* header() { return board_; }
  const launch::BoardHeader* header() const { return board_; }
  /// The text at an offset of the header; "" at 0.
  const char* text_of(std::uint64_t offset) const { return offset ? launch::board_at<char>(board_, offset) : ""; }
  int board_fd() const { return board_fd_; }
  int bell_fd() const { return bell_write_; }  // the ranks' end
  int bell_read_fd() const { return bell_read_; }
  int shared_fd() const { return shared_fd_; }

 private:
  std::uint64_t store(const std::string& text);
  void store_nodes(const BoardFacts& facts);

  launch::BoardHeader* board_ = nullptr;
  std::size_t bytes_ = 0;
  int board_fd_ = -1, bell_read_ = -1, bell_write_ = -1, shared_fd_ = -1;
};

/// A number that is hard to guess, by which the processes of a job know each other.
std::uint64_t draw_cookie();

/// Start time of this process in clock ticks since boot, as /proc/self/stat has it; 0 without /proc.
std::uint64_t own_start_time();

}  // namespace ashlar::mpiexec
