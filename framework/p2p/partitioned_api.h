#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Datatype;
class Info;
class Request;
}  // namespace ashlar

/// Partitioned communication (MPI-5.0, 4): persistent requests whose data is declared ready, and arrives, in parts. The
/// two sides may cut the same data differently. Any thread; pready of different partitions may run at once.
/// MPI_ERR_ARG: a partition outside the request's, or marked ready before; MPI_ERR_REQUEST: not such a request, or not
/// active.
namespace ashlar::p2p {

Status psend_init(const void* buf, int partitions, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                  Info* info, Request** request);
Status precv_init(void* buf, int partitions, MPI_Count count, Datatype& type, int source, int tag, Comm& comm,
                  Info* info, Request** request);
Status pready(int partition, Request* request);
Status pready_range(int partition_low, int partition_high, Request* request);
Status pready_list(int length, const int* partitions, Request* request);
/// True as well for a request that is null or inactive.
Status parrived(Request* request, int partition, int* flag);

}  // namespace ashlar::p2p
