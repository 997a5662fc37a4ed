#include "components/transport/common/params.h"

#include "components/transport/ofi/config.h"

namespace ashlar::ofi {
#define ROW(name, fallback, help, type, verbosity, choices) \
  ASHLAR_NETWORK_ROW(#name, name, fallback, help, type, verbosity, choices)

static constexpr const char* kMultiReceive[] = {"auto", "always", "never", nullptr};
static constexpr const char* kFrameRange[] = {"0", "16MiB", nullptr};
static constexpr const char* kReceivesRange[] = {"0", "65536", nullptr};
static constexpr const char* kFlightRange[] = {"0", "1GiB", nullptr};

extern const ashlar_param kParams[] = {
    ROW(library, "libfabric.so.1", "The libfabric library to load.", ASHLAR_PARAM_STRING, ASHLAR_USER_DETAIL, nullptr),
    ROW(provider, "auto",
        "Provider of libfabric, as fi_info names it: verbs;ofi_rxm, tcp;ofi_rxm. auto: the first that libfabric lists "
        "for a network card, else tcp, or before libfabric 1.18 tcp;ofi_rxm.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(domain, "auto",
        "Device or network interface, as fi_info names domains: mlx5_0, eth0. auto: the first that libfabric lists; "
        "of several cards of its kind one each, which processes of a node take in turn, those near their processors "
        "first; for a job on one node the loopback where there is no other.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(receives, "0",
        "Frames of frame_bytes that the receive buffers of a lane have room for. 0: as many as 1MiB holds, from 8 to "
        "64; less than 4 counts as 4.",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, kReceivesRange),
    ROW(multi_receive, "auto",
        "Whether four receive buffers take many frames each (FI_MULTI_RECV), so that short ones need little room, or "
        "each frame has a buffer. auto: with network cards; always: with every provider that can; never: one each.",
        ASHLAR_PARAM_ENUM, ASHLAR_TUNER_DETAIL, kMultiReceive),
    ROW(tag_receives, "4096",
        "Receives of a lane that libfabric has to match, at most, and as far as the provider takes so many; further "
        "ones are matched by the kernel (p2p.matching).",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, network::kTagReceivesRange),
    ROW(in_flight, "1MiB",
        "Bytes that may be under way from one peer while large messages are read from it, with providers over the "
        "system's sockets: what waits in the system longer is no longer in a cache. Pieces of half of it are asked "
        "for. 0: all of a message at once, as with network cards.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kFlightRange),
    ASHLAR_NETWORK_ROWS("libfabric", "0",
                        " 0: 65KiB with the provider tcp, 16KiB with others; less than 4KiB counts as 4KiB.",
                        kFrameRange, "256KiB", "32KiB"),
    ASHLAR_NETWORK_RAIL_ROWS("libfabric"),
};
static_assert(sizeof(kParams) / sizeof(kParams[0]) == kParamCount);

}  // namespace ashlar::ofi
