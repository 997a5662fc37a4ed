#include "mpiexec/local_placement.h"

#include <cstdio>
#include <cstdlib>

#include "framework/base/processors.h"
#include "framework/plugin/records.h"
#include "mpiexec/text.h"
#include "mpiexec/topology.h"

namespace ashlar::mpiexec {

Placement decide_placement(const Options& options, const Settings& settings, unsigned ranks) {
  const double quota = cpu_quota().value_or(0);
  const auto allowed = static_cast<unsigned>(own_processors().size());
  const bool shown = options.report_bindings || options.show_placement || options.explain;
  if (ranks == 0 ||
      (!needs_topology(settings.bind, ranks, allowed) && !(shown && std::getenv("HWLOC_SYNTHETIC") != nullptr)))
    return place_unbound(ranks, allowed, quota, settings.bind);
  std::string note;
  const Topology topology = discover(&note);
  Placement placement = place(topology, ranks, topology.real ? quota : 0, settings.bind, settings.map);
  if (!note.empty()) placement.because += "; " + note;
  // A made-up machine is there to look at.
  if (!topology.real && !options.show_placement)
    for (auto& cpus : placement.cpus) cpus.clear();
  return placement;
}

namespace {

bool explains_launch(const Options& options) {
  return options.explain && plugin::wants(options.explain_topic.empty() ? "all" : options.explain_topic, "launch");
}

}  // namespace

void report_pmix(const Options& options, unsigned hosts, const std::string& why, std::uint64_t most) {
  if (hosts == 0 || !explains_launch(options)) return;
  const std::string what = hosts == 1 ? "a server of mpiexec"
                                      : text("a server on each of %u hosts; %llu KiB in a fence", hosts,
                                             static_cast<unsigned long long>(most >> 10));
  const std::string out = plugin::to_text(
      {{"launch", "PMIx", what, why, "", hosts == 1 ? "mpiexec.pmix" : "mpiexec.pmix, mpiexec.pmix_data"}});
  std::fputs(out.c_str(), stderr);
}

void report_placement(const Options& options, const Placement& placement, const std::vector<std::string>& words,
                      const std::vector<std::string>& hosts, const std::string& ways) {
  if (explains_launch(options)) {
    const char* crowd = placement.oversubscribed ? "there are more ranks than cores" : "there is a core for each rank";
    std::string nodes;
    for (const HostSlots& node : options.hosts.empty() ? options.allocation : std::vector<HostSlots>())
      nodes += (nodes.empty() ? "" : ", ") + node.name + (node.slots > 0 ? text(":%u", node.slots) : "");
    std::string out;
    if (!nodes.empty())
      out = plugin::to_text({{"launch", "hosts", nodes, "SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE name them", "",
                              "--host, --hostfile"}});
    if (!ways.empty())
      out += plugin::to_text({{"launch", "ways", ways, "from mpiexec.tree_from hosts on, daemons start daemons", "",
                               "mpiexec.tree_width"}});
    out += plugin::to_text({
        {"launch", "binding", placement.what, placement.because, placement.lost, "--bind-to, --map-by"},
        {"launch", "waiting", placement.oversubscribed ? "ranks yield at once" : "ranks may spin", crowd, "", "-n"},
    });
    std::fputs(out.c_str(), stderr);
  }
  if (!options.report_bindings && !options.show_placement) return;
  std::string lines;
  unsigned rank = 0;
  for (const Segment& segment : options.segments)
    for (unsigned i = 0; i < segment.ranks; ++i, ++rank) {
      const std::string host = hosts.empty() ? "" : " on " + shown(hosts[rank]);
      lines += text("rank %u%s: %s: %s\n", rank, host.c_str(), shown(segment.argv[0]).c_str(), words[rank].c_str());
    }
  std::fputs(lines.c_str(), options.show_placement ? stdout : stderr);
}

}  // namespace ashlar::mpiexec
