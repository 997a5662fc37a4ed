#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"
#include "framework/coll/catalogue.h"
#include "framework/param/sources.h"
#include "framework/param/store.h"
#include "framework/plugin/registry.h"

namespace ashlar::info {

/// What a file is, by its content, and what is wrong with it.
struct FileReport {
  std::string file;
  std::string kind;                   // "a parameter file, read as that of the user"
  std::vector<std::string> mistakes;  // "FILE:LINE: sentence", or a sentence about the whole file
};

/// Checks a parameter file, a tuning file, the manifest of a component folder, with the readers that obey such files;
/// nothing of it is obeyed here. `store` and `registry` are configured, for the parameters that exist; the store is
/// filled anew. `standard` says which layers the files of this installation belong to. Fails when the file cannot be
/// read.
Status check_file(const std::string& file, const param::Sources& standard, param::Store* store,
                  plugin::Registry* registry, FileReport* report);

/// The algorithms of the components that the configuration of the moment allows.
Status algorithms(plugin::Registry* registry, coll::Catalogue* out);

/// Whether the file is a component, by its first bytes or its name: those are checked by check_component.
bool is_component(const std::string& file);

std::string report_text(const FileReport& report);
std::string report_json(const FileReport& report);
/// The steps that check_component has written.
std::string component_json(const std::string& file, bool right, std::string_view steps);

}  // namespace ashlar::info
