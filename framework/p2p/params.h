#pragma once
#include <cstddef>

#include "framework/p2p/config.h"

namespace ashlar::p2p {

inline constexpr const char* kAnyMessage[] = {"0", "1TiB", nullptr};
inline constexpr const char* kEagerRange[] = {"0", "1GiB", nullptr};
inline constexpr const char* kRequestRange[] = {"1", "268435456", nullptr};  // as many as have a name on the wire
inline constexpr const char* kPatienceRange[] = {"0", "1h", nullptr};

inline constexpr const char* kMatchingWords[] = {"auto", "kernel", "native", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"eager_limit", "0", "Largest message sent by the eager protocol; 0: the break-even of the transport's cost model.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, offsetof(Config, eager_limit), kEagerRange},
    {"unexpected_limit", "4MiB",
     "Bytes of messages from one process kept for later receives; beyond, it sends messages of any size by rendezvous.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, offsetof(Config, unexpected_limit), kAnyMessage},
    {"unexpected_total_limit", "256MiB", "The same for all processes together: beyond, further senders use rendezvous.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, offsetof(Config, unexpected_total_limit),
     kAnyMessage},
    {"get_min", "0",
     "Smallest message, of those sent by rendezvous, that the receiver may read from the sender's memory.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, get_min), kAnyMessage},
    {"single_copy", "true", "Let receivers read large messages from the sender's memory where the transport can.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, single_copy),
     nullptr},
    {"shared_posts", "true",
     "Post large nonblocking receives in shared memory, so that their senders write the message there while the "
     "receiver computes.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, shared_posts),
     nullptr},
    {"shared_post_min", "256KiB",
     "Smallest receive posted in shared memory, and smallest message written so; 0: from the size of single copies "
     "(get_min).",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, shared_post_min),
     kAnyMessage},
    {"shared_post_patience", "1ms",
     "Time that a sender gives the receiver to answer any of its requests to send (RTS) before it looks for the "
     "receive in shared memory: longer than a receiver that is inside MPI is busy with one message.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, shared_post_patience),
     kPatienceRange},
    {"request_limit", "16777216",
     "Requests of sends, and as many of each other kind (receives, partitioned sends, partitioned receives, pairs, "
     "generalized requests), that a lane may have at a time, inactive persistent ones included; beyond, calls fail "
     "with MPI_ERR_NO_MEM.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, 0, offsetof(Config, request_limit), kRequestRange},
    {"matching", "auto",
     "Who matches messages with receives: kernel: this library; native: the network, between ranks whose transport "
     "matches tags; auto: the network where its cards or libraries do it at a lower cost.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, matching),
     kMatchingWords},
};

inline constexpr ashlar_param kCheckParams[] = {
    {"datatypes", "false",
     "Compare the type signatures of sender and receiver of each message, and of what collectives move or combine. A "
     "difference is an error of the receive, or of the collective on every rank, whose message names both.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, check_datatypes),
     nullptr},
    {"ready", "false", "Let MPI_Rsend fail when the receiver has not posted a matching receive (costs an answer).",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, check_ready),
     nullptr},
};

}  // namespace ashlar::p2p
