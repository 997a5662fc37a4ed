#pragma once
#include <cstddef>
#include <span>

#include "framework/datatype/basic.h"
#include "framework/datatype/reduce_op.h"

namespace ashlar::datatype {

/// out[i] = a[i] op b[i] for `n` elements; `out` is `b` or apart from both.
using Kernel = void (*)(const void* a, const void* b, void* out, std::size_t n);

/// One kernel per operation and element type; null where there is no such computation.
struct KernelTable {
  Kernel kernel[static_cast<int>(ReduceOp::Code::kUser)][static_cast<int>(Basic::kCount_)];
};

/// The kernels compiled for one instruction set. Neither they nor what fills a table with them may run on a machine
/// without it.
struct KernelSet {
  const char* name;
  bool (*supported)();
  void (*fill)(KernelTable& table);
};
/// From the one that every machine has to the widest.
std::span<const KernelSet> kernel_sets();

// What kernel_sets() names, one for each kernels_*.cc.
void fill_kernels_base(KernelTable& table);
#if defined(__x86_64__)
void fill_kernels_avx2(KernelTable& table);
void fill_kernels_avx512(KernelTable& table);
#endif

}  // namespace ashlar::datatype
