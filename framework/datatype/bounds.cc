#include "framework/datatype/bounds.h"

#include <algorithm>

namespace ashlar::datatype {
namespace {

// Extends [low, high] by value + first and value + last; false on overflow.
bool extend(bool known, MPI_Count value, MPI_Count first, MPI_Count last, MPI_Count* low, MPI_Count* high) {
  MPI_Count a, b;
  if (__builtin_add_overflow(value, first, &a) || __builtin_add_overflow(value, last, &b)) return false;
  if (low) *low = known ? std::min({*low, a, b}) : std::min(a, b);
  if (high) *high = known ? std::max({*high, a, b}) : std::max(a, b);
  return true;
}

}  // namespace

MPI_Count Bounds::ub() const {
  if (has_mark_ub) return mark_ub;
  const MPI_Count low = lb();
  if (!has_data) return low;
  const MPI_Count past = (data_ub - low) % align;
  return past == 0 ? data_ub : past > 0 ? data_ub + (align - past) : data_ub - past;
}

bool Bounds::join(const Bounds& part, MPI_Count first, MPI_Count last) {
  bool fits = true;
  if (part.has_data) {
    fits = fits && extend(has_data, part.data_lb, first, last, &data_lb, nullptr);
    fits = fits && extend(has_data, part.data_ub, first, last, nullptr, &data_ub);
    has_data = true;
    align = std::max(align, part.align);
  }
  if (part.has_mark_lb) {
    fits = fits && extend(has_mark_lb, part.mark_lb, first, last, &mark_lb, nullptr);
    has_mark_lb = true;
  }
  if (part.has_mark_ub) {
    fits = fits && extend(has_mark_ub, part.mark_ub, first, last, nullptr, &mark_ub);
    has_mark_ub = true;
  }
  MPI_Count extent;
  return fits && !__builtin_sub_overflow(ub(), lb(), &extent);
}

}  // namespace ashlar::datatype
