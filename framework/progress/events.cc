#include "framework/progress/events.h"

#include "framework/param/param_row.h"

namespace ashlar::progress {
namespace {

constexpr event::Field kFailedFields[] = {{.name = "peer"}, {.name = "lane"}};

}  // namespace

constinit event::Type peer_failed = {.name = "progress.peer_failed",
                                     .help =
                                         "A lane noticed that a process has ended: what waits for it fails. Fields: "
                                         "number of the process, number of the "
                                         "lane; every lane notices.",
                                     .fields = kFailedFields,
                                     .verbosity = ASHLAR_USER_BASIC};

}  // namespace ashlar::progress
