#include "framework/coll/events.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "framework/param/param_row.h"

namespace ashlar::coll {
namespace {

// First the collectives, in the order of `Collective`; then the names of the algorithms of this tree in alphabetical
// order, the one for those of other components last.
constexpr const char* kWords[] = {
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "binary",
    "binomial",
    "bruck",
    "chain",
    "direct",
    "dissemination",
    "double_tree",
    "doubling",
    "hier",
    "inter",
    "knomial",
    "linear",
    "neighbour_exchange",
    "ordered",
    "pairwise",
    "rabenseifner",
    "recursive_doubling",
    "recursive_halving",
    "ring",
    "scatter_allgather",
    "shm",
    "shm_large",
    "sparbit",
    "another",
    nullptr,
};
constexpr unsigned kAnother = sizeof kWords / sizeof kWords[0] - 2;
static_assert(std::is_sorted(kWords + kCollectives, kWords + kAnother,
                             [](std::string_view a, std::string_view b) { return a < b; }));

constexpr event::Field kBeginFields[] = {{.name = "collective", .type = event::FieldType::kInt},
                                         {.name = "algorithm", .type = event::FieldType::kInt},
                                         {.name = "context"},
                                         {.name = "number"},
                                         {.name = "bytes"},
                                         {.name = "root"},
                                         {.name = "form"},
                                         {.name = "chosen_by"}};
constexpr event::Field kEndFields[] = {{.name = "collective", .type = event::FieldType::kInt},
                                       {.name = "algorithm", .type = event::FieldType::kInt},
                                       {.name = "context"},
                                       {.name = "number"},
                                       {.name = "error"}};

constexpr std::uint64_t kNoRule = 5;  // behind the values of Rule::Source

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

unsigned algorithm_word(const char* name) {
  const char* const* const end = kWords + kAnother;
  const char* const* const found = std::lower_bound(kWords + kCollectives, end, name,
                                                    [](const char* a, const char* b) { return std::strcmp(a, b) < 0; });
  return found != end && std::strcmp(*found, name) == 0 ? static_cast<unsigned>(found - kWords) : kAnother;
}

void tell_begin(const Comm& comm, Tag sequence, const Call& call, CallForm form, const Choice& choice) {
  event::raise(collective_begin, nullptr,
               {word(static_cast<int>(call.what)), algorithm_word(choice.entry->algorithm->name), comm.context,
                word(sequence), word(call.bytes), word(call.root), word(static_cast<int>(form)),
                choice.rule != nullptr ? word(static_cast<int>(choice.rule->source)) : kNoRule});
}

void tell_end(const Comm& comm, Tag sequence, const Choice& choice, Status outcome) {
  const Algorithm& algorithm = *choice.entry->algorithm;
  event::raise(collective_end, nullptr,
               {word(static_cast<int>(algorithm.collective)), algorithm_word(algorithm.name), comm.context,
                word(sequence), word(outcome.mpi_class())});
}

constinit event::Type collective_begin = {
    .name = "coll.begin",
    .help =
        "A collective began on this process. Fields: collective, algorithm, number of the communicator's context, "
        "number of the collective there, bytes as rules count them, root (0 where there is none), form (0 blocking, 1 "
        "nonblocking, 2 persistent), who chose the algorithm (0 the built-in rules, 1 a component, 2 the tuning file, "
        "3 "
        "a parameter, 4 the communicator, 5 none: no rule applies).",
    .fields = kBeginFields,
    .verbosity = ASHLAR_USER_DETAIL,
    .choices = kWords};

constinit event::Type collective_end = {
    .name = "coll.end",
    .help =
        "A collective ended on this process. Fields: collective, algorithm that was chosen, number of the "
        "communicator's context, number of the collective there, error class (0: none).",
    .fields = kEndFields,
    .verbosity = ASHLAR_USER_DETAIL,
    .choices = kWords};

}  // namespace ashlar::coll
