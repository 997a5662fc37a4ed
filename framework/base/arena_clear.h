#pragma once

namespace ashlar {

/// Makes every object behind a handle read as none: zeros. For the child of a fork, which has a copy of all of them and
/// must use none. Takes no lock. Not in arena.h, which every room includes and nobody else needs it from.
void clear_arena() noexcept;

}  // namespace ashlar
