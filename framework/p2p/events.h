#pragma once
#include "framework/base/event.h"

namespace ashlar::p2p {

extern constinit event::Type message_unexpected;

}  // namespace ashlar::p2p
