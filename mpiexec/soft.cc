#include "mpiexec/soft.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace ashlar::mpiexec {
namespace {

constexpr long kFarthest = 1L << 31;  // of numbers in a list: their sums and differences fit

/// The largest of first, first + step ... up to `last` that is not above `most`; 0 when there is none from 1 on.
long largest_in(long first, long last, long step, long most) {
  long value = first;
  if (step > 0) {
    const long end = std::min(last, most);
    if (end < first) return 0;
    value = first + (end - first) / step * step;
  } else if (first > most) {
    value = first - (first - most - step - 1) / -step * -step;
    if (value < last) return 0;
  }
  return std::max(value, 0L);
}

}  // namespace

bool largest_of(const std::string& list, long most, long* found) {
  *found = 0;
  for (const char* at = list.c_str();; ++at) {
    long numbers[3];
    int count = 0;
    do {
      if (count > 0) ++at;
      if (count == 3) return false;
      char* end = nullptr;
      errno = 0;
      numbers[count] = std::strtol(at, &end, 10);
      if (end == at || errno != 0 || std::labs(numbers[count]) > kFarthest) return false;
      ++count;
      at = end;
    } while (*at == ':');
    const long first = numbers[0], last = count > 1 ? numbers[1] : first;
    const long step = count > 2 ? numbers[2] : 1;
    if (step == 0 || (step > 0 ? last < first : last > first)) return false;
    *found = std::max(*found, largest_in(first, last, step, most));
    if (*at == '\0') return true;
    if (*at != ',') return false;
  }
}

}  // namespace ashlar::mpiexec
