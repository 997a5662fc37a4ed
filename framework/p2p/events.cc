#include "framework/p2p/events.h"

#include "framework/param/param_row.h"

namespace ashlar::p2p {
namespace {

constexpr event::Field kUnexpectedFields[] = {{.name = "context"},
                                              {.name = "source", .type = event::FieldType::kInt},
                                              {.name = "tag", .type = event::FieldType::kInt},
                                              {.name = "bytes"}};

}  // namespace

constinit event::Type message_unexpected = {
    .name = "p2p.message_unexpected",
    .help =
        "A message came that no receive has asked for. Fields: number of the communicator's context, rank of the "
        "sender, tag, bytes of data that came with it.",
    .fields = kUnexpectedFields,
    .verbosity = ASHLAR_USER_DETAIL};

}  // namespace ashlar::p2p
