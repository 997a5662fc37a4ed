#include "framework/plugin/start_words.h"

namespace ashlar::plugin {

std::string start_words(const param::Store& store) {
  static constexpr const char* kWords[][2] = {{"runtime.memory_alloc_kinds", "mpi_memory_alloc_kinds"},
                                              {"runtime.initial_errhandler", "mpi_initial_errhandler"}};
  std::string words;
  for (const auto& [parameter, key] : kWords) {
    const param::Setting* const setting = store.find(parameter);
    if (setting && *setting->text) words += std::string(key) + "=" + setting->text + ";";
  }
  return words;
}

}  // namespace ashlar::plugin
