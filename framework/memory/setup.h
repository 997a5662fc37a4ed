#pragma once
#include "framework/memory/params.h"

namespace ashlar::plugin {
class Records;
}
namespace ashlar::memory {

class Heap;

/// What the process knows of its job, for its heap (or, in tests, another one). Without it the heap has the values of
/// Config, and makes no records. They hold for a heap that is made later; limit, keep and claims for one that is there,
/// too.
struct HeapSetup {
  Config config{};
  unsigned processes = 1;              // of this job on this node: so many heaps are mapped here
  plugin::Records* records = nullptr;  // borrowed until the next call

  void apply(Heap& heap) const;
};

}  // namespace ashlar::memory
