#pragma once
#include <string>

#include "framework/base/status.h"
#include "framework/param/yaml_entry.h"
#include "framework/plugin/component.h"
#include "framework/plugin/manifest.h"

namespace ashlar::plugin {

/// A library opened through libltdl with the meaning of RTLD_NOW | RTLD_LOCAL. Closed by `close` only.
class Library {
 public:
  /// Fails with MPI_ERR_OTHER; the sentence names the file, what was tried and what the system's loader said.
  Status open(const std::string& file);
  /// An object or function that this very file defines; one that only a library it needs defines is refused.
  Status find(const char* symbol, void** out) const;
  void close();
  bool is_open() const { return handle_ != nullptr; }

 private:
  void* handle_ = nullptr;
  std::string file_;
};

/// Opens the component of `entry`: looks at the file again if it changed since its row was made, refuses what `entry`
/// says or what does not match, and only then loads. Nothing of the component is called. `out` is the whole structure
/// of the present contract, whatever the file was compiled for. Each refusal is a sentence that names the file.
Status open_component(Entry* entry, const Accepts& kernel, param::TextPool* pool, Library* library,
                      ashlar_component* out);

/// The reader of YAML files, from libashlar_yaml.so beside the component folder. For param::Sources::open_yaml.
Status open_yaml(ashlar_yaml_read** out);

}  // namespace ashlar::plugin
