#pragma once
#include "framework/base/status.h"

namespace ashlar {
class Window;
}
/// The calls on windows that do not touch their memory (MPI-5.0, 7.8).
namespace ashlar::window {

/// The null handle has its constant's name.
Status get_name(Window* window, char* name, int* length);
Status set_name(Window& window, const char* name);

}  // namespace ashlar::window
