#pragma once
#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "framework/io/shared_block.h"
#include "framework/io/view.h"
#include "framework/object/comm.h"
#include "framework/object/file.h"
#include "framework/plugin/io.h"

namespace ashlar::io {

/// A file and what this process knows of it. Everything is constant once it is open, except where said.
class OpenFile final : public File {
 public:
  Ref<Comm> owned;  // File::comm: the file's own, so that its exchanges meet no others
  std::string path;
  int amode = 0;
  ashlar_io_file* bytes = nullptr;  // of the component `driver`
  const char* driver = "";
  SharedBlock* shared = nullptr;  // nullptr: the processes share no memory
  std::string why_not_shared;

  // --- changed by collective calls -----------------------------------------------------------------------------------
  View view;
  std::uint32_t generation = 0;  // counts views: the shared pointer of each is another one
  bool atomic = false;
  std::vector<std::pair<std::string, std::string>> hints;  // in force, in the order that they were given
  std::uint64_t sieve_bytes = 0;

  // --- changed by accesses
  // --------------------------------------------------------------------------------------------
  std::mutex moving;        // guards `position` where there are threads
  MPI_Offset position = 0;  // the individual file pointer, in etypes

  /// A split collective that has begun (MPI-5.0, 14.4.5).
  struct Split {
    const char* begun = nullptr;  // the call; nullptr: none
    const void* buffer = nullptr;
    MPI_Count bytes = 0;
  } split;

  bool reads() const { return (amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR)) != 0; }
  bool writes() const { return (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0; }
  bool sequential() const { return (amode & MPI_MODE_SEQUENTIAL) != 0; }
  bool seekable() const { return (bytes->capabilities & ASHLAR_IO_SEEKABLE) != 0; }
};

/// What the system says of it.
Status stat_of(const OpenFile& file, ashlar_io_stat* out);

inline OpenFile& of(File& file) { return static_cast<OpenFile&>(file); }

}  // namespace ashlar::io
