#pragma once
#include <mpi.h>

#include <new>

namespace ashlar::mpit {

/// What a call of MPI_T answers: that of `call`, or MPI_T_ERR_MEMORY when there is no memory for what it makes. The
/// lists are as they were then, so that the call may be repeated.
template <class Call>
int or_no_memory(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return MPI_T_ERR_MEMORY;
  }
}

}  // namespace ashlar::mpit
