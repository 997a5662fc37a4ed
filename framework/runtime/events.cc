#include "framework/runtime/events.h"

#include <cstring>

#include "framework/param/param_row.h"

namespace ashlar::runtime {
namespace {

// The transports of this tree; a component from elsewhere is "another".
constexpr const char* kTransports[] = {"another", "self", "shm", "tcp", "ofi", "ucx", nullptr};

constexpr event::Field kChosenFields[] = {{.name = "transport", .type = event::FieldType::kInt},
                                          {.name = "peer"},
                                          {.name = "lane"},
                                          {.name = "single_copy"},
                                          {.name = "passed_over"}};
constexpr const char* kStalled[] = {"message", "collective", nullptr};
constexpr event::Field kStallFields[] = {{.name = "what", .type = event::FieldType::kInt},
                                         {.name = "quiet_ns"},
                                         {.name = "peer"},
                                         {.name = "context"},
                                         {.name = "number"}};
constexpr event::Field kQueryFields[] = {{.name = "waits"}, {.name = "bytes"}};

}  // namespace

unsigned transport_word(const char* component) {
  for (unsigned i = 1; kTransports[i] != nullptr; ++i)
    if (std::strcmp(kTransports[i], component) == 0) return i;
  return 0;
}

constinit event::Type transport_chosen = {
    .name = "transport.chosen",
    .help =
        "A peer was connected, by the first transport that reached it. Fields: the transport, number of the peer's "
        "process, number of the lane, whether memory of the peer can be read, how many transports were tried before.",
    .fields = kChosenFields,
    .verbosity = ASHLAR_USER_DETAIL,
    .choices = kTransports};

constinit event::Type query_answered = {
    .name = "runtime.query_answered",
    .help =
        "This process told the launcher what it is doing, because a report of the job was asked for: by a timeout, by "
        "ashlar_info waits, or because the job makes no progress. Fields: whether calls of this process wait, bytes of "
        "the answer.",
    .fields = kQueryFields,
    .verbosity = ASHLAR_USER_BASIC};

constinit event::Type stall_seen = {
    .name = "runtime.stall_seen",
    .help =
        "A call of this process has waited for watch.stall, and nothing has happened in it: once for each such wait. "
        "Fields: what the call waits for, nanoseconds since something happened in it, number of the process that it "
        "waits for (4294967295: any, 4294967294: none in particular, as for a collective), of a collective the number "
        "of its communicator's context, and its number there.",
    .fields = kStallFields,
    .verbosity = ASHLAR_USER_BASIC,
    .choices = kStalled};

}  // namespace ashlar::runtime
