#include "framework/coll/catalogue.h"

#include <mpi.h>

#include <string>

#include "framework/base/failure.h"
#include "framework/param/suggest.h"

namespace ashlar::coll {

void Catalogue::add(const AlgorithmList& list) {
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Algorithm& algorithm = list.first[i];
    if (find(algorithm.collective, algorithm.name) != nullptr) continue;
    CatalogueEntry entry;
    entry.algorithm = &algorithm;
    entry.component = components_;
    entry.pvar_name = std::string(name_of(algorithm.collective)) + "." + algorithm.name;
    for (int bin = 0; bin < kSizeBins; ++bin)
      entry.pvar_names_of_size[bin] = entry.pvar_name + "." + kSizeBinNames[bin];
    entries_.push_back(std::move(entry));
  }
  ++components_;
}

CatalogueEntry* Catalogue::find(Collective collective, std::string_view name) {
  for (CatalogueEntry& entry : entries_) {
    if (entry.algorithm->collective == collective && entry.algorithm->name == name) return &entry;
  }
  return nullptr;
}

Status Catalogue::unknown(Collective collective, const char* name, const char* origin) const {
  param::Suggestion suggestion(name);
  std::string known;
  for (const CatalogueEntry& entry : entries_) {
    if (entry.algorithm->collective != collective) continue;
    suggestion.consider(entry.algorithm->name);
    known += (known.empty() ? "" : ", ") + std::string(entry.algorithm->name);
  }
  const std::string meant(suggestion.best());
  return fail(MPI_ERR_ARG, "coll.unknown_algorithm",
              {{"collective", name_of(collective)},
               {"name", name},
               {"origin", origin},
               {"suggestion", meant.empty() ? std::string() : ", did you mean '" + meant + "'?"},
               {"known", known.empty() ? std::string("none") : known}});
}

}  // namespace ashlar::coll
