#pragma once
#include <cstdint>
#include <string>

namespace ashlar::runtime {

/// Where a piece of code lies, as far as the process can tell without reading debugging information.
struct CallSite {
  std::string file;          // the program or library, "" when the address belongs to none
  std::uintptr_t place = 0;  // the argument for addr2line -e FILE
  std::string function;      // "" when the file does not say
};

/// Of the call that returns to `return_address`.
CallSite call_site(const void* return_address);

/// "heat2d+0x11b9 (make_grid)".
std::string to_text(const CallSite& site);

}  // namespace ashlar::runtime
