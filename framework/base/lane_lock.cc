#include "framework/base/lane_lock.h"

namespace ashlar {

std::atomic<bool> LaneLock::threads_on_{false};

}  // namespace ashlar
