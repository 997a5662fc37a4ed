// Component files: what is read of a shared library before it is loaded.
#include <vector>

#include "framework/param/store.h"
#include "framework/plugin/manifest.h"
#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  static const fuzz::AsFile file("ashlar_report_fuzzed.so");
  file.write(data, size);
  param::TextPool pool;
  const plugin::Entry entry = plugin::examine(file.path(), {0x1234}, &pool);
  if (!entry.refused.empty() || entry.statement.config_size > (1u << 20)) return 0;
  param::Store store;
  store.declare({entry.prefix.c_str(), entry.statement.params});
  std::vector<std::byte> config(entry.statement.config_size);
  (void)store.fill(entry.prefix, entry.statement.params, config.data()).ok();
  for (const param::Row& row : store.schema().rows()) (void)store.explain(row.key);
  return 0;
}
