#pragma once

namespace ashlar {

/// Whether the calling thread makes progress beside a program that computes (progress.thread). Such a thread had better
/// leave to others what costs much time of a core: the core is the program's.
bool in_background() noexcept;
/// Said once by such a thread.
void enter_background() noexcept;

}  // namespace ashlar
