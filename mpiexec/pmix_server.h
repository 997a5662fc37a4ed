#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// Name and ranks of each.
using ProcessSets = std::vector<std::pair<std::string, std::vector<unsigned>>>;

struct PmixFacts {
  std::string job_id, host, tmpdir;
  std::vector<unsigned> appnum_of_rank;
  unsigned universe = 0;
  ProcessSets sets;
};

/// What the clients do, reported by the server's own thread. Each must return at once.
class PmixListener {
 public:
  virtual ~PmixListener() = default;
  virtual void connected(unsigned rank) = 0;
  virtual void finalized(unsigned rank) = 0;
  virtual void aborted(unsigned rank, int code, const char* text) = 0;
};

/// A PMIx server for the ranks, for programs that speak PMIx themselves. It lives in a library of its own that is
/// loaded only when it is wanted: libpmix costs mpiexec 15 ms, and opens a port on the loopback interface.
class PmixServer {
 public:
  virtual ~PmixServer() = default;
  /// Empty once the server runs; otherwise libpmix's words. No Status: the library has no catalogue of its own.
  virtual std::string start(const PmixFacts& facts, PmixListener* listener) = 0;
  /// Variables that lead `rank` to the server.
  virtual std::vector<std::pair<std::string, std::string>> environment(unsigned rank) = 0;
  /// Tells the other ranks that `rank` failed.
  virtual void failed(unsigned rank) = 0;
};

/// Loads the library from beside mpiexec's own.
Status load_pmix_server(std::unique_ptr<PmixServer>* server);

/// Whether the program is linked against PMIx itself, or against an MPI library that speaks nothing else.
/// Reads the file's own list of libraries; it cannot see what the program will load while it runs.
bool links_pmix(const std::string& file);

}  // namespace ashlar::mpiexec
