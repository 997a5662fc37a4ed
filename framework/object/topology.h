#pragma once
#include <mpi.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/base/types.h"

namespace ashlar {

/// The virtual topology of a communicator: which process is a neighbour of which. Constant, and shared by duplicates.
/// Whatever its form, it has the calling process's neighbours in the order that neighbourhood collectives use
/// (MPI-5.0, 8.6): receive buffers by sources(), send buffers by destinations(); MPI_PROC_NULL where a Cartesian grid
/// ends. A process may occur several times, and its occurrences then match in order.
class Topology {
 public:
  /// MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH.
  int form() const { return form_; }
  int indegree() const { return static_cast<int>(sources_.size()); }
  int outdegree() const { return static_cast<int>(destinations_.size()); }
  std::span<const Rank> sources() const { return sources_; }
  std::span<const Rank> destinations() const { return destinations_; }

 protected:
  explicit Topology(int form) : form_(form) {}
  ~Topology() = default;  // shared pointers remember what they were made of
  std::vector<Rank> sources_, destinations_;

 private:
  const int form_;
};

/// A grid; ranks are numbered row by row, the last coordinate fastest.
class CartTopology final : public Topology {
 public:
  /// As rank `rank` of the grid sees it.
  CartTopology(std::vector<int> dims, std::vector<int> periods, Rank rank);

  int ndims() const { return static_cast<int>(dims.size()); }
  std::vector<int> coordinates(Rank rank) const;
  /// Coordinates of periodic dimensions are wrapped; -1: outside a dimension that is not, whose number is *bad.
  Rank rank_at(const int* coordinates, int* bad = nullptr) const;
  /// The rank `displacement` steps from `coordinates` along `dimension`, or MPI_PROC_NULL.
  Rank beside(const std::vector<int>& coordinates, int dimension, long long displacement) const;

  const std::vector<int> dims, periods;  // periods: 0 or 1
  const std::vector<int> own;            // coordinates of the calling process
};

/// A graph that every process knows whole: `index` holds the ends of the neighbour lists in `edges`.
class GraphTopology final : public Topology {
 public:
  GraphTopology(std::vector<int> node_ends, std::vector<Rank> all_edges, Rank rank);

  int nodes() const { return static_cast<int>(index.size()); }
  std::span<const Rank> neighbours(Rank rank) const;

  const std::vector<int> index;
  const std::vector<Rank> edges;
};

/// A graph of which every process knows its own edges.
class DistGraphTopology final : public Topology {
 public:
  DistGraphTopology(std::vector<Rank> sources, std::vector<int> in_weights, std::vector<Rank> destinations,
                    std::vector<int> out_weights, bool is_weighted)
      : Topology(MPI_DIST_GRAPH),
        source_weights(std::move(in_weights)),
        destination_weights(std::move(out_weights)),
        weighted(is_weighted) {
    sources_ = std::move(sources);
    destinations_ = std::move(destinations);
  }

  const std::vector<int> source_weights, destination_weights;  // empty when not weighted
  const bool weighted;
};

}  // namespace ashlar
