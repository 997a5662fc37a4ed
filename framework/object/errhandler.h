#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/status.h"
#include "framework/object/object.h"

namespace ashlar {

class Comm;

/// What happens when a call on an object fails.
class Errhandler : public Object {
 public:
  enum class Action : std::uint8_t { kAbortAll, kAbortObject, kReturn, kCall };
  using Function = void (*)();  // cast to the function type of `of`

  Errhandler(Action a, Kind of_kind, Function f) : Object(Kind::kErrhandler), action(a), of(of_kind), function(f) {}

  const Action action;
  const Kind of;  // of a user function: the class of object it takes; predefined ones serve every class
  const Function function;
};

void destroy(Errhandler* handler);

/// The three predefined handlers. Valid at any time.
Errhandler& errors_are_fatal();
Errhandler& errors_abort();
Errhandler& errors_return();

/// Turns a failed `status` of call `call` into an error code and takes it through the error handler of the object:
/// `object` is a Comm*, Win*, File* or Session* according to `kind`; nullptr: no object, so MPI_COMM_SELF's handler, or
/// the initial one outside init..finalize. Returns the code when the handler returns.
[[gnu::cold]] int raise(Status status, const char* call, Comm* comm) noexcept;
[[gnu::cold]] int raise(Status status, const char* call, Kind kind = Kind::kComm, void* object = nullptr) noexcept;

}  // namespace ashlar
