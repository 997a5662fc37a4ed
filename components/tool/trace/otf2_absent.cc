// This build found no OTF2 library.
#include "components/tool/trace/otf2.h"

namespace ashlar::tool_trace {

std::string write_otf2(const recording::Records&, const std::string&) {
  return "this installation was built without the OTF2 library";
}

}  // namespace ashlar::tool_trace
