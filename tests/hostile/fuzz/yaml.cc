// Configuration files: any bytes as a site's file, read into a store with the kernel's parameters.
#include <cstdlib>
#include <string>

#include "framework/param/store.h"
#include "framework/param/table.h"
#include "framework/plugin/loader.h"
#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  static const fuzz::AsFile file("yaml");
  file.write(data, size);
  param::Sources sources;
  sources.files.push_back({file.path(), param::Layer::site, "/nonexistent"});
  static ashlar_yaml_read* reader = nullptr;
  if (!reader && !plugin::open_yaml(&reader).ok()) std::abort();
  sources.open_yaml = [](ashlar_yaml_read** out) {
    *out = reader;
    return Status();
  };
  sources.context = {"host", "mpiexec", 4, 2, false, {{"ethernet"}}};
  param::Store store;
  store.declare(param::kernel_tables());
  (void)store.load(sources).ok();
  // What was read has to survive the way to the ranks.
  param::Store rank;
  if (!rank.adopt(store.serialize()).ok()) std::abort();
  if (rank.serialize() != store.serialize()) std::abort();
  return 0;
}
