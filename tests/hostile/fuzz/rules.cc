// Tuning files of the collectives: any bytes, through the reader of YAML into rules.
#include <cstdlib>
#include <vector>

#include "framework/coll/rule.h"
#include "framework/param/yaml_entry.h"
#include "framework/plugin/loader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  static ashlar_yaml_read* read = nullptr;
  if (!read && !plugin::open_yaml(&read).ok()) std::abort();
  coll::RuleReader reader("rules.yaml");
  const ashlar_yaml_sink sink{
      &reader,
      [](void* self, const char* key, const char* value, int line, int, const char*) {
        static_cast<coll::RuleReader*>(self)->setting(key, value, line);
      },
      [](void*, const char*, const char*, int) {},
      [](void* self, int line, const char* text) { static_cast<coll::RuleReader*>(self)->problem(line, text); },
      [](void* self, int line, const char* text) { static_cast<coll::RuleReader*>(self)->problem(line, text); }};
  read(reinterpret_cast<const char*>(data), size, &sink);
  const std::vector<coll::Rule>& rules = reader.rules();
  if (!reader.problems().empty()) return 0;  // such a file is not used
  for (const coll::Rule& rule : rules) {
    if (!*rule.algorithm || rule.bytes.from > rule.bytes.to || rule.ranks.from > rule.ranks.to) std::abort();
  }
  return 0;
}
