#include "framework/plugin/linked.h"

namespace ashlar::plugin {

[[gnu::weak]] const ashlar_component* const* linked_components() {
  static const ashlar_component* const kNone = nullptr;
  return &kNone;
}

}  // namespace ashlar::plugin
