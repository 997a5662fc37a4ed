#pragma once
#include "components/transport/ucx/interface.h"
#include "tests/unit/transport_common/fixture.h"

namespace ashlar::ucx::test {

using network::Endpoint;
using network::Record;
using network::test::host;
using network::test::last_failure;
using network::test::last_record;
using network::test::run;

inline Config usual() {
  return {.library = "libucp.so.0",
          .transports = "auto",
          .devices = "auto",
          .puts = kWhereProved,
          .tag_receives = 256,
          .sessions = network::test::usual_sessions()};
}

class Process : public network::test::Process {
 public:
  explicit Process(std::uint32_t rank, const Config& config = usual())
      : network::test::Process(std::in_place_type<Interface>, rank, config) {}
};

}  // namespace ashlar::ucx::test
