#pragma once
#include "framework/base/status.h"
#include "framework/datatype/data_view.h"

namespace ashlar {
class Comm;
class Info;
}  // namespace ashlar
/// What check.files compares beyond what every call checks. Each function does nothing without that parameter.
namespace ashlar::io {

class OpenFile;

/// Collective calls that differ between the processes would wait for each other for ever: MPI_ERR_OTHER on all of them.
/// Called first by every collective call that moves no data; those that do compare theirs always.
Status check_same_call(OpenFile& file, const char* call);

/// The keys whose values have to be the same on all processes (MPI-5.0, 14.2.8). `own`: what has failed here.
Status check_same_hints(Comm& comm, const char* path, const Info* info, Status own);

/// Notes whether all processes have the same view, which accesses by the shared pointer need. Collective.
Status compare_views(OpenFile& file);
Status check_shared_view(const OpenFile& file);

/// The type signature of a buffer is that of a number of etypes, or etypes are bytes (MPI-5.0, 14.4.1).
Status check_signature(const OpenFile& file, const DataView& buffer, MPI_Count etypes);

/// The program has completed all requests of the file.
Status check_requests(const OpenFile& file);

}  // namespace ashlar::io
