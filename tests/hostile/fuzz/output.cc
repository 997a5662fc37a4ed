// Patterns of --output: what passes makes names that differ from rank to rank.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "mpiexec/rank_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar::mpiexec;
  const std::string pattern = std::string(reinterpret_cast<const char*>(data), size).c_str();
  if (const auto status = check_output(pattern); !status.ok()) {
    if (*status.text() == '\0') std::abort();
    return 0;
  }
  const RankFileFacts one{1, 12, 0, "host"}, other{11, 12, 0, "host"};
  for (const char* stream : {"out", "err"})
    if (rank_file_name(pattern, one, stream) == rank_file_name(pattern, other, stream)) std::abort();
  return 0;
}
