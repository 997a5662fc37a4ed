#include "components/transport/common/params.h"

#include "components/transport/ucx/config.h"

namespace ashlar::ucx {
#define ROW(name, fallback, help, type, verbosity, choices) \
  ASHLAR_NETWORK_ROW(#name, name, fallback, help, type, verbosity, choices)

constexpr const char* kPuts[] = {"auto", "always", "never", nullptr};

extern const ashlar_param kParams[] = {
    ROW(library, "libucp.so.0", "The UCX library (UCP) to load.", ASHLAR_PARAM_STRING, ASHLAR_USER_DETAIL, nullptr),
    ROW(transports, "auto",
        "Transports of UCX, as UCX_TLS names them: ib, rc,ud, tcp. auto: UCX_TLS if that is set, else ib on a node "
        "with a card that UCX drives, else tcp.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(devices, "auto",
        "Devices or network interfaces, as UCX_NET_DEVICES names them: mlx5_0:1, eth0, all. auto: UCX_NET_DEVICES if "
        "that is set, else one card, which processes of a node take in turn, those near their processors first; over "
        "tcp one interface, for a job on one node the loopback where there is no other.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(puts, "auto",
        "Whether one-sided communication puts by UCX. auto: where a put at the start needs nothing of the process that "
        "has the memory; always: also where UCX leaves it to calls of that process; never: targets are asked.",
        ASHLAR_PARAM_ENUM, ASHLAR_USER_DETAIL, kPuts),
    ROW(tag_receives, "4096",
        "Receives of a lane that UCX has to match, at most; further ones are matched by the kernel (p2p.matching).",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, network::kTagReceivesRange),
    ASHLAR_NETWORK_ROWS("UCX", "132KiB", "", network::kFrameRange, "1MiB", "128KiB"),
};
static_assert(sizeof(kParams) / sizeof(kParams[0]) == kParamCount);

}  // namespace ashlar::ucx
