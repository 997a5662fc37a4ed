#include "components/transport/shm/config.h"

namespace ashlar::shm {
namespace {

const char* const kYamaWords[] = {"never", "job", "any", nullptr};

// The ends are those of the mechanisms (interface.cc): rings are powers of two, single copies go by pages.
const char* const kRingRange[] = {"8KiB", "64MiB", nullptr};
const char* const kBudgetRange[] = {"64KiB", "1TiB", nullptr};
const char* const kRingCount[] = {"0", "4096", nullptr};
const char* const kPieceRange[] = {"256", "16MiB", nullptr};
const char* const kMessageRange[] = {"0", "1TiB", nullptr};
// What endpoints carry in 32 bits.
const char* const kFetchRange[] = {"0", "4095MiB", nullptr};
const char* const kCopyRange[] = {"4KiB", "1TiB", nullptr};
const char* const kCheckRange[] = {"1ms", "1h", nullptr};
const char* const kClientRange[] = {"1", "4096", nullptr};
const char* const kTimeoutRange[] = {"10ms", "24h", nullptr};

}  // namespace

#define ROW(name, fallback, help, type, verbosity, choices)                          \
  {                                                                                  \
#name, fallback, help, type, ASHLAR_SCOPE_LOCAL, verbosity, ASHLAR_PARAM_FROZEN, \
        static_cast < std::uint32_t>(offsetof(Config, name)), choices                \
  }

extern const ashlar_param kParams[] = {
    ROW(ring_bytes, "128KiB", "Largest size of the ring that one process has for messages of one other process.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kRingRange),
    ROW(node_budget, "256MiB",
        "Bound of the memory of all rings of the job on one node; rings shrink (to 8KiB at least) to keep it.",
        ASHLAR_PARAM_BYTES, ASHLAR_USER_DETAIL, kBudgetRange),
    ROW(extra_rings, "128", "Rings kept for processes that are not known at start (spawned or connected later).",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, kRingCount),
    ROW(max_bcopy, "8KiB", "Largest piece of a message in a ring; at most a quarter of the ring is used.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kPieceRange),
    ROW(polled_rings, "16", "Rings polled in every progress call; others are polled when their sender rings a bell.",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, kRingCount),
    ROW(single_copy, "true", "Copy large messages once, from process to process, where the system permits it.",
        ASHLAR_PARAM_BOOL, ASHLAR_USER_BASIC, nullptr),
    ROW(get_from, "64KiB", "Size from which a single copy is recommended; smaller messages go through rings in pieces.",
        ASHLAR_PARAM_BYTES, ASHLAR_TUNER_BASIC, kFetchRange),
    ROW(both_sides_from, "32KiB", "Size from which sender and receiver copy one message together.", ASHLAR_PARAM_BYTES,
        ASHLAR_TUNER_BASIC, kMessageRange),
    ROW(copy_chunk, "512KiB", "Largest piece that one side takes when both copy.", ASHLAR_PARAM_BYTES,
        ASHLAR_TUNER_BASIC, kCopyRange),
    ROW(copy_slice, "512KiB", "Bytes copied at most before other messages are polled again.", ASHLAR_PARAM_BYTES,
        ASHLAR_TUNER_DETAIL, kCopyRange),
    ROW(yama, "job",
        "Under the kernel's ptrace_scope 1, which processes may copy from this one: never (none is added), job "
        "(processes started by the same parent), any.",
        ASHLAR_PARAM_ENUM, ASHLAR_USER_DETAIL, kYamaWords),
    ROW(descriptor_passing, "true",
        "Answer on an abstract socket, so that peers reach this process's memory where /proc/PID/fd is closed to them.",
        ASHLAR_PARAM_BOOL, ASHLAR_USER_DETAIL, nullptr),
    ROW(death_check, "50ms", "Time between checks whether peers are alive.", ASHLAR_PARAM_DURATION, ASHLAR_TUNER_DETAIL,
        kCheckRange),
    ROW(connect_timeout, "60s", "Time a peer has for passing its descriptor before it is given up.",
        ASHLAR_PARAM_DURATION, ASHLAR_USER_DETAIL, kTimeoutRange),
    ROW(descriptor_clients, "64", "Peers that are being passed the descriptor at one time; others wait for their turn.",
        ASHLAR_PARAM_U64, ASHLAR_TUNER_DETAIL, kClientRange),
};
static_assert(sizeof(kParams) / sizeof(kParams[0]) == kParamCount);

}  // namespace ashlar::shm
