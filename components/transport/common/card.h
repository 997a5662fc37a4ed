#pragma once
#include <string>

namespace ashlar::network {

/// A network card that the system lists, "mlx5_0"; the first by name, of those for which `fits(folder in /sys)`. Empty:
/// there is none.
std::string card(bool (*fits)(const std::string& folder) = nullptr);

}  // namespace ashlar::network
