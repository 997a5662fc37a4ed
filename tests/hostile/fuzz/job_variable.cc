// ASHLAR__JOB, by which a rank finds its board.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "components/launch/native/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ashlar::launch::Trace trace;
  if (!ashlar::launch::parse_trace(text.c_str(), &trace)) return 0;
  if (strnlen(trace.job_id, sizeof trace.job_id) == sizeof trace.job_id) std::abort();
  // Whatever it names, this process is no rank of it.
  char why[300] = {};
  bool inherited = false;
  const int fd = ashlar::launch::open_board(trace, &inherited, why, sizeof why);
  if (fd >= 0 || why[0] == 0) std::abort();
  return 0;
}
