#pragma once

namespace ashlar {

/// Writes out what the program has printed and C's streams still hold, before the process ends by itself; C++'s
/// standard streams pass through them unless the program has parted the two. Returns after a second at most: a pipe may
/// be full for ever, and a thread may hold a stream's lock. Any thread; set-up path.
void flush_streams();

}  // namespace ashlar
