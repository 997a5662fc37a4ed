#pragma once
#include "components/transport/common/interface.h"
#include "components/transport/ucx/config.h"
#include "components/transport/ucx/worker.h"

namespace ashlar::ucx {

/// What network::Interface needs of this component.
struct Component {
  using Config = ucx::Config;
  using Fabric = Worker;
  static constexpr const char* kWhat = "the UCX transport";
  static const network::Traits kTraits;
  static void introduce(const ashlar_host& host);
  static void take_leave() { Library::forget_host(); }
};

using Interface = network::InterfaceOf<Component>;

}  // namespace ashlar::ucx
