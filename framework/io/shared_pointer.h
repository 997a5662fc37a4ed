#pragma once
#include <mpi.h>

#include <cstdint>
#include <mutex>

#include "framework/base/status.h"

namespace ashlar {
class Window;
}
namespace ashlar::io {

class OpenFile;

/// The shared file pointers of a file, in etypes: one for each of the last views (OpenFile::generation), so that a
/// process may count in a view that others do not have yet, and the pointer that a view begins with is zero already.
/// They are words of the SharedBlock; where the processes do not all map one, words of a window on rank 0, which serves
/// the others in its MPI calls. Any thread.
class SharedPointers {
 public:
  static constexpr std::uint32_t kViews = 64;

  /// Collective, behind make_block(). Without pointers the calls that need them fail, and say why.
  void make(OpenFile& file);
  /// Collective.
  void drop();
  bool there(const OpenFile& file) const;

  /// Moves the one of the present view by `by`; `*before` is where it was.
  Status add(OpenFile& file, MPI_Offset by, MPI_Offset* before);
  Status read(OpenFile& file, MPI_Offset* at);
  /// That of view `generation`, while no other process uses it. On rank 0.
  Status store(OpenFile& file, std::uint32_t generation, MPI_Offset at);

 private:
  Status update(std::uint32_t generation, MPI_Op op, MPI_Offset value, MPI_Offset* before);

  Window* window_ = nullptr;
  std::mutex turn_;  // of the window's operations: MPI_Win_flush waits for those of all threads
};

}  // namespace ashlar::io
