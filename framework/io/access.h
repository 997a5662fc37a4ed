#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/datatype/data_view.h"
#include "framework/io/file.h"

namespace ashlar {
class Request;
}
namespace ashlar::io {

/// Where an access begins.
enum class Where : unsigned char {
  kAt,      // at an offset that the call names
  kOwn,     // at the process's file pointer
  kShared,  // at the shared file pointer
  kOrdered  // the same, in the order of the ranks
};

/// A call that reads or writes.
struct Access {
  const char* call;
  OpenFile& file;
  bool writes;
  Where where;
  bool together;  // collective: a failure of one process is a failure of all
  MPI_Offset at;  // kAt
  DataView buffer;
};

/// Does it, and says in `status` how much was moved.
Status perform(const Access& access, MPI_Status* status);
/// The nonblocking form: the pointer moves by what was asked for.
Status start(const Access& access, Request** request);
/// The two halves of a split collective. The first one moves the data.
Status begin(const Access& access);
Status end(OpenFile& file, const char* begun, const void* buffer, MPI_Status* status);

}  // namespace ashlar::io
