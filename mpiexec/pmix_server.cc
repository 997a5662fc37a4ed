// The library behind pmix_server.h; mpiexec loads it when a rank may speak PMIx.
#include "mpiexec/pmix_server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace ashlar::mpiexec {
namespace {

// The callbacks of libpmix carry no context of ours.
PmixListener* g_listener = nullptr;
const ProcessSets* g_sets = nullptr;
const char* g_space = "";  // the name of our job

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

pmix_status_t client_connected(const pmix_proc_t* proc, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t, void*) {
  g_listener->connected(proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t client_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  g_listener->finalized(proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t client_aborted(const pmix_proc_t* proc, void*, int status, const char message[], pmix_proc_t*, size_t,
                             pmix_op_cbfunc_t, void*) {
  g_listener->aborted(proc->rank, status, message);
  return PMIX_OPERATION_SUCCEEDED;
}
// Every rank is ours, so what the library has collected from them is the whole answer.
pmix_status_t fence(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data, size_t bytes,
                    pmix_modex_cbfunc_t done, void* context) {
  if (done) done(PMIX_SUCCESS, data, bytes, context, std::free, data);
  return PMIX_SUCCESS;
}
// Asked only for ranks that are not here, and there are none.
pmix_status_t direct_modex(const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t, void*) {
  return PMIX_ERR_NOT_FOUND;
}
pmix_status_t connect_ranks(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t register_events(pmix_status_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

void free_answer(void* answer) {
  auto* info = static_cast<pmix_info_t*>(answer);
  PMIX_INFO_FREE(info, 1);
}

/// What process sets there are, and the members of one. Other queries are for launchers that allocate and schedule.
pmix_status_t query(pmix_proc_t*, pmix_query_t* queries, size_t count, pmix_info_cbfunc_t answer, void* context) {
  if (count != 1 || !queries[0].keys || !queries[0].keys[0] || queries[0].keys[1]) return PMIX_ERR_NOT_SUPPORTED;
  pmix_info_t* info = nullptr;
  if (std::strcmp(queries[0].keys[0], PMIX_QUERY_PSET_NAMES) == 0) {
    std::string names;
    for (const auto& [name, ranks] : *g_sets) names += (names.empty() ? "" : ",") + name;
    PMIX_INFO_CREATE(info, 1);
    PMIX_INFO_LOAD(info, PMIX_QUERY_PSET_NAMES, names.c_str(), PMIX_STRING);
  } else if (std::strcmp(queries[0].keys[0], PMIX_QUERY_PSET_MEMBERSHIP) == 0) {
    const char* wanted = nullptr;
    for (size_t i = 0; i < queries[0].nqual; ++i)
      if (PMIX_CHECK_KEY(&queries[0].qualifiers[i], PMIX_PSET_NAME) &&
          queries[0].qualifiers[i].value.type == PMIX_STRING)
        wanted = queries[0].qualifiers[i].value.data.string;
    for (const auto& [name, ranks] : *g_sets) {
      if (!wanted || name != wanted) continue;
      std::vector<pmix_proc_t> members(ranks.size());
      for (size_t i = 0; i < ranks.size(); ++i) PMIX_LOAD_PROCID(&members[i], g_space, ranks[i]);
      pmix_data_array_t array = {};
      array.type = PMIX_PROC;
      array.size = members.size();
      array.array = members.data();
      PMIX_INFO_CREATE(info, 1);
      PMIX_INFO_LOAD(info, PMIX_QUERY_PSET_MEMBERSHIP, &array, PMIX_DATA_ARRAY);
    }
    if (!info) return PMIX_ERR_NOT_FOUND;
  } else {
    return PMIX_ERR_NOT_SUPPORTED;
  }
  answer(PMIX_SUCCESS, info, 1, context, free_answer, info);
  return PMIX_SUCCESS;
}

pmix_status_t deregister_events(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) { return PMIX_OPERATION_SUCCEEDED; }

class Server final : public PmixServer {
 public:
  ~Server() override {
    if (started_) PMIx_server_finalize();
  }

  std::string start(const PmixFacts& facts, PmixListener* listener) override {
    g_listener = listener;
    sets_ = facts.sets;
    g_sets = &sets_;
    g_space = space_;
    // Values in memory instead of files below the temporary folder, and the loopback interface only.
    setenv("PMIX_MCA_gds", "hash", 0);
    setenv("PMIX_MCA_ptl_base_if_include", "lo", 0);
    std::memset(&module_, 0, sizeof module_);
    module_.client_connected2 = client_connected;
    module_.client_finalized = client_finalized;
    module_.abort = client_aborted;
    module_.fence_nb = fence;
    module_.direct_modex = direct_modex;
    module_.connect = connect_ranks;
    module_.disconnect = connect_ranks;
    module_.register_events = register_events;
    module_.deregister_events = deregister_events;
    module_.query = query;
    bool no = false;
    pmix_info_t info[3];
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, facts.tmpdir.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, facts.tmpdir.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
    pmix_status_t rc = PMIx_server_init(&module_, info, 3);
    for (pmix_info_t& entry : info) PMIX_INFO_DESTRUCT(&entry);
    if (rc != PMIX_SUCCESS) return std::string("PMIx_server_init: ") + PMIx_Error_string(rc);
    started_ = true;
    std::strncpy(space_, facts.job_id.c_str(), sizeof space_ - 1);
    rc = register_job(facts);
    for (unsigned r = 0; rc == PMIX_SUCCESS && r < facts.appnum_of_rank.size(); ++r) {
      pmix_proc_t proc;
      PMIX_LOAD_PROCID(&proc, space_, r);
      Completion completion;
      rc =
          completion.of(PMIx_server_register_client(&proc, getuid(), getgid(), nullptr, Completion::done, &completion));
    }
    return rc == PMIX_SUCCESS ? "" : std::string("registering the job with PMIx: ") + PMIx_Error_string(rc);
  }

  std::vector<std::pair<std::string, std::string>> environment(unsigned rank) override {
    std::vector<std::pair<std::string, std::string>> out;
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, space_, rank);
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
  void failed(unsigned rank) override {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, space_, rank);
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    Completion completion;
    completion.of(PMIx_Notify_event(PMIX_ERR_PROC_ABORTED_BY_SIG, &proc, PMIX_RANGE_SESSION, &info, 1, Completion::done,
                                    &completion));
    PMIX_INFO_DESTRUCT(&info);
  }

 private:
  pmix_status_t register_job(const PmixFacts& facts) {
    const auto ranks = static_cast<std::uint32_t>(facts.appnum_of_rank.size());
    std::string peers;
    for (std::uint32_t r = 0; r < ranks; ++r) peers += (r ? "," : "") + std::to_string(r);
    char* node_map = nullptr;
    char* proc_map = nullptr;
    PMIx_generate_regex(facts.host.c_str(), &node_map);
    PMIx_generate_ppn(peers.c_str(), &proc_map);
    const std::uint32_t universe = facts.universe, one = 1, zero = 0;
    pmix_info_t* info = nullptr;
    const size_t count = 10 + ranks;
    PMIX_INFO_CREATE(info, count);
    size_t i = 0;
    PMIX_INFO_LOAD(&info[i++], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[i++], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[i++], PMIX_UNIV_SIZE, &universe, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[i++], PMIX_JOB_SIZE, &ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[i++], PMIX_LOCAL_SIZE, &ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[i++], PMIX_NUM_NODES, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[i++], PMIX_LOCAL_PEERS, peers.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&info[i++], PMIX_JOBID, facts.job_id.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&info[i++], PMIX_LOCALLDR, &zero, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[i++], PMIX_MAX_PROCS, &ranks, PMIX_UINT32);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      pmix_info_t* of_rank = nullptr;
      PMIX_INFO_CREATE(of_rank, 6);
      const pmix_rank_t rank = r;
      const auto local = static_cast<std::uint16_t>(r);
      PMIX_INFO_LOAD(&of_rank[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
      PMIX_INFO_LOAD(&of_rank[1], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
      PMIX_INFO_LOAD(&of_rank[2], PMIX_NODE_RANK, &local, PMIX_UINT16);
      PMIX_INFO_LOAD(&of_rank[3], PMIX_NODEID, &zero, PMIX_UINT32);
      PMIX_INFO_LOAD(&of_rank[4], PMIX_APPNUM, &facts.appnum_of_rank[r], PMIX_UINT32);
      PMIX_INFO_LOAD(&of_rank[5], PMIX_HOSTNAME, facts.host.c_str(), PMIX_STRING);
      pmix_data_array_t array;
      array.type = PMIX_INFO;
      array.size = 6;
      array.array = of_rank;
      PMIX_INFO_LOAD(&info[i++], PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
      PMIX_INFO_FREE(of_rank, 6);
    }
    Completion completion;
    const pmix_status_t rc = completion.of(
        PMIx_server_register_nspace(space_, static_cast<int>(ranks), info, i, Completion::done, &completion));
    PMIX_INFO_FREE(info, count);
    std::free(node_map);
    std::free(proc_map);
    return rc;
  }

  pmix_server_module_t module_;
  pmix_nspace_t space_ = {};
  ProcessSets sets_;
  bool started_ = false;
};

}  // namespace
}  // namespace ashlar::mpiexec

extern "C" __attribute__((visibility("default"))) ashlar::mpiexec::PmixServer* ashlar_mpiexec_pmix_server() {
  return new ashlar::mpiexec::Server;
}
