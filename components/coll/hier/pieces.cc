#include "components/coll/hier/pieces.h"

#include <algorithm>
#include <new>

namespace ashlar::coll::hier {

Pieces Pieces::of(const Op& op, const Nodes& nodes, MPI_Count items, MPI_Count item_bytes) {
  Pieces pieces{.items = items, .each = items};
  const MPI_Count segment = op.arguments().segment;
  if (segment <= 0 || items * item_bytes <= segment) return pieces;
  pieces.each = std::max({segment / item_bytes, (items + kMost - 1) / kMost, MPI_Count{1}});
  pieces.count = static_cast<int>((items + pieces.each - 1) / pieces.each);
  pieces.leaders = std::clamp(op.arguments().leaders, 1, std::min(nodes.fewest_ranks(), pieces.count));
  return pieces;
}

std::span<Step> steps_of(Op& op, int count) {
  auto* const room = reinterpret_cast<Step*>(op.scratch(count * MPI_Count{sizeof(Step)}));
  if (room == nullptr) return {};
  for (int i = 0; i < count; ++i) new (room + i) Step;
  return {room, static_cast<std::size_t>(count)};
}

void announce(Op& op, const Call& call, Op& inside, Nodes& nodes, std::span<const Step> steps) {
  if (nodes.my_ranks() == 1) return;
  auto* const parts =
      reinterpret_cast<const Call**>(op.scratch(static_cast<MPI_Count>(steps.size() * sizeof(const Call*))));
  if (parts == nullptr) return;
  for (std::size_t i = 0; i < steps.size(); ++i) parts[i] = &steps[i].part;
  count_parts(op, call, inside, nodes.inside(), {parts, steps.size()});
}

void leave(Op& op, const Call& call, Op& inside, Nodes& nodes, std::span<const Step> steps) {
  if (nodes.my_ranks() == 1) return;
  for (const Step& step : steps) leave_part(op, call, inside, nodes.inside(), step.part);
}

}  // namespace ashlar::coll::hier
