#include "framework/coll/collective.h"

#include <cstring>

namespace ashlar::coll {
namespace {

struct Row {
  const char* name;
  const char* quantity;
};
constexpr Row kRows[kCollectives] = {
    {"barrier", "nothing (always 0)"},
    {"bcast", "bytes of the buffer"},
    {"reduce", "bytes of one rank's vector"},
    {"allreduce", "bytes of one rank's vector"},
    {"gather", "bytes that one rank contributes"},
    {"gatherv", "nothing (always 0): only the root knows the sizes"},
    {"scatter", "bytes that one rank gets"},
    {"scatterv", "nothing (always 0): only the root knows the sizes"},
    {"allgather", "bytes that one rank contributes"},
    {"allgatherv", "bytes of the whole result"},
    {"alltoall", "bytes from one rank to one rank"},
    {"alltoallv", "nothing (always 0): the sizes differ from rank to rank"},
    {"alltoallw", "nothing (always 0): the sizes differ from rank to rank"},
    {"reduce_scatter", "bytes of one rank's whole vector"},
    {"reduce_scatter_block", "bytes of one rank's whole vector"},
    {"scan", "bytes of one rank's vector"},
    {"exscan", "bytes of one rank's vector"},
    {"neighbor_allgather", "nothing (always 0): neighbours know only of each other"},
    {"neighbor_allgatherv", "nothing (always 0): neighbours know only of each other"},
    {"neighbor_alltoall", "nothing (always 0): neighbours know only of each other"},
    {"neighbor_alltoallv", "nothing (always 0): neighbours know only of each other"},
    {"neighbor_alltoallw", "nothing (always 0): neighbours know only of each other"},
};

}  // namespace

const char* name_of(Collective collective) { return kRows[static_cast<int>(collective)].name; }
const char* quantity_of(Collective collective) { return kRows[static_cast<int>(collective)].quantity; }

bool parse_collective(const char* name, Collective* out) {
  for (int i = 0; i < kCollectives; ++i) {
    if (std::strcmp(kRows[i].name, name) != 0) continue;
    *out = static_cast<Collective>(i);
    return true;
  }
  return false;
}

}  // namespace ashlar::coll
