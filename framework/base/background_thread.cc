#include "framework/base/background_thread.h"

namespace ashlar {
namespace {

thread_local bool here = false;
thread_local bool dormant_here = false;

}  // namespace

bool in_background() noexcept { return here; }
void enter_background() noexcept { here = true; }
bool is_dormant() noexcept { return dormant_here; }
void set_dormant(bool dormant) noexcept { dormant_here = dormant; }

}  // namespace ashlar
