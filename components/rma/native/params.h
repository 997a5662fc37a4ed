#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::rma::native {

/// Parameters rma.native.*; the rows describe this block.
struct Config {
  std::int32_t peers;  // Peers
  bool atomics;
  std::uint64_t atomic_elements;
  std::uint64_t queue_limit;
};

enum Peers : std::int32_t { kOtherNodes = 0, kAllPeers };

inline constexpr const char* kPeerWords[] = {"other_nodes", "all", nullptr};
inline constexpr const char* kElementRange[] = {"1", "1000000", nullptr};
inline constexpr const char* kQueueRange[] = {"1", "1000000000", nullptr};

inline constexpr ashlar_param kParams[] = {
    {.name = "peers",
     .fallback = "other_nodes",
     .help = "The processes whose window memory is registered with transports, so that these read and write it: those "
             "of other nodes, or all. Memory of the same node is otherwise mapped, or copied by the system.",
     .type = ASHLAR_PARAM_ENUM,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_USER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, peers)),
     .choices = kPeerWords},
    {.name = "atomics",
     .fallback = "true",
     .help = "Use a transport's atomic operations for updates of single elements, where it says that they are atomic "
             "beside those of processors. Otherwise the target makes all updates itself.",
     .type = ASHLAR_PARAM_BOOL,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_USER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, atomics)),
     .choices = nullptr},
    {.name = "atomic_elements",
     .fallback = "4",
     .help = "Elements of an accumulate up to which each is updated by an atomic operation of the transport; the "
             "target updates more of them by itself.",
     .type = ASHLAR_PARAM_U64,
     .scope = ASHLAR_SCOPE_LOCAL,
     .verbosity = ASHLAR_TUNER_BASIC,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, atomic_elements)),
     .choices = kElementRange},
    {.name = "queue_limit",
     .fallback = "4096",
     .help = "One-sided operations that one window of a process has under way in a transport. A call that starts one "
             "more makes progress until another one is over.",
     .type = ASHLAR_PARAM_U64,
     .scope = ASHLAR_SCOPE_LOCAL,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, queue_limit)),
     .choices = kQueueRange},
};

}  // namespace ashlar::rma::native
