#include "mpiexec/node_plan.h"

#include <algorithm>
#include <vector>

namespace ashlar::mpiexec {
namespace {

struct Host {
  std::string name;
  bool here = false;
};

/// One list of hosts, and the programs that run there: a program that names no hosts has those of the one before it.
struct List {
  std::vector<unsigned> hosts;  // indices, in the order of the user
  std::vector<unsigned> slots;
  std::vector<unsigned> taken;  // of the slots, in this round
};

class Planner {
 public:
  Planner(const Options& options, const std::string& own_host) : options_(options), own_host_(own_host) {}

  NodeMap run() {
    List list = list_of(options_.base_hosts(), 0);
    if (has_slots(options_.base_hosts()))
      for (std::size_t i = 0; i < list.hosts.size(); ++i)
        list.taken[i] = std::min(taken_on(hosts_[list.hosts[i]]), list.slots[i]);
    for (std::size_t s = 0; s < options_.segments.size(); ++s) {
      const Segment& segment = options_.segments[s];
      take_list(s, &list);
      std::vector<unsigned> of = places(segment, &list);
      number(&of);
      hosts_of_ranks_.insert(hosts_of_ranks_.end(), of.begin(), of.end());
    }
    return map();
  }

  std::vector<PlannedHost> run_check() {
    std::vector<PlannedHost> out;
    List list = list_of(options_.base_hosts(), 0);
    for (unsigned s = 0; s < options_.segments.size(); ++s) {
      take_list(s, &list);
      out.resize(hosts_.size());
      for (const unsigned host : list.hosts) out[host].segments.push_back(s);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].name = hosts_[i].name;
      out[i].here = hosts_[i].here;
    }
    return out;
  }

 private:
  /// The hosts of program `s`: its own, or those of the program before it.
  void take_list(std::size_t s, List* list) {
    const Segment& segment = options_.segments[s];
    if (!segment.hosts.empty()) *list = list_of(with_known_slots(segment.hosts), s);
    if (list->hosts.empty()) *list = list_of({{.name = "localhost", .slots = 0}}, s);
  }

  unsigned index_of(const std::string& name) {
    const bool here = is_this_host(name);
    for (unsigned i = 0; i < hosts_.size(); ++i)
      if ((here && hosts_[i].here) || hosts_[i].name == name) return i;
    hosts_.push_back({.name = here ? own_host_ : name, .here = here});
    return static_cast<unsigned>(hosts_.size()) - 1;
  }

  /// --host chooses among the lines of --hostfile or the nodes of the allocation, which know the slots.
  std::vector<HostSlots> with_known_slots(std::vector<HostSlots> hosts) const {
    for (HostSlots& host : hosts)
      for (const HostSlots& line : options_.base_hosts())
        if (host.slots == 0 && is_same_host(line.name, host.name)) host.slots = line.slots;
    return hosts;
  }

  static bool has_slots(const std::vector<HostSlots>& hosts) {
    return std::any_of(hosts.begin(), hosts.end(), [](const HostSlots& host) { return host.slots > 0; });
  }

  List list_of(const std::vector<HostSlots>& named, std::size_t first_segment) {
    List list;
    for (const HostSlots& host : named) {
      list.hosts.push_back(index_of(host.name));
      list.slots.push_back(host.slots);
    }
    list.taken.resize(list.hosts.size());
    if (list.hosts.empty()) return list;
    if (has_slots(named)) {
      for (unsigned& slots : list.slots) slots = std::max(slots, 1u);
      return list;
    }
    // All ranks of the programs that share the list, in even parts.
    unsigned ranks = 0;
    for (std::size_t s = first_segment; s < options_.segments.size(); ++s) {
      if (s > first_segment && !options_.segments[s].hosts.empty()) break;
      ranks += options_.segments[s].ranks;
    }
    const auto hosts = static_cast<unsigned>(list.hosts.size());
    for (unsigned i = 0; i < hosts; ++i) list.slots[i] = std::max(ranks / hosts + (i < ranks % hosts ? 1 : 0), 1u);
    return list;
  }

  /// How many ranks of the jobs that this one is started by run there.
  unsigned taken_on(const Host& host) const {
    for (const HostSlots& taken : options_.taken)
      if (taken.name == host.name || (host.here && is_this_host(taken.name))) return taken.slots;
    return 0;
  }

  /// The hosts of a program's ranks, in the order in which places are taken.
  std::vector<unsigned> places(const Segment& segment, List* list) const {
    std::vector<unsigned> out;
    const bool each = segment.per_node > 0;
    std::vector<unsigned> slots = each ? std::vector<unsigned>(list->hosts.size(), segment.per_node) : list->slots;
    std::vector<unsigned> own(list->hosts.size());
    std::vector<unsigned>& taken = each ? own : list->taken;
    while (out.size() < segment.ranks) {
      bool any = false;
      for (unsigned i = 0; i < list->hosts.size() && out.size() < segment.ranks; ++i)
        while (taken[i] < slots[i] && out.size() < segment.ranks) {
          ++taken[i];
          out.push_back(list->hosts[i]);
          any = true;
          if (options_.map_nodes == MapNodes::kNode) break;
        }
      if (!any) std::fill(taken.begin(), taken.end(), 0);
    }
    return out;
  }

  /// --rank-by: the same places, numbered host by host or around the hosts.
  void number(std::vector<unsigned>* of) const {
    if (options_.rank_nodes == MapNodes::kAuto || options_.rank_nodes == options_.map_nodes) return;
    std::vector<unsigned> order, counts(hosts_.size());
    for (const unsigned host : *of)
      if (counts[host]++ == 0) order.push_back(host);
    std::vector<unsigned> out;
    while (out.size() < of->size())
      for (const unsigned host : order)
        for (unsigned n = options_.rank_nodes == MapNodes::kNode ? std::min(counts[host], 1u) : counts[host]; n > 0;
             --n) {
          --counts[host];
          out.push_back(host);
        }
    *of = out;
  }

  NodeMap map() const {
    NodeMap out;
    out.node = launch::kNoNode;
    std::vector<std::uint32_t> node_of_host(hosts_.size(), launch::kNoNode);
    bool elsewhere = false;
    for (const unsigned host : hosts_of_ranks_) {
      if (node_of_host[host] == launch::kNoNode) {
        node_of_host[host] = static_cast<std::uint32_t>(out.hosts.size());
        if (hosts_[host].here) out.node = node_of_host[host];
        out.hosts.push_back(hosts_[host].name);
      }
      elsewhere = elsewhere || !hosts_[host].here;
      out.node_of_rank.push_back(node_of_host[host]);
    }
    return elsewhere ? out : NodeMap{};
  }

  const Options& options_;
  const std::string& own_host_;
  std::vector<Host> hosts_;
  std::vector<unsigned> hosts_of_ranks_;
};

}  // namespace

NodeMap plan_nodes(const Options& options, const std::string& own_host) { return Planner(options, own_host).run(); }

std::vector<PlannedHost> plan_check(const Options& options, const std::string& own_host) {
  return Planner(options, own_host).run_check();
}

}  // namespace ashlar::mpiexec
