#pragma once
#include <atomic>

namespace ashlar {

class Comm;
struct Object;

/// Finds the window whose own communicator is `own`: failures of requests on it are raised on the window. nullptr: it
/// is no window's. Any thread. Null while the process has no windows.
using WindowOf = Object* (*)(const Comm& own);
extern std::atomic<WindowOf> window_of;

}  // namespace ashlar
