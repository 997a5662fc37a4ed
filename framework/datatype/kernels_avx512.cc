// The same loops compiled for AVX-512 (flags in CMakeLists.txt). No FMA: results are those of the base kernels.
#if defined(__x86_64__)
#include "framework/datatype/reduce_kernels.h"

namespace ashlar::datatype {

// GCC 12 joins the products and the sum of a complex product into one vfmaddsub, whatever -ffp-contract says, and that
// rounds once where the other sets round twice. Ranks on different processors would disagree about the last bit, so
// these products are AVX2's, which every machine with AVX-512 has.
void fill_kernels_avx512(KernelTable& table) {
  fill(table);
  KernelTable avx2{};
  fill_kernels_avx2(avx2);
  constexpr int kProduct = static_cast<int>(Code::kProd);
  constexpr int kComplex[] = {static_cast<int>(Basic::kC32), static_cast<int>(Basic::kC64)};
  for (const int type : kComplex) table.kernel[kProduct][type] = avx2.kernel[kProduct][type];
}

}  // namespace ashlar::datatype
#endif
