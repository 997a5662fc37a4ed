#include "components/transport/ofi/config.h"

namespace ashlar::ofi {
namespace {

const char* const kFrameRange[] = {"1KiB", "16MiB", nullptr};
const char* const kBufferRange[] = {"4KiB", "1GiB", nullptr};
const char* const kDepthRange[] = {"4", "65536", nullptr};
// What endpoints carry in 32 bits.
const char* const kFetchRange[] = {"0", "4095MiB", nullptr};
const char* const kCountRange[] = {"0", "1000000", nullptr};
const char* const kLookRange[] = {"0", "1ms", nullptr};
const char* const kTimeoutRange[] = {"100ms", "24h", nullptr};
const char* const kIntervalRange[] = {"0", "1h", nullptr};

}  // namespace

#define ROW(name, fallback, help, type, verbosity, choices)                          \
  {                                                                                  \
#name, fallback, help, type, ASHLAR_SCOPE_LOCAL, verbosity, ASHLAR_PARAM_FROZEN, \
        static_cast < std::uint32_t>(offsetof(Config, name)), choices                \
  }

extern const ashlar_param kParams[] = {
    ROW(library, "libfabric.so.1", "The libfabric library to load.", ASHLAR_PARAM_STRING, ASHLAR_USER_DETAIL, nullptr),
    ROW(provider, "auto",
        "Provider of libfabric, as fi_info names it: verbs;ofi_rxm, tcp;ofi_rxm. auto: the first that libfabric lists "
        "for a network card, else tcp;ofi_rxm.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(domain, "auto",
        "Device or network interface, as fi_info names domains: mlx5_0, eth0. auto: the first that libfabric lists, "
        "the "
        "loopback while all processes are on one node.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(frame_bytes, "16KiB",
        "Largest piece of a message that is copied into a buffer, with 32 bytes in front of it; receive buffers have "
        "this "
        "size.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kFrameRange),
    ROW(send_buffer, "256KiB", "Bytes to one peer that may wait here, or be under way.", ASHLAR_PARAM_BYTES,
        ASHLAR_TUNER_BASIC, kBufferRange),
    ROW(sends, "256", "Sends and reads of a lane that libfabric may have at one time; others wait.", ASHLAR_PARAM_U64,
        ASHLAR_TUNER_DETAIL, kDepthRange),
    ROW(receives, "64", "Receive buffers of a lane that libfabric has.", ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL,
        kDepthRange),
    ROW(get_from, "32KiB",
        "Size from which the receiver reads a message from the sender's memory into its own, without further copies.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kFetchRange),
    ROW(coalesce_after, "8",
        "Short messages to one peer between two rounds of progress that each leave at once; further ones leave "
        "together.",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_BASIC, kCountRange),
    ROW(look_interval, "10us",
        "Longest time between two looks at the completion queue in a wait; the looks follow each other closely after "
        "an "
        "arrival.",
        ASHLAR_PARAM_DURATION, ASHLAR_TUNER_BASIC, kLookRange),
    ROW(handshake_timeout, "60s",
        "Time after which a peer is given up whose host does not answer, and a device through which a process cannot "
        "reach itself.",
        ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, kTimeoutRange),
    ROW(liveness_interval, "2s",
        "Time between two questions to a peer's host whether the process is there, by a connection to a port of it. 0: "
        "only a process that does not answer a first message is asked for.",
        ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, kIntervalRange),
};  // namespace ashlar::ofi
static_assert(sizeof(kParams) / sizeof(kParams[0]) == kParamCount);

}  // namespace ashlar::ofi
