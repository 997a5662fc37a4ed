#pragma once
#include <string>
#include <string_view>

namespace ashlar::mpiexec {

/// The file that the dynamic loader takes for `library` according to the text of /etc/ld.so.cache; empty: none. Of a
/// text that is no such cache, or is cut, nothing is believed.
std::string path_in_loader_cache(std::string_view cache, std::string_view library);

}  // namespace ashlar::mpiexec
