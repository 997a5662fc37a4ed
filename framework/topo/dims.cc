// MPI_Dims_create: the most even grid.
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "framework/base/failure.h"
#include "framework/topo/api.h"
#include "framework/topo/dims.h"

namespace ashlar::topo {
namespace {

/// Looks for the factors of a number, from the largest down, whose largest and smallest are closest to each other;
/// among those, the ones with the smallest largest factor. A search through divisors, cut short wherever it cannot get
/// better.
class EvenFactors {
 public:
  EvenFactors(int number, int parts) : number_(number), parts_(parts), best_gap_(number) {
    for (int d = 1; static_cast<long long>(d) * d <= number; ++d) {
      if (number % d != 0) continue;
      divisors_.push_back(d);
      if (d != number / d) divisors_.push_back(number / d);
    }
    std::sort(divisors_.begin(), divisors_.end());
  }

  std::vector<int> find() {
    std::vector<int> factors(static_cast<std::size_t>(parts_), 1);
    factors[0] = number_;
    best_ = factors;
    best_gap_ = parts_ == 1 ? 0 : number_ - 1;
    for (const int largest : divisors_) {
      if (power_below(largest, parts_, number_)) continue;  // too small for all to be at most as large
      // The smallest factor is at most the root of the number, and so is every gap from here on at least this.
      if (best_gap_ == 0 || largest - root() >= best_gap_) break;
      factors[0] = largest;
      descend(factors, 1, number_ / largest);
    }
    return best_;
  }

 private:
  /// base^n < limit
  static bool power_below(long long base, int n, long long limit) {
    long long power = 1;
    for (int i = 0; i < n && power < limit; ++i) {
      power *= base;
      if (base == 1) break;
    }
    return power < limit;
  }
  /// The largest number whose power of `parts_` is at most the number.
  int root() const {
    int r = 1;
    while (!power_above(r + 1, parts_, number_)) ++r;
    return r;
  }
  static bool power_above(long long base, int n, long long limit) {
    long long power = 1;
    for (int i = 0; i < n; ++i)
      if ((power *= base) > limit) return true;
    return false;
  }

  void descend(std::vector<int>& factors, std::size_t at, int left) {
    const int above = factors[at - 1];
    if (at + 1 >= factors.size()) {
      if (at == factors.size() ? left != 1 : left > above) return;
      if (at < factors.size()) factors[at] = left;
      const int gap = factors.front() - factors.back();
      if (gap < best_gap_) {
        best_gap_ = gap;
        best_ = factors;
      }
      return;
    }
    const int parts_left = static_cast<int>(factors.size() - at);
    for (auto d = std::upper_bound(divisors_.begin(), divisors_.end(), above); d-- != divisors_.begin();) {
      const int factor = *d;
      if (left % factor != 0) continue;
      if (power_below(factor, parts_left, left)) return;  // the rest cannot make up for it
      if (factors.front() - factor >= best_gap_) return;
      factors[at] = factor;
      descend(factors, at + 1, left / factor);
    }
  }

  const int number_, parts_;
  std::vector<int> divisors_, best_;
  int best_gap_;
};

}  // namespace

std::vector<int> even_factors(int number, int parts) { return EvenFactors(number, parts).find(); }

Status dims_create(int nnodes, int ndims, int dims[]) {
  if (nnodes <= 0)
    return fail(MPI_ERR_ARG, "argument.value", {{"argument", "nnodes"}, {"value", nnodes}, {"wanted", "1 or more"}});
  long long fixed = 1;
  int free = 0;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0)
      return fail(MPI_ERR_DIMS, "argument.element",
                  {{"argument", "dims"}, {"index", d}, {"value", dims[d]}, {"wanted", "0 (free) or more"}});
    if (dims[d] == 0)
      ++free;
    else if ((fixed *= dims[d]) > nnodes)
      break;
  }
  if (ndims == 0) return {};
  if (nnodes % fixed != 0 || (free == 0 && fixed != nnodes))
    return fixed > nnodes ? fail(MPI_ERR_DIMS, "topology.dims_too_large", {{"argument", "nnodes"}, {"value", nnodes}})
                          : fail(MPI_ERR_DIMS, "topology.dims_do_not_divide",
                                 {{"argument", "nnodes"}, {"value", nnodes}, {"places", fixed}});
  if (free == 0) return {};
  const std::vector<int> factors = even_factors(nnodes / static_cast<int>(fixed), free);
  for (int d = 0, next = 0; d < ndims; ++d)
    if (dims[d] == 0) dims[d] = factors[static_cast<std::size_t>(next++)];
  return {};
}

}  // namespace ashlar::topo
