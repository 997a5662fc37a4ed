#pragma once
#include <optional>

#include "framework/coll/engine.h"
#include "framework/p2p/config.h"
#include "framework/progress/config.h"

namespace ashlar::runtime {

/// Values that a tool has written while the process runs, of the rooms whose lanes go by them.
struct LiveValues {
  std::optional<progress::Config> progress;
  std::optional<p2p::Config> p2p;
  std::optional<coll::Config> coll;
};

}  // namespace ashlar::runtime
