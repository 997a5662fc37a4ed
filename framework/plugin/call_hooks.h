#pragma once
/* Between the kernel and libashlar_tool.so, the preloaded library of wrappers around the MPI calls. Plain C, each
 * struct with its size: the program's kernel may be of another version than the wrappers that mpiexec preloads. */
#include "framework/plugin/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel's side. A wrapper looks at `wanted` first and does nothing else for a call that nobody watches. */
typedef struct ashlar_call_hooks {
  uint32_t size;
  uint32_t procedure_count;
  const uint8_t* wanted; /* [procedure_count] */
  void* self;            /* first argument of enter and leave */
  void (*enter)(void* self, const ashlar_tool_call*);
  void (*leave)(void* self, const ashlar_tool_call*);
  /* Fills comm, comm_rank, comm_size, object, and to_world of `to`, from_world of `from`, for the communicator of this
   * handle. Returns the size of the local group of an intercommunicator, 0 of another. */
  int (*describe)(const void* comm, ashlar_tool_call*);
  uint64_t (*type_bytes)(const void* datatype); /* 0: not a datatype */
  uint64_t (*status_bytes)(const void* status);
} ashlar_call_hooks;

/* The wrappers' side: an object of this name in libashlar_tool.so. */
#define ASHLAR_CALL_WRAPPERS_SYMBOL "ashlar_call_wrappers_v1"
typedef struct ashlar_call_wrappers {
  uint32_t size;
  uint32_t procedure_count;
  const ashlar_tool_procedure* procedures;
  /* From now on the wrappers call the hooks, which live until attach(NULL) and the end of the calls in progress. */
  void (*attach)(const ashlar_call_hooks*);
} ashlar_call_wrappers;

#ifdef __cplusplus
}
#endif
