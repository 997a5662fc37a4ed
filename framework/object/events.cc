#include "framework/object/events.h"

#include <span>

#include "framework/object/comm.h"
#include "framework/param/param_row.h"

namespace ashlar {
namespace {

// In the order of Errhandler::Action.
constexpr const char* kActions[] = {"ends the job", "ends the processes of the object", "returns the error code",
                                    "calls the program's function", nullptr};

constexpr event::Field kFields[] = {
    {.name = "action", .type = event::FieldType::kInt}, {.name = "error"}, {.name = "kind"}, {.name = "context"}};

constexpr std::uint64_t kNothing = 0, kOnComm = 1, kOnSession = 2, kOnWindow = 3, kOnFile = 4;

std::uint64_t kind_word(const Object* on) {
  if (on == nullptr) return kNothing;
  switch (on->kind) {
    case Kind::kComm:
      return kOnComm;
    case Kind::kSession:
      return kOnSession;
    case Kind::kWin:
      return kOnWindow;
    case Kind::kFile:
      return kOnFile;
    default:
      return kNothing;
  }
}

template <auto counter>
void read(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = (static_cast<const ErrorCounters*>(block)->*counter).load(std::memory_order_relaxed);
}

constexpr ashlar_pvar_row kRows[] = {
    plugin::computed_pvar("errors", "failures that an error handler got", ASHLAR_PVAR_COUNTER,
                          read<&ErrorCounters::raised>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("errors_returned", "of these, those whose code was returned (MPI_ERRORS_RETURN)",
                          ASHLAR_PVAR_COUNTER, read<&ErrorCounters::returned>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("errors_called", "of these, those for which a function of the program was called",
                          ASHLAR_PVAR_COUNTER, read<&ErrorCounters::called>, ASHLAR_USER_BASIC),
};

}  // namespace

constinit ErrorCounters error_counters;
const std::span<const ashlar_pvar_row> error_rows = kRows;

void tell_handler_called(const Errhandler& handler, int mpi_class, const Object* on) {
  error_counters.raised.fetch_add(1, std::memory_order_relaxed);
  if (handler.action == Errhandler::Action::kReturn) error_counters.returned.fetch_add(1, std::memory_order_relaxed);
  if (handler.action == Errhandler::Action::kCall) error_counters.called.fetch_add(1, std::memory_order_relaxed);
  if (!event::heard(handler_called)) return;
  const bool on_comm = on != nullptr && on->kind == Kind::kComm;
  event::raise(handler_called, nullptr,
               {static_cast<std::uint64_t>(handler.action), static_cast<std::uint64_t>(mpi_class), kind_word(on),
                on_comm ? static_cast<const Comm*>(on)->context : 0});
  event::deliver();
}

constinit event::Type handler_called = {.name = "object.handler_called",
                                        .help =
                                            "A call failed, and its error handler gets the failure: this is raised "
                                            "before the handler acts. Fields: what the "
                                            "handler does, error class, kind of the object (0 none, 1 communicator, 2 "
                                            "session, 3 window, 4 file), number of "
                                            "the communicator's context (0 too when there is none).",
                                        .fields = kFields,
                                        .verbosity = ASHLAR_USER_BASIC,
                                        .choices = kActions};

}  // namespace ashlar
