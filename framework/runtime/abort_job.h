#pragma once

namespace ashlar {
class Comm;
}

namespace ashlar::runtime {

/// The standard asks that at least the processes of `comm` end. All of the job do: those that are left could not be
/// separated from a job that hangs. The reason says so when it is not what the caller named.
[[noreturn]] void abort_job(Comm* comm, int code, const char* text);

}  // namespace ashlar::runtime
