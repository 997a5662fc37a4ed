// Graphs of which every process gives a part: its own edges, or any.
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/comm/inter_exchange.h"
#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"
#include "framework/object/topology.h"
#include "framework/progress/user_call.h"
#include "framework/topo/api.h"
#include "framework/topo/make.h"
#include "framework/topo/place.h"

namespace ashlar::topo {
namespace {

struct Edges {
  std::vector<Rank> sources, destinations;
  std::vector<int> in_weights, out_weights;
  std::int64_t indegree() const { return static_cast<std::int64_t>(sources.size()); }
  std::int64_t outdegree() const { return static_cast<std::int64_t>(destinations.size()); }
};

Status check_ranks(const Comm& comm, const char* name, const int ranks[], long long n) {
  for (long long i = 0; i < n; ++i)
    if (ranks[i] < 0 || ranks[i] >= comm.size)
      return fail(MPI_ERR_RANK, "argument.element_rank",
                  {{"argument", name},
                   {"index", i},
                   {"value", ranks[i]},
                   {"communicator", comm.name},
                   {"last", comm.size - 1}});
  return {};
}

Status check_weights(const char* name, const int weights[], long long n) {
  if (n == 0 || weights == MPI_UNWEIGHTED) return {};
  if (!weights || weights == MPI_WEIGHTS_EMPTY)
    return fail(MPI_ERR_ARG, "topology.no_weights",
                {{"argument", name}, {"value", weights ? "MPI_WEIGHTS_EMPTY" : "a null pointer"}, {"count", n}});
  for (long long i = 0; i < n; ++i)
    if (weights[i] < 0)
      return fail(MPI_ERR_ARG, "argument.element",
                  {{"argument", name}, {"index", i}, {"value", weights[i]}, {"wanted", "0 or more"}});
  return {};
}

std::vector<int> taken(const int values[], int n, bool weighted) {
  return weighted && n > 0 ? std::vector<int>(values, values + n) : std::vector<int>();
}

/// Lets the ranks change: every process receives all edges, and takes those of the node that it becomes. Beyond this
/// many words that costs more than it can give back, and the ranks stay.
constexpr MPI_Count kMostWords = 1 << 20;

Status rearrange(Comm& comm, bool weighted, Edges* edges, std::vector<Rank>* order) {
  std::vector<std::int64_t> mine{edges->indegree(), edges->outdegree()};
  const auto put = [&](const std::vector<Rank>& ranks, const std::vector<int>& weights) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      mine.push_back(static_cast<std::int64_t>(ranks[i]) << 32 | static_cast<std::uint32_t>(weighted ? weights[i] : 1));
  };
  put(edges->sources, edges->in_weights);
  put(edges->destinations, edges->out_weights);
  const auto n = static_cast<std::size_t>(comm.size);
  const auto own_words = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> lengths;
  ASHLAR_TRY(comm::gather_words(comm, &own_words, 1, &lengths));
  std::vector<MPI_Count> counts(n), starts(n);
  MPI_Count total = 0;
  for (std::size_t r = 0; r < n; ++r) {
    counts[r] = lengths[r];
    starts[r] = total;
    total += counts[r];
  }
  if (total > kMostWords) return {};
  std::vector<std::int64_t> all(static_cast<std::size_t>(total));
  Datatype& word = *resolve(MPI_INT64_T);
  ASHLAR_TRY(coll::allgatherv(mine.data(), own_words, word, all.data(), counts.data(), starts.data(), word, comm));
  const auto rank_of = [](std::int64_t w) { return static_cast<Rank>(w >> 32); };
  const auto weight_of = [](std::int64_t w) { return static_cast<int>(static_cast<std::uint32_t>(w)); };
  Pattern pattern;
  for (std::size_t r = 0; r < n; ++r) {
    const std::int64_t* of = all.data() + starts[r];
    for (std::int64_t e = of[0]; e < of[0] + of[1]; ++e) pattern.add(rank_of(of[2 + e]), weight_of(of[2 + e]));
    pattern.end_node();
  }
  ASHLAR_TRY(place(comm, pattern, "distributed graph", order));
  for (std::size_t node = 0; node < n; ++node) {
    if ((*order)[node] != comm.rank) continue;
    const std::int64_t* of = all.data() + starts[node];
    *edges = Edges();
    for (std::int64_t e = 0; e < of[0] + of[1]; ++e) {
      (e < of[0] ? edges->sources : edges->destinations).push_back(rank_of(of[2 + e]));
      if (weighted) (e < of[0] ? edges->in_weights : edges->out_weights).push_back(weight_of(of[2 + e]));
    }
  }
  return {};
}

Status give(Comm& comm, Edges edges, bool weighted, bool reorder, Comm** result) {
  std::vector<Rank> order = as_they_are(comm.size);
  if (reorder) ASHLAR_TRY(rearrange(comm, weighted, &edges, &order));
  Comm* made = nullptr;
  ASHLAR_TRY(make_ordered(comm, order, &made));
  made->topology =
      std::make_shared<DistGraphTopology>(std::move(edges.sources), std::move(edges.in_weights),
                                          std::move(edges.destinations), std::move(edges.out_weights), weighted);
  *result = made;
  return {};
}

/// One end of an edge, on its way to the process at that end: the other end, its weight, and which of the two it is.
struct HalfEdge {
  std::int32_t other, weight;
  std::int32_t outgoing, unused;
};
static_assert(sizeof(HalfEdge) == 16);

/// What the processes tell each other before they exchange edges: how many follow, and whether they agree.
enum : std::int64_t { kWeighted = std::int64_t{1} << 62, kRefused = std::int64_t{1} << 61, kCount = kRefused - 1 };

class Sorter {
 public:
  explicit Sorter(Comm& comm) : comm_(comm), counts_(static_cast<std::size_t>(comm.size)) {}
  void count(Rank to) { ++counts_[static_cast<std::size_t>(to)]; }
  void begin() {
    starts_.resize(counts_.size());
    MPI_Count total = 0;
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      starts_[r] = total;
      total += counts_[r];
    }
    out_.resize(static_cast<std::size_t>(total));
    next_ = starts_;
  }
  void put(Rank to, HalfEdge half) { out_[static_cast<std::size_t>(next_[static_cast<std::size_t>(to)]++)] = half; }

  /// `marks`: kWeighted, kRefused. Every process receives every other's, so all of them fail together.
  Status exchange(std::int64_t marks, std::vector<HalfEdge>* in) {
    Datatype& word = *resolve(MPI_INT64_T);
    const std::size_t n = counts_.size();
    std::vector<std::int64_t> told(n), heard(n);
    for (std::size_t r = 0; r < n; ++r) told[r] = counts_[r] | marks;
    ASHLAR_TRY(coll::alltoall(told.data(), 1, word, heard.data(), 1, word, comm_));
    std::vector<MPI_Count> in_counts(n), in_starts(n);
    MPI_Count total = 0;
    for (std::size_t r = 0; r < n; ++r) {
      if (heard[r] & kRefused)
        return fail(MPI_ERR_OTHER, "topology.refused",
                    {{"peer", r}, {"communicator", comm_.name}, {"call", "MPI_Dist_graph_create"}});
      if ((heard[r] ^ marks) & kWeighted)
        return fail(MPI_ERR_ARG, "topology.weights_differ",
                    {{"argument", "weights"}, {"value", "MPI_UNWEIGHTED"}, {"peer", r}});
      in_counts[r] = 2 * (heard[r] & kCount);
      in_starts[r] = total;
      total += in_counts[r];
    }
    in->resize(static_cast<std::size_t>(total / 2));
    std::vector<MPI_Count> out_counts(n), out_starts(n);
    for (std::size_t r = 0; r < n; ++r) {
      out_counts[r] = 2 * counts_[r];
      out_starts[r] = 2 * starts_[r];
    }
    return coll::alltoallv(out_.data(), out_counts.data(), out_starts.data(), word, in->data(), in_counts.data(),
                           in_starts.data(), word, comm_);
  }

 private:
  Comm& comm_;
  std::vector<MPI_Count> counts_, starts_, next_;
  std::vector<HalfEdge> out_;
};

Status check_general(const Comm& comm, int n, const int sources[], const int degrees[], const int destinations[],
                     const int weights[]) {
  ASHLAR_TRY(check_ranks(comm, "sources", sources, n));
  long long edges = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0)
      return fail(MPI_ERR_ARG, "argument.element",
                  {{"argument", "degrees"}, {"index", i}, {"value", degrees[i]}, {"wanted", "0 or more"}});
    edges += degrees[i];
  }
  if (edges > 0 && !destinations) return fail(MPI_ERR_ARG, "argument.null", {{"argument", "destinations"}});
  ASHLAR_TRY(check_ranks(comm, "destinations", destinations, edges));
  return check_weights("weights", weights, edges);
}

}  // namespace

Status dist_graph_create_adjacent(Comm& comm, int indegree, const int sources[], const int sourceweights[],
                                  int outdegree, const int destinations[], const int destweights[], Info*, int reorder,
                                  Comm** result) {
  const progress::UserCall call("MPI_Dist_graph_create_adjacent", &comm);
  *result = nullptr;
  ASHLAR_TRY(intra_only(comm));
  ASHLAR_TRY(check_ranks(comm, "sources", sources, indegree));
  ASHLAR_TRY(check_ranks(comm, "destinations", destinations, outdegree));
  ASHLAR_TRY(check_weights("sourceweights", sourceweights, indegree));
  ASHLAR_TRY(check_weights("destweights", destweights, outdegree));
  const bool weighted = sourceweights != MPI_UNWEIGHTED;
  if (weighted != (destweights != MPI_UNWEIGHTED)) return fail(MPI_ERR_ARG, "topology.weights_of_one_side");
  Edges edges;
  edges.sources = taken(sources, indegree, true);
  edges.destinations = taken(destinations, outdegree, true);
  edges.in_weights = taken(sourceweights, indegree, weighted);
  edges.out_weights = taken(destweights, outdegree, weighted);
  return give(comm, std::move(edges), weighted, reorder != 0, result);
}

Status dist_graph_create(Comm& comm, int n, const int sources[], const int degrees[], const int destinations[],
                         const int weights[], Info*, int reorder, Comm** result) {
  const progress::UserCall call("MPI_Dist_graph_create", &comm);
  *result = nullptr;
  ASHLAR_TRY(intra_only(comm));
  const Status fit = check_general(comm, n, sources, degrees, destinations, weights);
  const bool weighted = weights != MPI_UNWEIGHTED;
  Sorter sorter(comm);
  const auto each_edge = [&](auto&& visit) {
    if (!fit.ok()) return;
    for (int i = 0, edge = 0; i < n; ++i)
      for (int k = 0; k < degrees[i]; ++k, ++edge) visit(sources[i], destinations[edge], weighted ? weights[edge] : 1);
  };
  each_edge([&](Rank from, Rank to, int) {
    sorter.count(from);
    sorter.count(to);
  });
  sorter.begin();
  each_edge([&](Rank from, Rank to, int weight) {
    sorter.put(from, {to, weight, 1, 0});
    sorter.put(to, {from, weight, 0, 0});
  });
  std::vector<HalfEdge> mine;
  const Status exchanged =
      sorter.exchange((weighted ? std::int64_t{kWeighted} : 0) | (fit.ok() ? 0 : std::int64_t{kRefused}), &mine);
  ASHLAR_TRY(fit);
  ASHLAR_TRY(exchanged);
  Edges edges;
  for (const HalfEdge& half : mine) {
    (half.outgoing ? edges.destinations : edges.sources).push_back(half.other);
    if (weighted) (half.outgoing ? edges.out_weights : edges.in_weights).push_back(half.weight);
  }
  return give(comm, std::move(edges), weighted, reorder != 0, result);
}

}  // namespace ashlar::topo
