#include "framework/plugin/setup.h"

#include <cstring>

#include "framework/base/log.h"
#include "framework/param/sources.h"
#include "framework/param/table.h"
#include "framework/param/trust.h"
#include "framework/plugin/in_force.h"
#include "framework/plugin/linked.h"
#include "framework/plugin/params.h"

namespace ashlar::plugin {
namespace {

/// Gives what there is to say about folders that are left out.
std::vector<std::string> add_folders(const std::string& prefix, std::string_view path, Registry* registry) {
  std::vector<std::string> refused;
  if (param::elevated()) path = {};
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    if (colon != 0) {
      if (const Status added = registry->add_named_folder(std::string(path.substr(0, colon))); !added.ok())
        refused.push_back(std::string("plugin.path: ") + added.text());
    }
    path = colon == std::string_view::npos ? std::string_view{} : path.substr(colon + 1);
  }
  // A folder of the user's replaces what is linked in, and that replaces what is installed.
  for (const ashlar_component* const* linked = linked_components(); *linked; ++linked) registry->add_linked(**linked);
  registry->add_folder(param::support_folder(prefix) + "/components");
  return refused;
}

std::string user_path(const param::Store& store) {
  return in_force().kept("plugin.path", store.value("plugin.path", kParams[0]).text);
}

Status set_log_level(param::Store* store) {
  KernelConfig config;
  ASHLAR_TRY(store->fill("", kKernelParams, &config));
  log::set_level(static_cast<log::Level>(config.log_level));
  return {};
}

bool any_of_ours(const char* const* environment) {
  for (const char* const* at = environment; at && *at; ++at) {
    // With a second underscore it is the launcher's hand-over.
    if (std::strncmp(*at, "ASHLAR_", 7) == 0 && (*at)[7] != '_') return true;
  }
  return false;
}

}  // namespace

Status begin(const std::string& prefix, const char* const* environment, param::Store* store, Registry* registry) {
  if (param::elevated()) return configure(prefix, param::standard_sources(prefix), store, registry);
  if (!any_of_ours(environment)) {
    (void)add_folders(prefix, {}, registry);
    return {};
  }
  param::Sources sources;
  sources.environment = environment;
  return configure(prefix, sources, store, registry);
}

Status configure(const std::string& prefix, param::Sources sources, param::Store* store, Registry* registry) {
  sources.open_yaml = open_yaml;
  // The folders of components are a parameter, and which parameters exist depends on the folders: one look for that
  // parameter alone comes first, whose findings about other keys mean nothing.
  param::Store folders;
  folders.declare({"plugin", kParams});
  (void)folders.load(sources).ok();
  const std::vector<std::string> refused = add_folders(prefix, user_path(folders), registry);
  store->declare(param::kernel_tables());
  registry->declare_params();
  const Status loaded = store->load(sources);
  for (const std::string& folder : refused) store->notice(folder);
  ASHLAR_TRY(set_log_level(store));
  return loaded;
}

Status adopt(const std::string& prefix, std::string_view text, const char* const* environment, param::Store* store,
             Registry* registry) {
  if (param::elevated()) return configure(prefix, param::standard_sources(prefix), store, registry);
  ASHLAR_TRY(store->adopt(text));
  // The launcher has reported which folders are refused.
  (void)add_folders(prefix, user_path(*store), registry);
  if (any_of_ours(environment)) {
    store->declare(param::kernel_tables());
    registry->declare_params();
    store->merge_environment(environment);
  }
  return set_log_level(store);
}

}  // namespace ashlar::plugin
