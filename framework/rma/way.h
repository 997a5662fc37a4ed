#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/status.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/reduce_op.h"
#include "framework/progress/gate.h"
#include "framework/rma/target.h"

namespace ashlar {
class RmaWindow;
}
namespace ashlar::rma {

/// Items in a target's memory: `count` of `type` at byte `offset` of its window. All touched bytes lie in the window.
struct Place {
  MPI_Aint offset = 0;
  MPI_Count count = 0;
  Datatype* type = nullptr;

  /// The same items as a view of memory that begins at `window`, here or (as a number) at the target. A sum of
  /// integers: dynamic windows begin at address 0.
  DataView in(const std::byte* window) const {
    const std::intptr_t at = reinterpret_cast<std::intptr_t>(window) + static_cast<std::intptr_t>(offset);
    return {.data = reinterpret_cast<void*>(at), .count = count, .type = type};
  }
};

/// A put or a get. Refers to the caller's arguments, which are valid during the call only, except the buffers.
struct Access {
  RmaWindow& window;
  Target& target;
  DataView origin;
  Place place;
  Gate* done;  // nullptr, or told when the origin's buffer may be used again, unless that is so when the call returns
};

/// A call of the accumulate family. All basic elements, at the origin and at the target, are of the type `element`.
struct Update {
  RmaWindow& window;
  Target& target;
  const ReduceOp& op;  // predefined; MPI_REPLACE and MPI_NO_OP among them
  Datatype& element;
  DataView origin;  // MPI_NO_OP: not looked at
  DataView result;  // type nullptr: nothing is fetched
  Place place;
  const void* compare;  // not nullptr: compare and swap of one element; `op` is MPI_REPLACE
  Gate* done;           // as in Access, for `origin` and `result`

  bool fetches() const { return result.type != nullptr; }
  bool reads_origin() const { return op.code() != ReduceOp::Code::kNoOp; }
};

/// One way to reach the memory of targets. A component has one or several; for each target of a window one is taken for
/// put and get, and one for updates. Called under no lock (mapped ways of several threads run side by side); a way that
/// needs the window's lane takes its lock.
struct Way {
  const char* name;  // "mapped", "copied", "asked"
  Status (*put)(const Access&);
  Status (*get)(const Access&);
  Status (*update)(const Update&);
  /// Waits until all operations of this process to the target are complete: at the origin, and with `remote` at the
  /// target as well. nullptr: they are when their calls return.
  Status (*flush)(RmaWindow&, Target&, bool remote);
};

}  // namespace ashlar::rma
