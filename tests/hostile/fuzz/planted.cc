// Mistakes for the driver to find, each behind a word of its own; PLANT chooses one, none without it.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {
int descend(volatile int* depth) {
  volatile int here = *depth + 1;
  return here < 0 ? 0 : descend(&here) + here;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const plant = std::getenv("PLANT");
  if (!plant) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size), wanted = plant;
  if (wanted == "growth") {
    static std::vector<std::vector<char>> kept;
    kept.emplace_back(100'000, 'x');
  }
  if (text.find("planted") == std::string::npos) return 0;
  if (wanted == "abort") std::abort();
  if (wanted == "hang") {
    for (volatile bool forever = true; forever;) usleep(1000);
  }
  volatile int depth = 0;
  if (wanted == "recursion") descend(&depth);
  return 0;
}
