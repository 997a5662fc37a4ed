#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/status.h"
#include "framework/object/object.h"
#include "framework/plugin/report.h"

namespace ashlar {

class Comm;

/// What happens when a call on an object fails.
class Errhandler : public Object {
 public:
  enum class Action : std::uint8_t { kAbortAll, kAbortObject, kReturn, kCall };
  using Function = void (*)();  // cast to the function type of `of`

  constexpr Errhandler(Action a, Kind of_kind, Function f)
      : Object(Kind::kErrhandler), action(a), of(of_kind), function(f) {}

  const Action action;
  const Kind of;  // of a user function: the class of object it takes; predefined ones serve every class
  const Function function;
};

void destroy(Errhandler* handler);

/// The three predefined handlers. Valid at any time.
Errhandler& errors_are_fatal();
Errhandler& errors_abort();
Errhandler& errors_return();

/// An object that errors are raised on, as raise() and the texts need it.
struct ErrorSubject {
  Ref<Errhandler>* handler = nullptr;
  const char* what = "";    // "communicator"
  const char* name = "";    // nullptr: nothing that a sentence could name (the files that are not open)
  int rank = -1, size = 0;  // in its group; -1: it has none
  Comm* comm = nullptr;     // whose processes end with MPI_ERRORS_ABORT; nullptr: only this one
  bool world = false;       // MPI_COMM_WORLD or _SELF: its rank is known from the process
};
/// False: `object` is of a kind that errors cannot be raised on.
bool subject_of(Object& object, ErrorSubject* subject);

/// Turns a failed `status` of call `call` into an error code and takes it through the error handler of `on`: a
/// communicator, session, window or file, or the error handler itself that a constructor was given for what it makes.
/// Without an object the handler is that of ErrorHooks::without_object (the initial one outside init..finalize).
/// Returns when the handler does.
[[gnu::cold]] int raise(Status status, const char* call, Object* on = nullptr) noexcept;

/// Ends the job for a failure after which nothing in this process can be relied upon, whatever the error handlers.
[[noreturn]] void end_job(Status status, const char* call) noexcept;

/// Names the communicator to which the failure that this thread is about to return belongs: completion calls know it,
/// their entry points do not. The next raise() of this thread that is given no communicator uses it; any raise()
/// forgets it.
[[gnu::cold]] void blame(Comm& comm) noexcept;

/// What the rooms further right put in place of a communicator's missing pieces.
struct ErrorHooks {
  /// The communicator that errors of calls without an object are raised on; nullptr outside init..finalize.
  Object* (*without_object)() = nullptr;
  /// Drops one reference.
  void (*release_comm)(Comm* comm) = nullptr;
  /// Gives a failure that ends the process to the report components; false when this process has none.
  bool (*report)(const ashlar_error_record& record) = nullptr;
  /// Ends the processes of `comm` (all connected ones when null) with `text` as the reason. Does not return.
  void (*abort)(Comm* comm, int code, const char* text) = nullptr;
  /// Set in the child of a fork, which no message can reach or leave: the failures that follow from that are reported
  /// as process.forked.
  bool forked = false;
  /// Handler in force when no object is at hand and MPI is not initialised; MPI_ERRORS_ABORT's twin by default.
  Errhandler* initial = nullptr;
};
extern ErrorHooks error_hooks;

}  // namespace ashlar
