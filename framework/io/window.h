#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/io/stream.h"

namespace ashlar::io {

class OpenFile;

/// A part of the file in memory, with the bytes of it that are to be written.
struct Window {
  std::uint64_t begin = 0;  // a multiple of 64
  std::uint64_t bytes = 0;
  std::byte* data = nullptr;
  Mask* mask = nullptr;  // clear behind `bytes`
};

/// Writes the marked bytes of a window and no others: at once where they have no gaps, piece by piece where that is
/// cheaper than the gaps, or else the window with what the file has in the gaps, while no other process of the file
/// writes there. Without lane lock; blocks.
Status write_marked(OpenFile& file, const Window& window);

/// Reads a window; `*valid`: bytes of it in front of the end of the file.
Status read_window(OpenFile& file, std::uint64_t begin, std::uint64_t bytes, std::byte* data, std::uint64_t* valid);

/// Whether writes of the file may read a window and write it back.
bool may_sieve(const OpenFile& file);

}  // namespace ashlar::io
