#include "framework/topo/place.h"

#include <mpi.h>

#include <cstdio>

#include "framework/comm/engine.h"
#include "framework/comm/hardware.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/outside.h"
#include "framework/object/comm.h"
#include "framework/plugin/records.h"
#include "framework/progress/lane.h"
#include "framework/topo/engine.h"
#include "framework/topo/make.h"

namespace ashlar::topo {

Engine* Engine::current_ = nullptr;

namespace {

Place own_place(const Comm& comm) {
  Place place;
  place[0] = comm::own_node_in(comm);  // the machine
  for (std::size_t kind = 1; kind < kPlaceKinds; ++kind) {
    const std::int64_t instance = comm::resource_instance(comm::kComparedTypes[kind]);
    // Numbers of processors are unique on one node only.
    place[kind] = instance < 0 ? -1 : place[0] << 32 | instance;
  }
  return place;
}

/// Adds the decision record of one placement.
void record(Comm& comm, const char* what, const Matching& matching) {
  plugin::Records* records = nullptr;
  {
    const LaneGuard guard(comm.lane->lock);
    records = comm.lane->records;
  }
  if (records == nullptr) return;
  char subject[160], because[240];
  std::snprintf(subject, sizeof subject, "ranks of a %s on '%s'", what, comm.name.c_str());
  const auto add = [&](const char* chosen, const char* reason) {
    records->add({"topology", subject, chosen, reason, "", "topology, topo.reorder"});
  };
  if (matching.before == 0) return add("as they are", matching.kept);
  const comm::Hardware& parts = comm::Engine::current().services.hardware();
  if (matching.kept)
    std::snprintf(because, sizeof because, "%s; weighted distance of neighbours %.0f, places from %s", matching.kept,
                  matching.before, parts.locator_name);
  else
    std::snprintf(because, sizeof because,
                  "weighted distance of neighbours %.0f instead of %.0f, a gain of %.0f %%; places from %s",
                  matching.after, matching.before, 100 * (matching.before - matching.after) / matching.before,
                  parts.locator_name);
  add(matching.kept ? "as they are" : parts.matcher_name, because);
}

bool allowed() { return Engine::current().config.reorder == kMatch; }

}  // namespace

Status place(Comm& comm, const Pattern& pattern, const char* what, std::vector<Rank>* order) {
  *order = as_they_are(pattern.nodes());
  Matching matching;
  matching.kept = "topo.reorder is none";
  if (allowed()) {
    const Place mine = own_place(comm);
    std::vector<std::int64_t> words;
    ASHLAR_TRY(comm::gather_words(comm, mine.data(), static_cast<int>(mine.size()), &words));
    std::vector<Place> places(static_cast<std::size_t>(pattern.nodes()));
    for (std::size_t r = 0; r < places.size(); ++r)
      for (std::size_t kind = 0; kind < kPlaceKinds; ++kind) places[r][kind] = words[r * kPlaceKinds + kind];
    // Every rank computes the same: no result has to travel.
    matching = match(pattern, places, comm::Engine::current().services.hardware().matcher);
    *order = matching.order;
  }
  record(comm, what, matching);
  return {};
}

Rank map(const Comm& comm, const Pattern& pattern) {
  const Rank unmoved = comm.rank < pattern.nodes() ? comm.rank : MPI_UNDEFINED;
  if (!allowed() || pattern.nodes() == 0) return unmoved;
  std::vector<Place> places(static_cast<std::size_t>(pattern.nodes()));
  const std::vector<std::uint32_t> nodes = comm::nodes_of(comm);
  bool several = false;
  for (std::size_t r = 0; r < places.size(); ++r) {
    places[r].fill(-1);
    places[r][0] = nodes[r];
    several = several || places[r][0] != places[0][0];
  }
  if (!several) return unmoved;
  const Matching matching = match(pattern, places, comm::Engine::current().services.hardware().matcher);
  for (Rank node = 0; node < pattern.nodes(); ++node)
    if (matching.order[static_cast<std::size_t>(node)] == comm.rank) return node;
  return MPI_UNDEFINED;
}

}  // namespace ashlar::topo
