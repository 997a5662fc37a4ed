#pragma once
#include <string>

#include "framework/base/status.h"
#include "framework/param/store.h"
#include "framework/plugin/registry.h"

namespace ashlar::info {

/// The answers, as text for people or as JSON.
std::string components_text(const plugin::Registry& registry, const std::string& framework);
std::string components_json(const plugin::Registry& registry, const std::string& framework);
std::string params_text(const param::Store& store, const std::string& prefix, int level);
std::string params_json(const param::Store& store, const std::string& prefix, int level);
/// Fail when there is nothing to show.
Status check_params(const param::Store& store, const std::string& prefix, int level);
Status check_framework(const std::string& framework);
std::string explain_json(const param::Store& store, const std::string& key);

}  // namespace ashlar::info
