#include "framework/base/background_thread.h"

namespace ashlar {
namespace {

thread_local bool here = false;

}  // namespace

bool in_background() noexcept { return here; }
void enter_background() noexcept { here = true; }

}  // namespace ashlar
