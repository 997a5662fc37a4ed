#pragma once
#include "components/transport/ofi/interface.h"
#include "tests/unit/transport_common/fixture.h"

namespace ashlar::ofi::test {

using network::Endpoint;
using network::Frame;
using network::Record;
using network::test::Got;
using network::test::host;
using network::test::last_adjustment;
using network::test::last_failure;
using network::test::last_record;
using network::test::lasting_memory;
using network::test::run;

inline Config usual() {
  return {.library = "libfabric.so.1",
          .provider = "auto",
          .domain = "auto",
          .receives = 16,
          .multi_receive = kWithCards,
          .tag_receives = 256,
          .in_flight = 1 << 20,
          .sessions = network::test::usual_sessions()};
}

class Process : public network::test::Process {
 public:
  explicit Process(std::uint32_t rank, const Config& config = usual())
      : network::test::Process(std::in_place_type<Interface>, rank, config) {}
};

}  // namespace ashlar::ofi::test
