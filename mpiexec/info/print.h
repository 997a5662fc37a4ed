#pragma once
#include <string>

#include "framework/param/store.h"
#include "framework/plugin/registry.h"

namespace ashlar::info {

/// The answers, as text for people or as JSON.
std::string components_text(const plugin::Registry& registry, const std::string& framework);
std::string components_json(const plugin::Registry& registry, const std::string& framework);
std::string params_text(const param::Store& store, const std::string& prefix, int level);
std::string params_json(const param::Store& store, const std::string& prefix, int level);
/// Why there is nothing to show; "" when there is.
std::string no_such_params(const param::Store& store, const std::string& prefix, int level);
std::string no_such_framework(const std::string& framework);
std::string explain_json(const param::Store& store, const std::string& key);

}  // namespace ashlar::info
