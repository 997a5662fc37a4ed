#pragma once
#include <cstdint>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
}
namespace ashlar::comm {

/// A communicator like `comm` on context ids that were agreed on: groups, error handler, topology, and what attributes'
/// copy functions let through. Local.
Status duplicate(Comm& comm, std::uint32_t context, Comm** result);

}  // namespace ashlar::comm
