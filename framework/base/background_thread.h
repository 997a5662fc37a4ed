#pragma once

namespace ashlar {

/// Whether the calling thread makes progress beside a program that computes (progress.thread). Such a thread had better
/// leave to others what costs much time of a core: the core is the program's.
bool in_background() noexcept;
/// Said once by such a thread.
void enter_background() noexcept;
/// Whether the thread is about to sleep until another process asks for progress (ashlar_endpoint_ops::wake): messages
/// that arrive leave it asleep.
bool is_dormant() noexcept;
void set_dormant(bool dormant) noexcept;

}  // namespace ashlar
