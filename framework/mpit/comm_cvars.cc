#include "framework/mpit/comm_cvars.h"

namespace ashlar::mpit {

std::span<const CommVariable> comm_variables() { return {}; }

}  // namespace ashlar::mpit
