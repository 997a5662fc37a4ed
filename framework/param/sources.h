#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/base/status.h"
#include "framework/param/condition.h"
#include "framework/param/yaml_entry.h"

namespace ashlar::param {

/// Who set a value; a later layer wins. Locked settings of `defaults`, `site` and `host_class` win over all.
enum class Layer : unsigned char {
  builtin,
  defaults,
  site,
  host_class,
  user,
  project,
  environment,
  command_line,
  tool
};
const char* layer_name(Layer layer);

struct SourceFile {
  std::string path;
  Layer layer;
  std::string class_folder;  // of a site file: where the files of the classes it defines lie
};

struct CommandLineSetting {
  std::string key, value, option;  // option as typed, for provenance: "--set transport.shm.eager_limit=4K"
};

/// Everything that `Store::load` merges.
struct Sources {
  std::vector<SourceFile> files;             // in merge order; files that do not exist are no error
  const char* const* environment = nullptr;  // usually environ
  std::vector<CommandLineSetting> command_line;
  Context context;
  bool classes = true;   // whether the files of the host classes that apply here are read too
  std::string left_out;  // a sentence about sources that may not be read, or ""
  /// Called when a file holds more than comments; gives the reader of libashlar_yaml.so or says why it cannot.
  Status (*open_yaml)(ashlar_yaml_read** out) = nullptr;
};

/// The folder above lib/ or bin/ that holds the file with this code: where the tree lies now, wherever it was built.
std::string installation_prefix();
/// Where an installation keeps its libraries, and what they load at run time.
std::string library_folder(const std::string& prefix);
std::string support_folder(const std::string& prefix);

/// The files of every layer that exist for this user and directory, with environment = environ. For a process that has
/// more rights than its user (trust.h) only what the installation and /etc hold; `left_out` then says so, when there
/// is something else.
Sources standard_sources(const std::string& prefix);
Sources standard_sources(const std::string& prefix, bool elevated);

}  // namespace ashlar::param
