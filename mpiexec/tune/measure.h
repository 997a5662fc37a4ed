#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "framework/coll/catalogue.h"
#include "framework/coll/collective.h"

/// Times of every algorithm of a collective, on the communicator of all ranks. Every call is made by all ranks alike.
namespace ashlar::tune {

struct Figure {
  std::string algorithm;
  double seconds;  // of one call, the slowest rank's; the median of several batches
};

struct Point {
  coll::Collective what;
  MPI_Count bytes;              // of the collective's quantity
  std::string chosen, origin;   // what the rules in force choose, and which of them
  std::vector<Figure> figures;  // of all algorithms that can serve, fastest first
  const Figure* of(const std::string& algorithm) const;
};

/// Every algorithm of the coll components in use; after MPI_Init.
coll::Catalogue& catalogue();

/// The collectives that rules choose by size.
const std::vector<coll::Collective>& measured_collectives();

/// `seconds`: for each algorithm, about.
Point measure(MPI_Comm comm, coll::Collective what, MPI_Count bytes, double seconds);

}  // namespace ashlar::tune
