#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/io/carried.h"
#include "framework/io/transfer.h"
#include "framework/io/worker.h"
#include "framework/progress/request.h"

namespace ashlar::io {

class OpenFile;

struct IoRequest;

/// The transfer of a request, should a thread of the library make it.
struct TransferJob final : Job {
  explicit TransferJob(IoRequest& of) : request(of) {}
  void run() override;
  void over() override;
  IoRequest& request;
};

/// The request of a nonblocking access of one process. That of a short one is complete when the call returns.
struct IoRequest final : Request {
  IoRequest(const RequestOps& operations, const char* name, const Transfer& transfer)
      : Request(operations, *transfer.file.comm),
        call(name),
        owner(Ref<Comm>::share(*transfer.file.comm)),
        type(Ref<Datatype>::share(*transfer.buffer.type)),
        what(transfer),
        counted(transfer.file.requests) {}

  const char* const call;
  Ref<Comm> owner;     // keeps the lane; the file may be closed before the program completes the request
  Ref<Datatype> type;  // the program may free it
  Transfer what;
  CountedRequest counted;
  MPI_Count moved = 0;
  Carried failure;
  TransferJob job{*this};
};

/// Starts the access, which has been checked; *out is the caller's.
Status start_transfer(const char* call, const Transfer& what, Request** out);

/// Until no access of this process moves data any more: before a view changes, and before a file is closed.
void wait_for_pending(OpenFile& file);

}  // namespace ashlar::io
