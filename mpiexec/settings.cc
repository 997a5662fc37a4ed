#include "mpiexec/settings.h"

#include <unistd.h>

#include <algorithm>

#include "framework/param/sources.h"
#include "framework/param/store.h"
#include "framework/plugin/mpiexec_params.h"
#include "framework/plugin/params.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/setup.h"
#include "framework/plugin/start_words.h"
#include "framework/plugin/tools.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {

std::string own_prefix() {
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return param::installation_prefix();
  std::string path(self, static_cast<std::size_t>(n));
  for (int up = 0; up < 2; ++up) path.resize(path.find('/') == path.rfind('/') ? 1 : path.rfind('/'));
  return path;
}

namespace {

bool is_of_allocation(const HostSlots& host, const Options& options) {
  const auto same = [&](const HostSlots& node) { return is_same_host(node.name, host.name); };
  return is_this_host(host.name) || std::any_of(options.allocation.begin(), options.allocation.end(), same);
}

/// The command line's, or a file's. Where neither says anything, nodes of Slurm's job are reached through Slurm, which
/// lets users in who have the node, and counts what they run there.
std::string agent_of(const Options& options, const param::Store& store, const plugin::MpiexecConfig& config) {
  if (!options.launch_agent.empty()) return options.launch_agent;
  const auto given = [&](const HostSlots& host) { return is_of_allocation(host, options); };
  bool by_srun = !options.allocation.empty() && !options.by_ssh;
  by_srun = by_srun && std::all_of(options.hosts.begin(), options.hosts.end(), given);
  for (const Segment& segment : options.segments)
    by_srun = by_srun && std::all_of(segment.hosts.begin(), segment.hosts.end(), given);
  if (by_srun && store.find("mpiexec.launch_agent") == nullptr) return kSrunAgent;
  return config.launch_agent != nullptr ? config.launch_agent : "";
}

}  // namespace

Status load_settings(const Options& options, const std::string& host, const char* const* environment,
                     Settings* settings) {
  const std::string prefix = own_prefix();
  param::Sources sources = param::standard_sources(prefix);
  sources.environment = environment;
  sources.context.host = host;
  sources.context.launcher = "mpiexec";
  sources.context.ranks = sources.context.ranks_per_node = static_cast<int>(options.ranks());
  for (const auto& [key, value] : options.params)
    sources.command_line.push_back({key, value, text("--set %s=%s", key.c_str(), value.c_str())});
  if (options.explain)
    sources.command_line.push_back(
        {"explain", options.explain_topic.empty() ? "all" : options.explain_topic, "--explain"});

  if (!options.stall.empty()) sources.command_line.push_back({"watch.stall", options.stall, "--stall"});

  param::Store store;
  plugin::Registry registry(&store);
  const Status loaded = plugin::configure(prefix, sources, &store, &registry);
  for (const param::Problem& problem : store.problems())
    if (!problem.error) say(problem.text);
  ASHLAR_TRY(loaded);
  // Once here, and not by each rank.
  ASHLAR_TRY(registry.check_choices());
  plugin::MpiexecConfig config;
  ASHLAR_TRY(store.fill("mpiexec", plugin::kMpiexecParams, &config));
  // The words stand in the same order as the enumerators; the command line's own options come last.
  settings->bind = options.bind != BindTo::kAuto ? options.bind : static_cast<BindTo>(config.bind_to);
  settings->map = options.map != MapBy::kAuto ? options.map : static_cast<MapBy>(config.map_by);
  settings->pmix = plugin::kPmixWords[config.pmix];
  settings->pmix_data = config.pmix_data;
  settings->oversubscribe = config.oversubscribe == 0;
  settings->keep_going = config.on_failure != 0;
  settings->kill_grace_ns = config.kill_grace;
  settings->board_per_rank = config.board_per_rank;
  settings->launch_agent = agent_of(options, store, config);
  settings->start_timeout_ns = config.start_timeout;
  settings->start_retry_ns = config.start_retry;
  settings->silence_ns = config.host_silence;
  // srun reaches each node through Slurm's own tree.
  if (settings->launch_agent != kSrunAgent)
    settings->tree = {.from = static_cast<unsigned>(config.tree_from),
                      .width = static_cast<unsigned>(config.tree_width)};
  settings->check_timeout_ns = config.check_timeout;
  const char *interfaces = nullptr, *ports = nullptr;
  settings->tcp = plugin::allows(store, "transport", "tcp") &&
                  store.get("transport.tcp.interfaces", &interfaces).ok() &&
                  store.get("transport.tcp.ports", &ports).ok() &&
                  store.get("transport.tcp.full_exchange", &settings->tcp_exchange).ok();
  if (settings->tcp) {
    settings->tcp_interfaces = interfaces;
    settings->tcp_ports = ports;
  }
  plugin::ToolConfig tools;
  ASHLAR_TRY(store.fill("tools", plugin::kToolParams, &tools));
  settings->tools = plugin::tools_chosen(store);
  settings->tool_buffer = tools.buffer;
  settings->tool_refresh_ns = tools.refresh;
  plugin::WatchConfig watch;
  ASHLAR_TRY(store.fill("watch", plugin::kWatchParams, &watch));
  settings->stall_ns = watch.stall;
  settings->records = plugin::allows(store, "report", "json");
  if (const param::Setting* const file = store.find("report.json.file")) settings->records_file = file->text;
  settings->start_words = plugin::start_words(store);
  settings->for_ranks = store.serialize();
  return {};
}

}  // namespace ashlar::mpiexec
