#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/io/mappings.h"
#include "framework/io/stream.h"

namespace ashlar::io {

class OpenFile;

/// Moves `bytes` contiguous bytes of memory from or to byte `at` of the packed stream of the file's view. `*moved`:
/// fewer only at the end of the file, or with a failure. Pieces of the view that lie close together are read with the
/// gaps between them; writes of such pieces may read a window and write it back, while no other process of the file
/// writes there.
Status move_bytes(OpenFile& file, bool writes, std::uint64_t at, std::byte* memory, std::uint64_t bytes,
                  std::uint64_t* moved);

/// Whether an access may go through a mapping, and what that would mean for it. `stream` ascends.
bool may_wish(const OpenFile& file, bool writes, const Stream& stream, MapWish* wish);

/// Keeps a decision record of the way that such an access goes, where it differs from the one before. Under the lane's
/// lock.
void record_own_choice(OpenFile& file, const char* call, bool writes, std::uint64_t at, std::uint64_t bytes);

}  // namespace ashlar::io
