#pragma once
#include <poll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"
#include "mpiexec/pmix_message.h"

namespace ashlar::mpiexec {

/// Name and ranks of each.
using ProcessSets = std::vector<std::pair<std::string, std::vector<unsigned>>>;

struct PmixFacts {
  std::string job_id, tmpdir;
  std::vector<std::string> hosts;           // of each node
  std::vector<std::uint32_t> node_of_rank;  // of every rank of the job
  std::uint32_t node = 0;                   // the server's own
  std::vector<unsigned> appnum_of_rank;
  unsigned universe = 0;
  ProcessSets sets;
  PmixProcess parent;  // that has started the job through PMIx; without a name: none has
};

template <class Archive>
void fields(Archive& a, PmixFacts& f) {
  a(f.job_id, f.hosts, f.node_of_rank, f.appnum_of_rank, f.universe, f.parent);
}

/// What the clients do, reported by the server's own thread. Each must return at once.
class PmixListener {
 public:
  virtual ~PmixListener() = default;
  virtual void connected(unsigned rank) = 0;
  virtual void finalized(unsigned rank) = 0;
  virtual void aborted(unsigned rank, int code, const char* text) = 0;
  /// The server has something for its process's loop.
  virtual void wake() = 0;
};

/// A PMIx server for the ranks of this host, for programs that speak PMIx themselves. It lives in a library of its own
/// that is loaded only when it is wanted: libpmix costs mpiexec 15 ms, and opens a port on the loopback interface.
/// What concerns other hosts or jobs it asks of mpiexec, as ranks do: over connections whose other ends are taken by
/// take_calls().
class PmixServer {
 public:
  virtual ~PmixServer() = default;
  /// Empty once the server runs; otherwise libpmix's words. No Status: the library has no catalogue of its own.
  virtual std::string start(const PmixFacts& facts, PmixListener* listener) = 0;
  /// Variables that lead `rank` to the server.
  virtual std::vector<std::pair<std::string, std::string>> environment(unsigned rank) = 0;
  /// Tells the ranks of this host that `rank`, of any host, failed.
  virtual void failed(unsigned rank) = 0;
  /// The process of a rank of this host has ended.
  virtual void ended(unsigned rank) = 0;

  /// Connections for mpiexec that are new since the last call.
  virtual std::vector<Descriptor> take_calls() = 0;
  virtual void add(std::vector<pollfd>* fds) = 0;
  virtual void handle(const std::vector<pollfd>& fds) = 0;

  /// Tells the listener nothing more. The server stays until the process ends, which has to be soon: libpmix's own end
  /// waits for ever, at times, after clients that have left within a question.
  virtual void leave() = 0;
};

/// Loads the library from beside mpiexec's own.
Status load_pmix_server(std::unique_ptr<PmixServer>* server);

/// Whether the program is linked against PMIx itself, or against an MPI library that speaks nothing else.
/// Reads the file's own list of libraries; it cannot see what the program will load while it runs.
bool links_pmix(const std::string& file);

}  // namespace ashlar::mpiexec
