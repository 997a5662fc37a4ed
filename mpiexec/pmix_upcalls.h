#pragma once
#include <pmix.h>
#include <pmix_server.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mpiexec/pmix_link.h"
#include "mpiexec/pmix_server.h"

namespace ashlar::mpiexec {

/// What libpmix asks the process for that its server runs in: what is known here is answered, the rest goes to the hub.
/// One per process, for the callbacks of libpmix carry no context of ours.
class PmixUpcalls {
 public:
  PmixUpcalls(const PmixFacts& facts, PmixListener* listener) : facts_(facts), listener_(listener) {}

  /// The one that filled the module.
  static PmixUpcalls& current();
  /// Says hello to the hub. False: the system refuses a connection.
  bool open();
  void fill(pmix_server_module_t* module);
  /// The process of a rank of this host has ended: nothing more comes of it.
  void ended(unsigned rank);
  PmixLink& link() { return link_; }
  const PmixFacts& facts() const { return facts_; }
  /// Tells the listener, as long as there is one.
  template <class What>
  void tell(What what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (listener_ != nullptr) what(*listener_);
  }
  void leave();
  bool is_all_here(const pmix_proc_t* procs, std::size_t count) const;
  pmix_status_t fetch(const pmix_proc_t& proc, pmix_modex_cbfunc_t done, void* context);

 private:
  void news(PmixMessage& message);
  void wanted(const PmixMessage& message);
  void job_told(const std::string& space, const PmixMessage& answer);
  void nothing_came(std::uint64_t number);
  void fetched(std::uint64_t number, pmix_status_t status, const char* data, std::size_t bytes);

  const PmixFacts& facts_;
  PmixListener* listener_;
  PmixLink link_;
  std::mutex mutex_;
  std::map<std::uint64_t, unsigned> open_;  // questions of the hub for ranks of this host
  std::set<unsigned> ended_;
  std::set<std::string> known_;  // other jobs that libpmix has been told of
  // Questions about processes of jobs that it has not been told of.
  std::map<std::string, std::vector<std::pair<pmix_modex_cbfunc_t, void*>>> held_;
};

/// Runs `what` in libpmix's thread, after what it has been asked before.
void run_inside(std::function<void()> what);

}  // namespace ashlar::mpiexec
