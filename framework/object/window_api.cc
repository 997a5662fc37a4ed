#include "framework/object/window_api.h"

#include "framework/object/name.h"
#include "framework/object/window.h"

namespace ashlar::window {

Status get_name(Window* window, char* name, int* length) {
  copy_name(window != nullptr ? window->name.c_str() : "MPI_WIN_NULL", name, length);
  return {};
}

Status set_name(Window& window, const char* name) {
  window.name.give(name);
  return {};
}

}  // namespace ashlar::window
