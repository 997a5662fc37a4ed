#pragma once
#include "framework/base/event.h"

namespace ashlar::progress {

extern constinit event::Type peer_failed;

}  // namespace ashlar::progress
