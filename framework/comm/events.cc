#include "framework/comm/events.h"

#include <cstring>

#include "framework/comm/context.h"
#include "framework/comm/context_ids.h"
#include "framework/comm/pvars.h"
#include "framework/param/param_row.h"
#include "framework/progress/context_lane.h"

namespace ashlar::comm {
namespace {

constexpr event::Field kMadeFields[] = {
    {.name = "context"}, {.name = "rank"}, {.name = "size"}, {.name = "remote_size"}};
constexpr event::Field kFreedFields[] = {{.name = "context"}, {.name = "size"}, {.name = "collectives"}};
constexpr event::Field kNamedFields[] = {{.name = "context"}, {.name = "length"}};

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

bool is_given(std::uint32_t context) { return context > ContextIds::kEveryone && (context & kOwnGroupContext) == 0; }

// Delivered here unless the caller holds a lock of ours: the call may take none afterwards.
void tell_made(const Comm& comm) {
  if (!event::heard(comm_made)) return;
  event::raise(comm_made, nullptr,
               {comm.context, word(comm.rank), word(comm.size), comm.inter ? word(comm.remote_size) : 0});
  event::deliver();
}

void tell_freed(const Comm& comm) {
  counters.freed.fetch_add(1, std::memory_order_relaxed);
  if (event::heard(comm_freed) && is_given(comm.context))
    event::raise(comm_freed, nullptr, {comm.context, word(comm.size), comm.collective_sequence});
}

void tell_named(const Comm& comm) {
  counters.named.fetch_add(1, std::memory_order_relaxed);
  if (!event::heard(comm_named)) return;
  event::raise(comm_named, nullptr, {comm.context, std::strlen(comm.name.given())});
  event::deliver();
}

constinit event::Type comm_made = {.name = "comm.made",
                                   .help =
                                       "The program made a communicator, of which its process is a member. Fields: "
                                       "number of its context, rank of this "
                                       "process, size of the group, size of the remote group (0: none).",
                                   .fields = kMadeFields,
                                   .verbosity = ASHLAR_USER_DETAIL};

constinit event::Type comm_freed = {.name = "comm.freed",
                                    .help =
                                        "A communicator is gone: the program freed it, and nothing uses it any more. "
                                        "Fields: number of its context, size "
                                        "of the group, how many collectives it had.",
                                    .fields = kFreedFields,
                                    .verbosity = ASHLAR_USER_DETAIL};

constinit event::Type comm_named = {
    .name = "comm.named",
    .help =
        "MPI_Comm_set_name gave a communicator a name, which MPI_Comm_get_name has. Fields: number of its context "
        "(MPI_COMM_WORLD: 0, MPI_COMM_SELF: 2), length of the name.",
    .fields = kNamedFields,
    .verbosity = ASHLAR_USER_DETAIL};

}  // namespace ashlar::comm
