#pragma once
#include "components/transport/common/interface.h"
#include "components/transport/ofi/config.h"
#include "components/transport/ofi/provider.h"

namespace ashlar::ofi {

/// What network::Interface needs of this component.
struct Component {
  using Config = ofi::Config;
  using Fabric = Provider;
  static constexpr const char* kWhat = "the libfabric transport";
  static const network::Traits kTraits;
  static void introduce(const ashlar_host& host);
  static void take_leave() { Library::forget_host(); }
};

using Interface = network::InterfaceOf<Component>;

}  // namespace ashlar::ofi
