// Manifests of component folders: any bytes behind a header that fits the folder, read, declared and filled.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "framework/param/store.h"
#include "framework/plugin/manifest.h"
#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  static const fuzz::AsFile file("components.manifest");
  static const std::string folder = file.folder() + "/components";
  static const int made = mkdir(folder.c_str(), 0700);
  struct stat info;
  if (made != 0 || stat(folder.c_str(), &info) != 0) std::abort();
  const long long time = static_cast<long long>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
  const std::string header = "ashlar-manifest 1\t" + std::to_string(time) + "\n";
  std::vector<std::uint8_t> whole(header.begin(), header.end());
  whole.insert(whole.end(), data, data + size);
  if (size > 0 && data[size - 1] != '\n') whole.push_back('\n');
  // Whole, as far as its last line goes.
  const std::string last = "E\t" + std::to_string(std::count(whole.begin(), whole.end(), '\n') - 1) + "\n";
  whole.insert(whole.end(), last.begin(), last.end());
  file.write(whole.data(), whole.size());
  param::TextPool pool;
  plugin::Folder read = plugin::Folder::read(folder, {0x1234}, &pool);
  for (plugin::Entry& entry : read.entries()) {
    if (entry.file.substr(0, folder.size() + 1) != folder + "/" ||
        entry.file.find('/', folder.size() + 1) != std::string::npos)
      std::abort();
    if (!entry.refused.empty()) continue;
    // What is accepted may be declared, and its defaults written into a block of the size it says.
    if (entry.statement.config_size > (1u << 20)) continue;
    param::Store store;
    store.declare({entry.prefix.c_str(), entry.statement.params});
    std::vector<std::byte> config(entry.statement.config_size);
    (void)store.fill(entry.prefix, entry.statement.params, config.data()).ok();
    for (const param::Row& row : store.schema().rows()) (void)store.explain(row.key);
  }
  return 0;
}
