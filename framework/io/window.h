#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "framework/base/status.h"
#include "framework/io/stream.h"
#include "framework/plugin/io.h"

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

/// Writes the bytes of a stream that lie in [begin, end) of the file, their first and their last one at its ends: with
/// what the file has in the gaps, while no other process of the file writes there. `memory` is for that range, and
/// placed as its bytes are in the file (kAligned). Without lane lock; blocks.
Status write_over(OpenFile& file, const Stream& stream, std::uint64_t begin, std::uint64_t end, std::byte* memory);

/// Memory whose address has the file offset's remainder by this is much quicker to read to, on some processors by ten
/// times: their instruction for long copies wants both sides aligned alike.
inline constexpr std::uint64_t kAligned = 64;

/// Memory for windows, each placed as its bytes are in the file's pages. It is malloc's own block, because malloc keeps
/// such a block for the next access; of a block that it aligns itself the size grows, and it gives the memory back to
/// the system each time.
class WindowMemory {
 public:
  WindowMemory() = default;
  ~WindowMemory() { std::free(all_); }
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;
  /// For windows of up to so many bytes.
  Status take(std::uint64_t bytes);
  bool taken() const { return all_ != nullptr; }
  /// For a window that begins at `offset` of the file.
  std::byte* at(std::uint64_t offset) const { return pages_ + offset % kPage; }

 private:
  static constexpr std::uint64_t kPage = 4096;
  void* all_ = nullptr;
  std::byte* pages_ = nullptr;
};

/// Reads a window; `*valid`: bytes of it in front of the end of the file.
Status read_window(OpenFile& file, std::uint64_t begin, std::uint64_t bytes, std::byte* data, std::uint64_t* valid);

/// Moves ascending pieces as they are; `*done`: bytes, fewer only at the end of the file. Writes share their range with
/// other writers, so that no old window is written over them; in atomic mode the access has its range already.
Status move_pieces(OpenFile& file, bool writes, const ashlar_io_piece* pieces, std::size_t count, std::uint64_t* done);

/// Whether writes of the file may read a window and write it back.
bool may_sieve(const OpenFile& file);

}  // namespace ashlar::io
