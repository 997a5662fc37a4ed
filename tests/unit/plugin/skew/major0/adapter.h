#pragma once
#include "framework/plugin/statement.h"

namespace ashlar::plugin::testing_fixture {

/// Takes components of contract 0; up to four in a process.
extern const Adapter kAdapter0;

}  // namespace ashlar::plugin::testing_fixture
