#pragma once
#include <cstddef>
#include <cstdint>

namespace ashlar::launch {

/// The contents of ASHLAR__JOB: where the board of mpiexec is, and which rank this process is.
struct Trace {
  int board_fd = -1;
  int bell_fd = -1;
  int shared_fd = -1;
  std::uint32_t rank = 0;
  std::uint32_t launcher_pid = 0;
  std::uint64_t launcher_start = 0;
  char job_id[64] = {};
};

/// Parses the variable's text; false when it is not of our making.
bool parse_trace(const char* text, Trace* trace);

/// Whether this process may be the rank that `trace` names. Returns a descriptor of the board (close-on-exec, owned
/// by the caller) or -1 with a sentence in `why`. Changes nothing.
///
/// The variable outlives the job's own processes: children of a rank inherit it and must not take the rank's place.
/// They lack the descriptors, which a rank closes on exec. So do ranks below a wrapper that closes descriptors; those
/// are let in through /proc when the launcher is our ancestor and no other process is this rank. `inherited`: whether
/// the variable's descriptor, still open, is the board.
int open_board(const Trace& trace, bool* inherited, char* why, std::size_t why_bytes);

/// Gives `take` the parameters of the job without joining it: the board is read, and nothing on it changes. False:
/// there are none.
bool peek(const Trace& trace, void (*take)(void*, const char*), void* context);

}  // namespace ashlar::launch
