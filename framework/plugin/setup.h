#pragma once
#include <string>
#include <string_view>

#include "framework/base/status.h"
#include "framework/param/store.h"
#include "framework/plugin/registry.h"

namespace ashlar::plugin {

/// What a process can know before it has found its job: the components, and parameters of the environment. Enough to
/// select a launch component; `configure` or `adopt` follows on the same store and registry and replaces the values.
/// A process with more rights than its user (param/trust.h) takes neither variables nor a launcher's text, in any of
/// these three: the files of the installation decide, and plugin.path adds nothing.
Status begin(const std::string& prefix, const char* const* environment, param::Store* store, Registry* registry);

/// Parameters and components for a launcher, a singleton or a tool: finds the components, declares every parameter,
/// merges `sources` (open_yaml is filled in). Fails as Store::load does; everything without fault is in force even
/// then, and `store->problems()` has what the user should read.
Status configure(const std::string& prefix, param::Sources sources, param::Store* store, Registry* registry);

/// The same for a rank: takes the text its launcher made with `Store::serialize`. No YAML, no index of keys unless a
/// variable was given to this rank alone.
Status adopt(const std::string& prefix, std::string_view text, const char* const* environment, param::Store* store,
             Registry* registry);

}  // namespace ashlar::plugin
