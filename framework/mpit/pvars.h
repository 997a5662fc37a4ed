#pragma once
#include <mpi.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/mpit/enumeration.h"
#include "framework/plugin/pvars.h"

namespace ashlar::mpit {

struct PvarHandle;

/// One performance variable. What is said of it never changes; its sources may become more.
struct Pvar {
  /// A row that is read for it: one for each life of the row's owner, the oldest first.
  struct Source {
    const plugin::PvarSet* set = nullptr;
    std::uint32_t row = 0;
    std::atomic<Source*> next{nullptr};
  };

  std::string name, description, category;
  int kind = 0, verbosity = 0, bind = 0;
  bool readonly = false, continuous = false, atomic = false;
  bool locks = false;  // reading it takes a lane's lock
  Enumeration* words = nullptr;
  std::uint32_t (*count)(const void* object) = nullptr;
  Source source;             // the first one
  Source* newest = nullptr;  // guarded by the mutex of Pvars
  /// Handles that watch a mark now; guarded by the mutex of marks.h.
  std::vector<PvarHandle*> watchers;

  MPI_Datatype datatype() const {
    return kind == MPI_T_PVAR_CLASS_STATE        ? MPI_INT
           : kind == MPI_T_PVAR_CLASS_PERCENTAGE ? MPI_DOUBLE
                                                 : MPI_UNSIGNED_LONG_LONG;
  }
  bool adds_up() const {
    return kind == MPI_T_PVAR_CLASS_COUNTER || kind == MPI_T_PVAR_CLASS_AGGREGATE || kind == MPI_T_PVAR_CLASS_TIMER;
  }
  bool marks() const { return !readonly && kind == MPI_T_PVAR_CLASS_HIGHWATERMARK; }
  /// What the library has counted so far. Any thread, any time, no lock.
  void read(const void* object, std::uint64_t* values, std::uint32_t how_many) const;
};

/// The performance variables that this process has known, in the order in which it came to know them: first those of
/// the kernel, before MPI_Init too.
class Pvars {
 public:
  int size();
  Pvar* at(int index);
  /// The index of the variable of this name and class, or -1.
  int find(std::string_view name, int kind);

 private:
  void know();
  void add(const plugin::PvarSet& set, std::uint32_t row);
  static void describe(const plugin::PvarSet& set, const ashlar_pvar_row& row, Pvar* pvar);

  std::mutex mutex_;
  std::deque<Pvar> list_;
  std::map<std::pair<int, std::string>, int> by_name_;  // class and name
  bool kernel_known_ = false;
  std::size_t sets_seen_ = 0;    // whole sets
  std::uint32_t rows_seen_ = 0;  // of the next one
};

Pvars& pvars();

}  // namespace ashlar::mpit
