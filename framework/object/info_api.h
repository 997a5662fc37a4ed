#pragma once
#include <mpi.h>

#include <string_view>

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

/// Fills MPI_INFO_ENV with what the process knows of itself.
void describe_process(Info& info);
/// Adds the pair unless the key is there; also to MPI_INFO_ENV, which calls of users cannot change.
void add_missing(Info& info, const char* key, std::string_view value);
/// Adds what `words`, as KEY=VALUE;KEY=VALUE, say of the start of this process; keys that describe no start are left
/// out, and so are those already there.
void describe_start(Info& info, const char* words);
/// The runtime's: more such words, that only calls of create_env ask for. nullptr: there are none.
inline const char* (*words_of_start)() = nullptr;

}  // namespace ashlar::info
