#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/object/comm.h"
#include "framework/object/handle.h"

namespace ashlar::mpit {

/// The object that a handle of the tools interface is bound to, if it is: looked up at each use, because the program
/// may have freed it. Contexts are given once, so a later communicator at the same place is not taken for it.
class Bound {
 public:
  Bound() = default;
  /// From the address of the program's handle. False: it is not one of a communicator that exists.
  bool bind(const void* object) {
    if (object == nullptr) return false;
    handle_ = *static_cast<const MPI_Comm*>(object);
    const Comm* const comm = ashlar::resolve(handle_);
    if (comm == nullptr) return false;
    context_ = comm->context;
    return true;
  }
  /// The communicator, or nullptr: it is gone.
  Comm* comm() const {
    Comm* const found = ashlar::resolve(handle_);
    return found != nullptr && found->context == context_ ? found : nullptr;
  }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
  std::uint32_t context_ = 0;
};

}  // namespace ashlar::mpit
