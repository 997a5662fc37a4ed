#pragma once
#include <cstddef>
#include <cstdint>

#include "components/transport/common/config.h"

// The rows of parameters that every transport over a network library has.
namespace ashlar::network {

inline constexpr const char* kFrameRange[] = {"4KiB", "16MiB", nullptr};
inline constexpr const char* kBufferRange[] = {"4KiB", "1GiB", nullptr};
inline constexpr const char* kDepthRange[] = {"4", "65536", nullptr};
inline constexpr const char* kTagReceivesRange[] = {"1", "1048576", nullptr};
// What endpoints carry in 32 bits.
inline constexpr const char* kFetchRange[] = {"0", "4095MiB", nullptr};
inline constexpr const char* kRegisteredRange[] = {"0", "1024TiB", nullptr};
inline constexpr const char* kCountRange[] = {"0", "1000000", nullptr};
inline constexpr const char* kLookRange[] = {"0", "1ms", nullptr};
inline constexpr const char* kTimeoutRange[] = {"100ms", "24h", nullptr};
inline constexpr const char* kIntervalRange[] = {"0", "1h", nullptr};

inline constexpr const char* kRailRange[] = {"0", "4", nullptr};
inline constexpr const char* kStripedRange[] = {"4KiB", "1TiB", nullptr};
inline constexpr const char* kStripeRange[] = {"4KiB", "64MiB", nullptr};

inline constexpr std::uint32_t kParamCount = 11;
inline constexpr std::uint32_t kRailParamCount = 3;

}  // namespace ashlar::network

/// A row of the parameter `name` at `member` of the component's Config.
#define ASHLAR_NETWORK_ROW(name, member, fallback, help, type, verbosity, choices)  \
  {                                                                                 \
    name, fallback, help, type, ASHLAR_SCOPE_LOCAL, verbosity, ASHLAR_PARAM_FROZEN, \
        static_cast<std::uint32_t>(offsetof(Config, member)), choices               \
  }

/// kParamCount rows, for a Config whose member `sessions` is a network::Config. `library`: its name; `frame`, `buffer`,
/// `from`: the defaults of frame_bytes, send_buffer and get_from; `frame_note`: what its help says besides; all
/// literals.
#define ASHLAR_NETWORK_ROWS(library, frame, frame_note, frame_range, buffer, from)                                     \
  ASHLAR_NETWORK_ROW("frame_bytes", sessions.frame_bytes, frame,                                                       \
                     "Largest piece of a message that is copied into a buffer, with 32 bytes in front of it; receive " \
                     "buffers have this size." frame_note,                                                             \
                     ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, frame_range),                                             \
      ASHLAR_NETWORK_ROW("send_buffer", sessions.send_buffer, buffer,                                                  \
                         "Bytes to one peer that may wait here, or be under way.", ASHLAR_PARAM_BYTES,                 \
                         ASHLAR_TUNER_BASIC, network::kBufferRange),                                                   \
      ASHLAR_NETWORK_ROW("sends", sessions.sends, "256",                                                               \
                         "Sends and reads of a lane that " library " may have at one time; others wait.",              \
                         ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, network::kDepthRange),                                 \
      ASHLAR_NETWORK_ROW(                                                                                              \
          "get_from", sessions.get_from, from,                                                                         \
          "Smallest message, of those sent by rendezvous, that the receiver reads from the sender's memory into "      \
          "its own, without further copies.",                                                                          \
          ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, network::kFetchRange),                                               \
      ASHLAR_NETWORK_ROW("registered_bytes", sessions.registered_bytes, "1GiB",                                        \
                         "Memory of MPI_Alloc_mem and of windows that stays registered with " library                  \
                         " for later messages, of each lane. 0: memory is registered for each message.",               \
                         ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, network::kRegisteredRange),                           \
      ASHLAR_NETWORK_ROW("registered_regions", sessions.registered_regions, "1024",                                    \
                         "Regions that the memory of registered_bytes may consist of.", ASHLAR_PARAM_U64,              \
                         ASHLAR_TUNER_DETAIL, network::kCountRange),                                                   \
      ASHLAR_NETWORK_ROW("memory_hooks", sessions.memory_hooks, "false",                                               \
                         "Whether " library                                                                            \
                         " may patch mmap() and its kin in this process. It then learns of memory "                    \
                         "that the program frees, and keeps registrations of the program's memory with network cards " \
                         "for later messages. false: that memory is registered for each message.",                     \
                         ASHLAR_PARAM_BOOL, ASHLAR_USER_DETAIL, nullptr),                                              \
      ASHLAR_NETWORK_ROW("coalesce_after", sessions.coalesce_after, "8",                                               \
                         "Short messages to one peer between two rounds of progress that each leave at once; further " \
                         "ones leave together.",                                                                       \
                         ASHLAR_PARAM_U64, ASHLAR_TUNER_BASIC, network::kCountRange),                                  \
      ASHLAR_NETWORK_ROW("look_interval", sessions.look_interval, "10us",                                              \
                         "Longest time between two looks at what " library                                             \
                         " has, in a wait, four times as long where many were in vain; the looks follow each other "   \
                         "closely after an arrival.",                                                                  \
                         ASHLAR_PARAM_DURATION, ASHLAR_TUNER_BASIC, network::kLookRange),                              \
      ASHLAR_NETWORK_ROW(                                                                                              \
          "handshake_timeout", sessions.handshake_timeout, "60s",                                                      \
          "Time after which a peer is given up whose host does not answer, and a device through which a "              \
          "process cannot reach itself.",                                                                              \
          ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, network::kTimeoutRange),                                          \
      ASHLAR_NETWORK_ROW(                                                                                              \
          "liveness_interval", sessions.liveness_interval, "2s",                                                       \
          "Time between two questions to a peer's host whether the process is there, by a connection to "              \
          "a port of it. 0: only a process that does not answer a first message is asked for.",                        \
          ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, network::kIntervalRange)

/// kRailParamCount further rows, of a library whose fabrics have rails.
#define ASHLAR_NETWORK_RAIL_ROWS(library)                                                                       \
  ASHLAR_NETWORK_ROW(                                                                                           \
      "rails", sessions.rails, "0",                                                                             \
      "Devices over which a process reads large messages, the first one included. 0: with cards, those of the " \
      "node divided by its processes, but at least one; over sockets, all interfaces, at most 4. 1: the first " \
      "alone. Each has registered_bytes of its own.",                                                           \
      ASHLAR_PARAM_U64, ASHLAR_USER_BASIC, network::kRailRange),                                                \
      ASHLAR_NETWORK_ROW("stripe_from", sessions.stripe_from, "512KiB",                                         \
                         "Size from which a message is read over all rails to its sender.", ASHLAR_PARAM_BYTES, \
                         ASHLAR_TUNER_BASIC, network::kStripedRange),                                           \
      ASHLAR_NETWORK_ROW("stripe", sessions.stripe, "256KiB",                                                   \
                         "Largest piece of a message read over several rails that " library                     \
                         " is asked for over one rail at a time.",                                              \
                         ASHLAR_PARAM_BYTES, ASHLAR_TUNER_DETAIL, network::kStripeRange)
