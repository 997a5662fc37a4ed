#include "components/transport/tcp/config.h"

namespace ashlar::tcp {
namespace {

const char* const kConnectionRange[] = {"0", "1048576", nullptr};
const char* const kPieceRange[] = {"1KiB", "16MiB", nullptr};
const char* const kBufferRange[] = {"4KiB", "1GiB", nullptr};
const char* const kKeepRange[] = {"256KiB", "1GiB", nullptr};
// What endpoints carry in 32 bits.
const char* const kFetchRange[] = {"0", "4095MiB", nullptr};
const char* const kChunkRange[] = {"4KiB", "64MiB", nullptr};
const char* const kServedRange[] = {"0", "64MiB", nullptr};
const char* const kFlightRange[] = {"0", "1GiB", nullptr};
const char* const kStripedRange[] = {"4KiB", "1TiB", nullptr};
const char* const kRailRange[] = {"1", "4", nullptr};
const char* const kCountRange[] = {"0", "1000000", nullptr};
const char* const kLookRange[] = {"0", "1ms", nullptr};
const char* const kTimeoutRange[] = {"100ms", "24h", nullptr};
const char* const kShakeRange[] = {"100ms", "1h", nullptr};
const char* const kStrangerRange[] = {"1", "65536", nullptr};
const char* const kExchangeRange[] = {"0", "16MiB", nullptr};
const char* const kSystemRange[] = {"0", "24h", nullptr};

}  // namespace

#define ROW(name, fallback, help, type, verbosity, choices)                          \
  {                                                                                  \
#name, fallback, help, type, ASHLAR_SCOPE_LOCAL, verbosity, ASHLAR_PARAM_FROZEN, \
        static_cast < std::uint32_t>(offsetof(Config, name)), choices                \
  }

extern const ashlar_param kParams[] = {
    ROW(interfaces, "auto",
        "Network interfaces whose addresses are published: names, subnets as 10.0.0.0/8, with ^ first all but these. "
        "auto: all that are up.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(ports, "0", "Port that a process listens on: a number, or a range as 40000-40999; 0: the system chooses.",
        ASHLAR_PARAM_STRING, ASHLAR_USER_BASIC, nullptr),
    ROW(connections, "0",
        "Connections of a lane beyond which the one unused longest is closed; it comes back on use. 0: the lanes "
        "together have three quarters of the limit of descriptors.",
        ASHLAR_PARAM_U64, ASHLAR_USER_DETAIL, kConnectionRange),
    ROW(max_bcopy, "64KiB", "Largest piece of a message that is copied into the send buffer.", ASHLAR_PARAM_BYTES,
        ASHLAR_TUNER_BASIC, kPieceRange),
    ROW(send_buffer, "256KiB",
        "Bytes to one peer that may wait here because its connection takes no more, or is not there "
        "yet.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kBufferRange),
    ROW(keep, "1MiB",
        "Bytes of messages to one peer that are kept until it has them, to be sent again after a broken connection.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_DETAIL, kKeepRange),
    ROW(get_from, "32KiB",
        "Smallest message, of those sent by rendezvous, that the receiver reads from the sender's memory into its own, "
        "without further copies.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kFetchRange),
    ROW(get_chunk, "0",
        "Largest piece of a message read from the sender's memory, 4KiB at least; other messages travel between "
        "pieces. 0: what the path delivers in 250 us as the system has measured it, from 256KiB to 4MiB.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_DETAIL, kServedRange),
    ROW(in_flight, "0",
        "Bytes under way to one peer on paths so short that these fill them (twice their round trip at 50 Gbit/s), "
        "while it reads large messages: what waits in the system longer is no longer in a cache. 0: as many as a "
        "processor's second-level cache has, from 256KiB to 2MiB, or 1MiB where the system does not tell. 1GiB: as "
        "many as the system finds right.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kFlightRange),
    ROW(rails, "4",
        "Connections to one peer over which large messages are read from it, each over interfaces of its own on both "
        "hosts; 1: the one that carries all messages alone.",
        ASHLAR_PARAM_U64, ASHLAR_USER_BASIC, kRailRange),
    ROW(stripe_from, "512KiB", "Size from which a message is read over all rails to its sender.", ASHLAR_PARAM_BYTES,
        ASHLAR_TUNER_BASIC, kStripedRange),
    ROW(stripe, "256KiB",
        "Largest piece of a message read over several rails that is asked for over one rail at a time.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_DETAIL, kChunkRange),
    ROW(coalesce_after, "8",
        "Messages to one peer between two rounds of progress that each leave at once; further ones leave together.",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_BASIC, kCountRange),
    ROW(look_interval, "10us",
        "Longest time between two looks at the sockets in a wait, four times as long where many were in vain; the "
        "looks follow each other closely after an arrival.",
        ASHLAR_PARAM_DURATION, ASHLAR_TUNER_BASIC, kLookRange),
    ROW(connect_timeout, "60s", "Time after which a peer that no address reaches is given up.", ASHLAR_PARAM_DURATION,
        ASHLAR_USER_DETAIL, kTimeoutRange),
    ROW(patience, "30s",
        "Time within which a broken connection has to be made again, while no address of the peer's host answers.",
        ASHLAR_PARAM_DURATION, ASHLAR_USER_BASIC, kTimeoutRange),
    ROW(handshake_timeout, "5s", "Time that a connection to this process has to prove that it comes from the job.",
        ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, kShakeRange),
    ROW(strangers, "64", "Connections that may be proving at one time that they come from the job; others wait.",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, kStrangerRange),
    ROW(full_exchange, "64KiB",
        "Bytes that travel both ways over a path between two hosts before the path is used; 0: none.",
        ASHLAR_PARAM_BYTES, ASHLAR_USER_DETAIL, kExchangeRange),
    ROW(user_timeout, "10s",
        "Time for which a peer's host may leave data unacknowledged before the connection counts as broken; 0: the "
        "system's.",
        ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, kSystemRange),
    ROW(keepalive, "10s",
        "Time without traffic after which a peer's host is asked whether it is there; three questions in vain break "
        "the "
        "connection. In whole seconds, 1s at least; 0: it is not asked.",
        ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, kSystemRange),
};
static_assert(sizeof(kParams) / sizeof(kParams[0]) == kParamCount);

}  // namespace ashlar::tcp
