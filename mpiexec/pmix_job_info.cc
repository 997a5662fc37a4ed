#include "mpiexec/pmix_job_info.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpiexec/pmix_values.h"

namespace ashlar::mpiexec {
namespace {

std::string joined(const std::vector<std::string>& words, char between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(1, between)) + word;
  return out;
}

/// Infos that are loaded one after the other, and freed together.
class Infos {
 public:
  ~Infos() {
    for (pmix_info_t& info : infos_) PMIX_INFO_DESTRUCT(&info);
  }
  void add(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t& info = infos_.emplace_back();
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, key, value, type);
  }
  /// The infos of one rank, or of one node.
  void add(const char* key, const Infos& of_one) {
    pmix_data_array_t array = {};
    array.type = PMIX_INFO;
    array.size = of_one.infos_.size();
    array.array = const_cast<pmix_info_t*>(of_one.infos_.data());
    add(key, &array, PMIX_DATA_ARRAY);
  }
  pmix_info_t* data() { return infos_.data(); }
  std::size_t size() const { return infos_.size(); }

 private:
  std::vector<pmix_info_t> infos_;
};

/// Names of hosts and ranks of each, as PMIx writes them.
void add_maps(const PmixFacts& facts, const std::vector<std::string>& ranks_of, Infos* infos) {
  // A host without ranks is no node of the job.
  std::vector<std::string> hosts, ranks;
  for (std::size_t node = 0; node < facts.hosts.size(); ++node) {
    if (ranks_of[node].empty()) continue;
    hosts.push_back(facts.hosts[node]);
    ranks.push_back(ranks_of[node]);
  }
  const auto nodes = static_cast<std::uint32_t>(hosts.size());
  infos->add(PMIX_NUM_NODES, &nodes, PMIX_UINT32);
  char* map = nullptr;
  if (PMIx_generate_regex(joined(hosts, ',').c_str(), &map) == PMIX_SUCCESS) infos->add(PMIX_NODE_MAP, map, PMIX_REGEX);
  std::free(map);
  map = nullptr;
  if (PMIx_generate_ppn(joined(ranks, ';').c_str(), &map) == PMIX_SUCCESS) infos->add(PMIX_PROC_MAP, map, PMIX_REGEX);
  std::free(map);
}

}  // namespace

pmix_status_t register_job(const PmixFacts& facts) {
  const auto ranks = static_cast<std::uint32_t>(facts.node_of_rank.size());
  std::vector<std::string> ranks_of(facts.hosts.size());
  std::vector<std::uint16_t> there(facts.hosts.size()), local(ranks);
  std::vector<std::uint32_t> leader(facts.hosts.size(), ranks);
  const bool any_here = facts.node < facts.hosts.size();
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t node = facts.node_of_rank[r];
    local[r] = there[node]++;
    leader[node] = std::min(leader[node], r);
    ranks_of[node] += (ranks_of[node].empty() ? "" : ",") + std::to_string(r);
  }
  const std::uint32_t here = any_here ? there[facts.node] : 0;
  Infos infos;
  add_maps(facts, ranks_of, &infos);
  infos.add(PMIX_UNIV_SIZE, &facts.universe, PMIX_UINT32);
  infos.add(PMIX_JOB_SIZE, &ranks, PMIX_UINT32);
  const auto add_node = [&](std::uint32_t node, Infos* to) {
    const std::uint32_t count = there[node];
    to->add(PMIX_LOCAL_SIZE, &count, PMIX_UINT32);
    to->add(PMIX_NODE_SIZE, &count, PMIX_UINT32);
    to->add(PMIX_LOCAL_PEERS, ranks_of[node].c_str(), PMIX_STRING);
    to->add(PMIX_LOCALLDR, &leader[node], PMIX_PROC_RANK);
  };
  if (any_here) add_node(facts.node, &infos);
  for (std::uint32_t node = 0; node < facts.hosts.size(); ++node) {
    if (there[node] == 0) continue;
    Infos of_node;
    of_node.add(PMIX_HOSTNAME, facts.hosts[node].c_str(), PMIX_STRING);
    of_node.add(PMIX_NODEID, &node, PMIX_UINT32);
    add_node(node, &of_node);
    infos.add(PMIX_NODE_INFO_ARRAY, of_node);
  }
  infos.add(PMIX_JOBID, facts.job_id.c_str(), PMIX_STRING);
  infos.add(PMIX_MAX_PROCS, &ranks, PMIX_UINT32);
  if (!facts.parent.space.empty()) {
    const bool spawned = true;
    const pmix_proc_t parent = proc_of(facts.parent);
    infos.add(PMIX_SPAWNED, &spawned, PMIX_BOOL);
    infos.add(PMIX_PARENT_ID, &parent, PMIX_PROC);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t node = facts.node_of_rank[r];
    Infos of_rank;
    of_rank.add(PMIX_RANK, &r, PMIX_PROC_RANK);
    of_rank.add(PMIX_LOCAL_RANK, &local[r], PMIX_UINT16);
    of_rank.add(PMIX_NODE_RANK, &local[r], PMIX_UINT16);
    of_rank.add(PMIX_NODEID, &node, PMIX_UINT32);
    of_rank.add(PMIX_APPNUM, &facts.appnum_of_rank[r], PMIX_UINT32);
    of_rank.add(PMIX_HOSTNAME, facts.hosts[node].c_str(), PMIX_STRING);
    infos.add(PMIX_PROC_DATA, of_rank);
  }
  // Without a function to call back it reads the infos before it returns.
  const pmix_status_t rc = PMIx_server_register_nspace(facts.job_id.c_str(), static_cast<int>(here), infos.data(),
                                                       infos.size(), nullptr, nullptr);
  return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

}  // namespace ashlar::mpiexec
