#pragma once
#include <cstdint>

#include "framework/base/status.h"

namespace ashlar::io {

class OpenFile;

/// Holds a range of the bytes of a file against the other processes of the same MPI_File_open: shared with those that
/// hold it shared, or exclusively. Writers share; a process that reads a window in order to write it back, and a write
/// in atomic mode, exclude all others. A holder makes system calls and never waits for another process, so that waits
/// end. For an empty range it does nothing.
///
///   short path   as long as no process holds or wants any range exclusively: a shared range is stored in the process's
///                slot
///   long path    an entry in the block's table, under its mutex
///   without shared memory   ranges of atomic mode are locks of the file system, which exclude each other always; there
///                are no others, because no process reads a window to write it back (may_sieve)
class RangeLock {
 public:
  enum class Kind : unsigned char { kShared, kExclusive };
  RangeLock(OpenFile& file, Kind kind, std::uint64_t first, std::uint64_t end);
  ~RangeLock();
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;
  /// Why the file system gives no lock.
  Status refused() const;

 private:
  enum class Held : unsigned char { kNothing, kSlot, kEntry, kFileSystem, kRefused };
  void take_of_file_system(std::uint64_t first, std::uint64_t end);
  bool take_slot(std::uint64_t first, std::uint64_t end);
  void take_entry(std::uint64_t first, std::uint64_t end);
  bool try_entry(std::uint64_t first, std::uint64_t end);
  void tell() const;

  OpenFile& file_;
  const bool exclusive_;
  Held held_ = Held::kNothing;
  unsigned entry_ = 0;
  std::uint64_t first_ = 0, bytes_ = 0;  // kFileSystem
};

/// Whether the file system has locks of ranges for this file.
bool file_system_locks(OpenFile& file);

}  // namespace ashlar::io
