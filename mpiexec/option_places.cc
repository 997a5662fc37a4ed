#include <sys/utsname.h>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/hosts.h"
#include "mpiexec/option_values.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

template <class E>
Status take_word(const char* option, const std::string& word, const std::vector<std::pair<const char*, E>>& words,
                 E* out) {
  std::vector<std::string> known;
  for (const auto& [name, value] : words) {
    if (word == name) {
      *out = value;
      return {};
    }
    known.emplace_back(name);
  }
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  return fail(kErrArg, "option.word",
              {{"option", option}, {"suggestion", nearest(word, known)}, {"known", all}, {"value", brief(word)}});
}

/// "ppr:2:node": two ranks on each host.
Status take_ranks_per_resource(Reading& r, const std::string& word) {
  long n = 0;
  const std::size_t colon = word.find(':', 4);
  if (colon == std::string::npos || word.substr(colon + 1) != "node" ||
      !to_number(word.substr(4, colon - 4), 1, kMostRanks, &n))
    return not_a_value("--map-by", "ppr:N:node, N ranks on each host,", word);
  r.segment.per_node = static_cast<unsigned>(n);
  return {};
}

}  // namespace

Status take_bind(Reading& r, const OptionValues& v) {
  return take_word<BindTo>("--bind-to", v[0],
                           {{"auto", BindTo::kAuto},
                            {"none", BindTo::kNone},
                            {"hwthread", BindTo::kHwthread},
                            {"core", BindTo::kCore},
                            {"numa", BindTo::kNuma},
                            {"socket", BindTo::kSocket},
                            {"package", BindTo::kSocket}},
                           &r.options->bind);
}

Status take_map(Reading& r, const OptionValues& v) {
  if (v[0].starts_with("ppr:")) return take_ranks_per_resource(r, v[0]);
  if (v[0] == "node") r.options->map_nodes = MapNodes::kNode;
  if (v[0] == "slot") r.options->map_nodes = MapNodes::kSlot;
  return take_word<MapBy>("--map-by", v[0],
                          {{"auto", MapBy::kAuto},
                           {"hwthread", MapBy::kHwthread},
                           {"core", MapBy::kCore},
                           {"slot", MapBy::kCore},
                           {"node", MapBy::kCore},
                           {"numa", MapBy::kNuma},
                           {"socket", MapBy::kSocket},
                           {"package", MapBy::kSocket}},
                          &r.options->map);
}

Status take_rank_by(Reading& r, const OptionValues& v) {
  return take_word<MapNodes>("--rank-by", v[0],
                             {{"auto", MapNodes::kAuto},
                              {"slot", MapNodes::kSlot},
                              {"fill", MapNodes::kSlot},
                              {"node", MapNodes::kNode},
                              {"span", MapNodes::kNode}},
                             &r.options->rank_nodes);
}

Status take_hosts(Reading& r, const OptionValues& v) { return read_hosts(v[0], &r.segment.hosts); }

Status take_host_file(Reading& r, const OptionValues& v) { return read_host_file(v[0], &r.options->hosts); }

Status take_agent(Reading& r, const OptionValues& v) {
  if (v[0].find_first_not_of(" \t") == std::string::npos)
    return not_a_value("--launch-agent", "a command such as \"ssh -x %h\"", v[0]);
  r.options->launch_agent = v[0];
  return {};
}

/// The launchers of other implementations by their names.
Status take_launcher(Reading& r, const OptionValues& v) {
  r.options->by_ssh = v[0] == "ssh";
  return take_word<std::string>("-launcher", v[0],
                                {{"ssh", ""}, {"rsh", "rsh %h"}, {"srun", kSrunAgent}, {"slurm", kSrunAgent}},
                                &r.options->launch_agent);
}

Status take_arch(Reading& r, const OptionValues& v) {
  utsname machine;
  if (uname(&machine) != 0 || v[0] != machine.machine)
    return fail(kErrArg, "option.arch", {{"kind", machine.machine}, {"value", brief(v[0])}});
  r.segment.arch = v[0];
  return {};
}

Status select_by_arch(const Options& options, Segment* segment) {
  if (segment->arch.empty()) return {};
  std::vector<HostSlots> fitting = segment->hosts.empty() ? options.hosts : segment->hosts;
  for (HostSlots& host : fitting)
    for (const HostSlots& line : options.hosts)
      if (host.arch.empty() && is_same_host(line.name, host.name)) host.arch = line.arch;
  if (fitting.empty()) return {};
  std::erase_if(fitting, [&](const HostSlots& host) { return !host.arch.empty() && host.arch != segment->arch; });
  if (fitting.empty()) return fail(kErrArg, "option.arch_none", {{"value", brief(segment->arch)}});
  segment->hosts = std::move(fitting);
  return {};
}

}  // namespace ashlar::mpiexec
