// The library behind pmix_server.h; mpiexec loads it when a rank may speak PMIx.
#include "mpiexec/pmix_server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "mpiexec/pmix_job_info.h"
#include "mpiexec/pmix_upcalls.h"
#include "mpiexec/pmix_values.h"

namespace ashlar::mpiexec {
namespace {

// Lets a thread wait for one completion callback.
class Completion {
 public:
  static void done(pmix_status_t status, void* self) {
    auto* c = static_cast<Completion*>(self);
    const std::lock_guard<std::mutex> lock(c->mutex_);
    c->status_ = status;
    c->done_ = true;
    c->changed_.notify_one();
  }
  pmix_status_t wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    return status_;
  }
  // A call answers either itself or through the callback.
  pmix_status_t of(pmix_status_t rc) {
    return rc == PMIX_SUCCESS ? wait() : rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  pmix_status_t status_ = PMIX_SUCCESS;
};

class Server final : public PmixServer {
 public:
  std::string start(const PmixFacts& facts, PmixListener* listener) override {
    facts_ = facts;
    upcalls_ = std::make_unique<PmixUpcalls>(facts_, listener);
    // Values in memory instead of files below the temporary folder, and the loopback interface only.
    setenv("PMIX_MCA_gds", "hash", 0);
    setenv("PMIX_MCA_ptl_base_if_include", "lo", 0);
    std::memset(&module_, 0, sizeof module_);
    upcalls_->fill(&module_);
    bool no = false;
    pmix_info_t info[4];
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, facts.tmpdir.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, facts.tmpdir.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
    // The name that the map of nodes has, which need not be the one that the host gives itself.
    PMIX_INFO_LOAD(&info[3], PMIX_HOSTNAME, facts.hosts[facts.node].c_str(), PMIX_STRING);
    pmix_status_t rc = PMIx_server_init(&module_, info, 4);
    for (pmix_info_t& entry : info) PMIX_INFO_DESTRUCT(&entry);
    if (rc != PMIX_SUCCESS) return std::string("PMIx_server_init: ") + PMIx_Error_string(rc);
    if (!upcalls_->open()) return "no connection to mpiexec (socketpair)";
    rc = register_job(facts_);
    for (unsigned r = 0; rc == PMIX_SUCCESS && r < facts_.node_of_rank.size(); ++r) {
      if (facts_.node_of_rank[r] != facts_.node) continue;
      const pmix_proc_t proc = proc_of({.space = facts_.job_id, .rank = r});
      Completion completion;
      rc =
          completion.of(PMIx_server_register_client(&proc, getuid(), getgid(), nullptr, Completion::done, &completion));
    }
    return rc == PMIX_SUCCESS ? "" : std::string("registering the job with PMIx: ") + PMIx_Error_string(rc);
  }

  std::vector<std::pair<std::string, std::string>> environment(unsigned rank) override {
    std::vector<std::pair<std::string, std::string>> out;
    const pmix_proc_t proc = proc_of({.space = facts_.job_id, .rank = rank});
    char** env = nullptr;
    if (PMIx_server_setup_fork(&proc, &env) != PMIX_SUCCESS) return out;
    for (char** entry = env; entry && *entry; ++entry) {
      const std::string text = *entry;
      const std::size_t eq = text.find('=');
      out.emplace_back(text.substr(0, eq), text.substr(eq + 1));
      std::free(*entry);
    }
    std::free(env);
    return out;
  }

  // The client is not deregistered: libpmix closes its socket when it is gone, and doing both prints libevent warnings.
  // Every server is told, so each tells its own clients alone.
  void failed(unsigned rank) override {
    pmix_proc_t proc = proc_of({.space = facts_.job_id, .rank = rank});
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    Completion completion;
    completion.of(PMIx_Notify_event(PMIX_ERR_PROC_ABORTED_BY_SIG, &proc, PMIX_RANGE_LOCAL, &info, 1, Completion::done,
                                    &completion));
    PMIX_INFO_DESTRUCT(&info);
  }

  void ended(unsigned rank) override { upcalls_->ended(rank); }
  std::vector<Descriptor> take_calls() override { return upcalls_->link().take_calls(); }
  void add(std::vector<pollfd>* fds) override { upcalls_->link().add(fds); }
  void handle(const std::vector<pollfd>& fds) override { upcalls_->link().handle(fds); }
  void leave() override {
    if (upcalls_) upcalls_->leave();
  }

 private:
  pmix_server_module_t module_;
  PmixFacts facts_;
  std::unique_ptr<PmixUpcalls> upcalls_;
};

}  // namespace
}  // namespace ashlar::mpiexec

extern "C" __attribute__((visibility("default"))) ashlar::mpiexec::PmixServer* ashlar_mpiexec_pmix_server() {
  return new ashlar::mpiexec::Server;
}
