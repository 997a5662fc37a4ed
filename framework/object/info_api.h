#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Info;
}
/// The info calls of MPI-5.0, chapter 10. A null `Info*` is MPI_INFO_NULL. Any time, any thread.
namespace ashlar::info {

Status create(Info** info);
Status create_env(int argc, char** argv, Info** info);
Status dup(Info* info, Info** copy);
Status free(Info** info);
Status set(Info* info, const char* key, const char* value);
Status remove(Info* info, const char* key);
Status get(Info* info, const char* key, int valuelen, char* value, int* flag);
Status get_string(Info* info, const char* key, int* buflen, char* value, int* flag);
Status get_valuelen(Info* info, const char* key, int* valuelen, int* flag);
Status get_nkeys(Info* info, int* nkeys);
Status get_nthkey(Info* info, int n, char* key);

/// The object behind MPI_INFO_ENV; the runtime fills it from the job.
Info& environment();

/// Fills MPI_INFO_ENV: what the process knows of itself, and what its job tells later.
void describe_process(Info& info);
/// `memory_kinds`: what mpiexec was asked for, "" when nothing.
void describe_job(int processes, const char* thread_level, const char* memory_kinds);

}  // namespace ashlar::info
