#pragma once
#include <vector>

namespace ashlar::topo {

/// `parts` factors of `number`, in falling order, as even as they can be: the largest and the smallest are as close to
/// each other as in any such list, and among equals the largest is smallest.
std::vector<int> even_factors(int number, int parts);

}  // namespace ashlar::topo
