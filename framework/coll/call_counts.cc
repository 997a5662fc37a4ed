#include "framework/coll/call_counts.h"

#include <string>

#include "framework/coll/engine.h"
#include "framework/plugin/records.h"

namespace ashlar::coll {

void record_call_counts(Engine& engine, plugin::Records& records) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto what = static_cast<Collective>(i);
    std::string counts, sizes;
    for (const CatalogueEntry& entry : engine.catalogue.entries()) {
      if (entry.algorithm->collective != what || entry.calls == 0) continue;
      counts += (counts.empty() ? "" : ", ") + std::string(entry.algorithm->name) + " " + std::to_string(entry.calls);
      sizes += (sizes.empty() ? "" : "; ") + std::string(entry.algorithm->name) + ":";
      for (int bin = 0; bin < kSizeBins; ++bin) {
        if (entry.calls_of_size[bin] > 0)
          sizes += " " + std::string(kSizeBinNames[bin]) + " " + std::to_string(entry.calls_of_size[bin]);
      }
    }
    if (counts.empty()) continue;
    const std::string name = name_of(what);
    records.add({"coll", "calls of " + name, counts, sizes + " (" + quantity_of(what) + ")", "",
                 "coll." + name + ".algorithm, coll.tuning_file"});
  }
}

}  // namespace ashlar::coll
