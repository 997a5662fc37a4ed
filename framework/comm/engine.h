#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/comm/context_ids.h"

namespace ashlar {
class Comm;
struct Lane;
}  // namespace ashlar
namespace ashlar::comm {

struct Hardware;
class NameClient;
class Names;
class Outside;
class Ports;

/// What this room needs of the process it runs in. The runtime implements it; tests have a fake.
class Services {
 public:
  /// The lane of a communicator by its context id.
  virtual Lane* lane_of(std::uint32_t context) = 0;
  /// Index of the node that a process runs on, as this job counts its nodes. Processes of other jobs that run on none
  /// of those have others; each job counts for itself, so that what travels between jobs is an identity.
  virtual std::uint32_t node_of(PeerId peer) const = 0;
  /// The same number in every process of every job for processes of one node, and another one for those of another.
  virtual std::uint64_t node_identity(PeerId peer) = 0;
  /// The topology components, opened on first use.
  virtual const Hardware& hardware() = 0;
  /// A communicator of all processes of the job, for constructors that have no communicator to begin with.
  virtual Status everyone(Comm** result) = 0;
  /// Whether this process is in a process set of that name.
  virtual bool in_process_set(const char* name) = 0;

 protected:
  ~Services() = default;
};

/// The state of this room in one process. The process owns it and makes it current() from its start to its stop;
/// communicators exist only in between.
class Engine {
 public:
  Engine(Services& process, bool checks_hints, Outside* others = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  static Engine& current() { return *current_; }

  /// Keeps a communicator whose last reference went while its lane was locked, until destroy_waiting().
  void destroy_later(Comm* comm);
  /// Destroys the communicators whose last reference went while their lane was locked, by a request that completed. The
  /// constructors call it, and the process before its lanes go.
  void destroy_waiting();

  Services& services;
  const bool check_hints;  // parameter check.hints
  Outside* const outside;  // nullptr: there are no processes but those of this job
  ContextIds ids;
  const std::unique_ptr<Ports> ports;  // that are open
  const std::unique_ptr<Names> names;  // that this process has published on its host
  const std::unique_ptr<NameClient> name_client;
  Comm* parent = nullptr;  // what MPI_Comm_get_parent gives
  std::mutex locating;  // held around calls of the topology component that locates, which serves one thread at a time

 private:
  static Engine* current_;
  std::mutex mutex_;
  std::vector<Comm*> waiting_;  // under mutex_
};

}  // namespace ashlar::comm
