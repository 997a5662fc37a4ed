#include "framework/p2p/events.h"

#include "framework/param/param_row.h"

namespace ashlar::p2p {
namespace {

constexpr event::Field kUnexpectedFields[] = {{.name = "context"},
                                              {.name = "source", .type = event::FieldType::kInt},
                                              {.name = "tag", .type = event::FieldType::kInt},
                                              {.name = "bytes"}};

constexpr event::Field kMatchedFields[] = {{.name = "context"},
                                           {.name = "source", .type = event::FieldType::kInt},
                                           {.name = "tag", .type = event::FieldType::kInt},
                                           {.name = "bytes"},
                                           {.name = "unexpected"},
                                           {.name = "rendezvous"}};

constexpr event::Field kBeginFields[] = {{.name = "side", .type = event::FieldType::kInt},
                                         {.name = "context"},
                                         {.name = "peer"},
                                         {.name = "tag"},
                                         {.name = "bytes"},
                                         {.name = "request"}};
constexpr const char* kSides[] = {"send", "receive", nullptr};

constexpr event::Field kEndFields[] = {{.name = "how", .type = event::FieldType::kInt},
                                       {.name = "context"},
                                       {.name = "peer"},
                                       {.name = "tag"},
                                       {.name = "bytes"},
                                       {.name = "request"},
                                       {.name = "error"}};
// Those of a receiver are in the order of `Received`.
constexpr const char* kHow[] = {"sent in place",
                                "sent in fragments",
                                "received by a single copy",
                                "received in fragments",
                                "received as its sender wrote it",
                                "received without data",
                                "not received",
                                nullptr};
constexpr std::uint64_t kInPlace = 0, kInFragments = 1, kFirstOfReceived = 2;

constexpr event::Field kThrottledFields[] = {{.name = "peer"}, {.name = "kept"}, {.name = "limit"}, {.name = "by_all"}};

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

void tell_begin(const Operation& r, MPI_Count bytes, bool sends) {
  event::raise(rendezvous_begin, nullptr,
               {sends ? 0u : 1u, r.context(), word(r.source), word(r.tag), word(bytes), r.name()});
}

void tell_end(const SendRequest& r, Status outcome) {
  event::raise(rendezvous_end, nullptr,
               {r.wanted != 0 ? kInFragments : kInPlace, r.context(), word(r.source), word(r.tag), word(r.size),
                r.name(), word(outcome.mpi_class())});
}

void tell_end(const RecvRequest& r, Received how, Status outcome) {
  event::raise(rendezvous_end, nullptr,
               {kFirstOfReceived + static_cast<std::uint64_t>(how), r.context(), word(r.source), word(r.tag),
                word(r.bytes), r.name(), word(outcome.mpi_class())});
}

constinit event::Type message_unexpected = {
    .name = "p2p.message_unexpected",
    .help =
        "A message came that no receive has asked for. Fields: number of the communicator's context, rank of the "
        "sender, tag, bytes of data that came with it.",
    .fields = kUnexpectedFields,
    .verbosity = ASHLAR_USER_DETAIL};

constinit event::Type message_matched = {
    .name = "p2p.message_matched",
    .help =
        "A receive took a message. Fields: number of the communicator's context (an odd one: its collectives), rank of "
        "the sender, tag, bytes of the message, whether it was unexpected, whether it goes by rendezvous.",
    .fields = kMatchedFields,
    .verbosity = ASHLAR_USER_DETAIL};

constinit event::Type rendezvous_begin = {
    .name = "p2p.rendezvous_begin",
    .help =
        "A message by rendezvous began: its RTS left, or a receive took its RTS. Fields: side of this process, number "
        "of the communicator's context, rank of the other process, tag, bytes, number of the request, which "
        "p2p.rendezvous_end has too.",
    .fields = kBeginFields,
    .verbosity = ASHLAR_USER_DETAIL,
    .choices = kSides};

constinit event::Type rendezvous_end = {
    .name = "p2p.rendezvous_end",
    .help =
        "A message by rendezvous is complete on this side, or failed. Fields: how the data travelled, number of the "
        "communicator's context, rank of the other process, tag, bytes, number of the request, error class (0: none).",
    .fields = kEndFields,
    .verbosity = ASHLAR_USER_DETAIL,
    .choices = kHow};

constinit event::Type link_throttled = {
    .name = "p2p.link_throttled",
    .help =
        "This process throttles a sender, whose messages go by rendezvous until it resumes. Fields: number of the "
        "process, bytes of its unexpected messages, the limit, whether that is the one for all processes "
        "(p2p.unexpected_total_limit).",
    .fields = kThrottledFields,
    .verbosity = ASHLAR_USER_DETAIL};

}  // namespace ashlar::p2p
