#pragma once
#include <cstdint>

namespace ashlar::io {

class OpenFile;

/// Holds a range of the bytes of a file against the other processes of the same MPI_File_open: shared with those that
/// hold it shared, or exclusively. Writers share; a process that reads a window in order to write it back, and a write
/// in atomic mode, exclude all others. A holder makes system calls and never waits for another process, so that waits
/// end. Without shared memory, and for an empty range, it does nothing.
///
///   short path  as long as no process holds or wants any range exclusively: a shared range is stored in the process's
///   slot long path   an entry in the block's table, under its mutex
class RangeLock {
 public:
  enum class Kind : unsigned char { kShared, kExclusive };
  RangeLock(OpenFile& file, Kind kind, std::uint64_t first, std::uint64_t end);
  ~RangeLock();
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;

 private:
  enum class Held : unsigned char { kNothing, kSlot, kEntry };
  bool take_slot(std::uint64_t first, std::uint64_t end);
  void take_entry(std::uint64_t first, std::uint64_t end);
  bool try_entry(std::uint64_t first, std::uint64_t end);
  void tell() const;

  OpenFile& file_;
  const bool exclusive_;
  Held held_ = Held::kNothing;
  unsigned entry_ = 0;
};

}  // namespace ashlar::io
