#include "framework/topo/place.h"

#include <cstdio>

#include "framework/comm/hardware.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/object/comm.h"
#include "framework/topo/make.h"
#include "framework/topo/params.h"

namespace ashlar::topo {

Surroundings surroundings;

namespace {

Place own_place() {
  static_assert(comm::kResourceTypes.size() == kPlaceKinds);
  Place place;
  place[0] = comm::surroundings.node_of(Group::self_peer);  // the machine
  for (std::size_t kind = 1; kind < kPlaceKinds; ++kind) {
    const int instance = comm::resource_instance(kind);
    // Numbers of processors are unique on one node only.
    place[kind] = instance < 0 ? -1 : place[0] << 32 | instance;
  }
  return place;
}

void tell(const Comm& comm, const char* what, const Matching& matching, bool allowed) {
  if (!surroundings.record) return;
  char subject[160], because[200];
  std::snprintf(subject, sizeof subject, "ranks of a %s on '%s'", what, comm.name.c_str());
  if (!allowed)
    std::snprintf(because, sizeof because, "topo.reorder is none");
  else if (matching.before == 0)
    std::snprintf(because, sizeof because, "as far as bindings tell, every neighbour is as near as any other rank");
  else
    std::snprintf(because, sizeof because, "weighted distance of neighbours %.0f instead of %.0f, a gain of %.0f %%",
                  matching.after, matching.before, 100 * (matching.before - matching.after) / matching.before);
  surroundings.record(subject, matching.after < matching.before ? "match" : "as they are", because);
}

}  // namespace

Status place(Comm& comm, const Pattern& pattern, const char* what, std::vector<Rank>* order) {
  *order = as_they_are(pattern.nodes());
  const bool allowed = surroundings.config == nullptr || surroundings.config->reorder == 0;
  Matching matching;
  if (allowed) {
    const Place mine = own_place();
    std::vector<std::int64_t> words;
    ASHLAR_TRY(comm::gather_words(comm, mine.data(), static_cast<int>(mine.size()), &words));
    std::vector<Place> places(static_cast<std::size_t>(pattern.nodes()));
    for (std::size_t r = 0; r < places.size(); ++r)
      for (std::size_t kind = 0; kind < kPlaceKinds; ++kind) places[r][kind] = words[r * kPlaceKinds + kind];
    // Every rank computes the same: no result has to travel.
    matching = match(pattern, places);
    *order = matching.order;
  }
  tell(comm, what, matching, allowed);
  return {};
}

}  // namespace ashlar::topo
