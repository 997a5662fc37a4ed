#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/progress/request.h"

namespace ashlar::io {

class OpenFile;

/// The request of a nonblocking access. It is complete when the call returns, because the call moves the data.
struct IoRequest : Request {
  IoRequest(const RequestOps& operations, Comm& of) : Request(operations, of), owner(Ref<Comm>::share(of)) {}
  Ref<Comm> owner;  // keeps the lane; the file may be closed before the program completes the request
};

/// Gives out a request that has moved `bytes` bytes.
Status give_out(OpenFile& file, MPI_Count bytes, Request** out);

}  // namespace ashlar::io
