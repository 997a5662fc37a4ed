#pragma once
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "framework/io/counts.h"
#include "framework/io/facts.h"
#include "framework/io/mappings.h"
#include "framework/io/meter.h"
#include "framework/io/shared_block.h"
#include "framework/io/shared_pointer.h"
#include "framework/io/view.h"
#include "framework/io/worker.h"
#include "framework/object/comm.h"
#include "framework/object/file.h"
#include "framework/plugin/io.h"

namespace ashlar {
class Request;
}
namespace ashlar::io {

/// Hints that are in force: parameters io.*, and the info keys of the same meaning.
struct Hints {
  std::uint64_t sieve_read_bytes = 0, sieve_write_bytes = 0;
  std::uint64_t window_bytes = 0;
  std::uint32_t aggregators = 0;  // 0: as many as there are processes
  Switch reads_together = Switch::kAuto, writes_together = Switch::kAuto;
  Switch sieve_reads = Switch::kAuto, sieve_writes = Switch::kAuto;
};

/// A file and what this process knows of it. Everything is constant once it is open, except where said.
class OpenFile final : public File {
 public:
  Ref<Comm> owned;  // File::comm: the file's own, so that its exchanges meet no others
  std::string path;
  int amode = 0;
  ashlar_io_file* bytes = nullptr;  // of the component `driver`
  const char* driver = "";
  Meter* meter = nullptr;         // of its file system
  SharedBlock* shared = nullptr;  // nullptr: the processes share no memory
  std::string why_not_shared;
  std::uint32_t node = 0;  // of this process, as comm::own_node_in() says it
  SharedPointers pointers;

  // --- changed by collective calls -----------------------------------------------------------------------------------
  View view;
  std::uint32_t generation = 0;  // counts calls for a view: the shared pointer of each is another one
  std::uint32_t viewed = 0;      // the one that `view` is of
  bool atomic = false;
  bool plain = false;  // bytes of the view are those of the file in a row, and no access is looked at (choose_path())
  bool views_differ = false;  // with check.files
  Hints hints;
  std::vector<std::pair<std::string, std::string>> kept;  // hints that are given back and mean nothing to this room

  // --- changed by accesses -------------------------------------------------------------------------------------------
  std::mutex moving;        // guards `position` where there are threads
  MPI_Offset position = 0;  // the individual file pointer, in etypes
  std::mutex locking;       // held with a lock of the file system
  Mappings mappings;

  // Guarded by the lane's lock.
  std::uint32_t pending = 0;         // nonblocking accesses that move data
  std::uint64_t together_begun = 0;  // collective accesses, the first has number 1
  std::uint64_t together_over = 0;   // here
  bool windows_reached = false;      // every process has mapped the windows of all others
  bool windows_refused = false;      // or one of them cannot
  // Ways of reads and writes that have a decision record: of a process's own accesses, and of collective ones.
  Way told[2][2] = {};
  Counts counts;          // any thread
  RequestsLeft requests;  // nullptr: not counted

  /// A split collective that has begun (MPI-5.0, 14.4.5).
  struct Split {
    const char* begun = nullptr;  // the call; nullptr: none
    const void* buffer = nullptr;
    MPI_Count bytes = 0;         // moved by the first half
    Request* request = nullptr;  // of the access that goes on; nullptr: the first half has made it
  } split;

  bool reads() const { return (amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR)) != 0; }
  bool writes() const { return (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0; }
  bool sequential() const { return (amode & MPI_MODE_SEQUENTIAL) != 0; }
  /// The thread for a file without offsets, whose transfers may take for ever.
  Worker& own_worker() {
    if (worker == nullptr) worker = std::make_unique<Worker>(1);
    return *worker;
  }
  std::unique_ptr<Worker> worker;
  bool seekable() const { return (bytes->capabilities & ASHLAR_IO_SEEKABLE) != 0; }
  /// Whether each process reads at once what the others have written. Those that share memory are of one node.
  bool coherent() const {
    return (bytes->capabilities & (shared != nullptr ? ASHLAR_IO_NODE_COHERENT : ASHLAR_IO_COHERENT)) != 0;
  }
};

/// What all processes have written, and no other one reads yet, is brought to the device; then all read it. Collective.
Status sync_all(OpenFile& file);
/// The calls of the component, for one process.
Status sync(OpenFile& file);
Status refresh(OpenFile& file);

/// Whether accesses of one process alone may take the short path: after each change of the view and of atomic mode.
void choose_path(OpenFile& file);

/// What the system says of it.
Status stat_of(const OpenFile& file, ashlar_io_stat* out);

inline OpenFile& of(File& file) { return static_cast<OpenFile&>(file); }

}  // namespace ashlar::io
