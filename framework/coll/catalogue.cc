#include "framework/coll/catalogue.h"

#include <mpi.h>

#include <string>

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
  return Status::fail(MPI_ERR_ARG, "there is no %s algorithm '%s' (%s)%s%s%s; there are %s", name_of(collective), name,
                      origin, meant.empty() ? "" : ", did you mean '", meant.c_str(), meant.empty() ? "" : "'?",
                      known.empty() ? "none" : known.c_str());
}

}  // namespace ashlar::coll
