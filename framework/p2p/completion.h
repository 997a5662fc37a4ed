#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Datatype;
class Request;
struct Lane;
}  // namespace ashlar

/// Completion of requests of every room (MPI-5.0, 3.7.3 to 3.7.5, 3.8.4, 3.9): the request may be a collective's as
/// well. A `Request**` points to the resolved object, nullptr for MPI_REQUEST_NULL; it is nullptr afterwards when the
/// handle is gone. Arrays are the caller's handles, already checked; completed ones are set to MPI_REQUEST_NULL here.
/// Failures: the single forms return the operation's Status. The *all and *some forms return MPI_ERR_IN_STATUS when one
/// operation failed and then, and only then, fill every MPI_ERROR; with MPI_STATUSES_IGNORE they return the first
/// failure itself.
/// Any thread that may call MPI. wait* block and make progress on all lanes that their requests belong to; the others
/// make one round of progress there, and now and then one on all lanes (progress::look).
namespace ashlar::p2p {

Status wait(Request** request, MPI_Status* status);
Status wait_all(int count, MPI_Request* requests, MPI_Status* statuses);
Status wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
Status wait_some(int incount, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses);
Status test(Request** request, int* flag, MPI_Status* status);
Status test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
Status test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
Status test_some(int incount, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses);

Status request_free(Request** request);
Status request_get_status(Request* request, int* flag, MPI_Status* status);
Status request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
Status request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status);
Status request_get_status_some(int incount, const MPI_Request* requests, int* outcount, int* indices,
                               MPI_Status* statuses);
Status cancel(Request* request);
/// Generalized requests, which belong to no communicator and so are given a lane. The callbacks may call MPI; which
/// error codes of theirs come back is MPI-5.0, 13.2.
Status grequest_start(Lane& lane, MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                      MPI_Grequest_cancel_function* cancel_fn, void* extra_state, Request** request);
Status grequest_complete(Request* request);
Status start(Request** request);
Status start_all(int count, MPI_Request* requests);

Status get_count(const MPI_Status* status, Datatype& type, MPI_Count* count);
Status test_cancelled(const MPI_Status* status, int* flag);
Status status_set_cancelled(MPI_Status* status, int flag);
Status status_get_source(const MPI_Status* status, int* source);
Status status_get_tag(const MPI_Status* status, int* tag);
Status status_get_error(const MPI_Status* status, int* error);
Status status_set_source(MPI_Status* status, int source);
Status status_set_tag(MPI_Status* status, int tag);
Status status_set_error(MPI_Status* status, int error);

}  // namespace ashlar::p2p
