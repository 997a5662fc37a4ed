#pragma once
#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "framework/mpit/bound.h"
#include "framework/mpit/handles.h"
#include "framework/mpit/pvars.h"

namespace ashlar::mpit {

/// Behind MPI_T_pvar_session.
struct PvarSession : Tagged {
  PvarSession() : Tagged(Tag::kSession) {}
  std::mutex mutex;
  std::vector<PvarHandle*> handles;  // guarded by the mutex
};

/// Behind MPI_T_pvar_handle: a variable as one session sees it, counted from where the session says. Nothing here
/// changes what the library counts, so sessions do not see each other. Reading, starting, stopping, writing and
/// resetting take no lock, but where the variable is a mark (marks.h) or its description says so.
struct PvarHandle : Tagged {
  PvarHandle() : Tagged(Tag::kPvar) {}

  /// Codes of MPI_T. `values`: elements of the variable's datatype.
  int read(void* values);
  int read_and_reset(void* values);
  int write(const void* values);
  int reset();
  int start();
  int stop();

  /// What the library has counted now; false: the object is gone.
  bool count_now(std::uint64_t* values) const;

  struct Word {
    std::atomic<std::uint64_t> base{0};  // while it runs: what the library had counted at zero. Of a mark: the mark
    std::atomic<std::uint64_t> kept{0};  // while it does not: the value
  };
  PvarSession* session = nullptr;
  Pvar* pvar = nullptr;
  Bound bound;
  std::uint32_t count = 0;
  std::atomic<bool> running{false};
  std::unique_ptr<Word[]> words;

 private:
  int give(const std::uint64_t* values, void* out) const;
};

}  // namespace ashlar::mpit
