/* The contract between the kernel and a component: one C header, no C++ type, no symbol to link against.
 *
 * A component is a shared library that exports one object,
 *     const ashlar_component ashlar_component_v1 = { sizeof(ashlar_component), ... };
 * The symbol's name carries the major version of this contract, `size` the minor one: the kernel reads only members
 * inside it, so members are only ever appended.
 *
 * Life of a component: found through its manifest row -> loaded and checked -> open -> query -> (when chosen) create ->
 * use through the framework's own table -> destroy -> close. A component that created a module is never unloaded.
 *
 * State: unstable until two components outside this tree exist. */
#ifndef ASHLAR_COMPONENT_H
#define ASHLAR_COMPONENT_H

#include <stddef.h>
#include <stdint.h>

#include "framework/param/param_row.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_COMPONENT_SYMBOL "ashlar_component_v1"
#define ASHLAR_COMPONENT_MAJOR 1
#define ASHLAR_COMPONENT_MINOR 0

/* What a call of a component gives back. Errors are negative MPI error classes; ashlar_host::fail makes them. */
typedef int ashlar_result;
enum {
  ASHLAR_OK = 0,
  ASHLAR_PENDING = 1, /* started; completion is told later */
  ASHLAR_AGAIN = 2    /* no room now: keep the operation and repeat it after progress */
};

/* A performance variable: a counter or level the component keeps; the kernel reads it through the pointer. */
typedef enum ashlar_pvar_class {
  ASHLAR_PVAR_LEVEL = 2,
  ASHLAR_PVAR_SIZE = 3,
  ASHLAR_PVAR_HIGHWATERMARK = 5,
  ASHLAR_PVAR_COUNTER = 7,
  ASHLAR_PVAR_AGGREGATE = 8
} ashlar_pvar_class;
typedef struct ashlar_pvar {
  const char* name; /* "rings" of transport/shm is transport.shm.rings */
  const char* help; /* says the unit */
  ashlar_pvar_class kind;
  const uint64_t* value; /* lives as long as the process */
} ashlar_pvar;

/* Services of the kernel. The component keeps the pointer given to open(). */
typedef struct ashlar_host {
  uint32_t size;
  const char* kernel_version;
  /* Records why something failed, in words, for the error record of the call in progress; returns -mpi_class. */
  ashlar_result (*fail)(int mpi_class, const char* format, ...);
  /* level: 0 error, 1 warning, 2 info, 3 debug, 4 trace. */
  void (*log)(int level, const char* component, const char* format, ...);
  int (*log_enabled)(int level);
  /* A decision for `--explain`: topic "transport", subject "peer 3", chosen "shm", why in words, the setting that
   * would change it. `lost` may be NULL or list what lost and why. */
  void (*record)(const char* topic, const char* subject, const char* chosen, const char* because, const char* lost,
                 const char* setting);
  void (*add_pvars)(const char* framework, const char* component, const ashlar_pvar* rows, uint32_t count);
} ashlar_host;

/* query()'s answer. priority < 0: cannot serve; `reason` says why or why not, always. */
typedef struct ashlar_answer {
  uint32_t size;
  int32_t priority;
  uint64_t capabilities; /* bits of the framework's interface */
  char reason[240];
} ashlar_answer;

typedef struct ashlar_component {
  uint32_t size;
  uint16_t abi_major, abi_minor;
  const char* framework;      /* "transport", "coll", "launch", "report", ... */
  const char* name;           /* "shm" */
  const char* version;        /* the component's own, "1.4.2" */
  const char* description;    /* one line */
  uint32_t interface_version; /* of the framework's interface header */
  uint32_t config_size;
  uint32_t param_count;
  const ashlar_param* params;
  /* 0: uses the C tables only. Otherwise the build whose C++ headers it saw; the loader refuses any other. */
  uint64_t build_id;
  /* `config` is the component's config block, filled from the parameters; it lives until close. May be NULL calls. */
  ashlar_result (*open)(const ashlar_host* host, const void* config);
  /* Cheap, no side effect. `context` is the framework's (its interface header says what). */
  void (*query)(const void* context, ashlar_answer* answer);
  /* Makes the module; its first member is the framework's table of functions. */
  ashlar_result (*create)(const void* context, void** module);
  void (*destroy)(void* module);
  void (*close)(void);
} ashlar_component;

#if defined(__GNUC__)
#define ASHLAR_EXPORT __attribute__((visibility("default")))
#else
#define ASHLAR_EXPORT
#endif

/* What each component defines, once, initialised at compile time: the kernel reads it from the file before it loads the
 * component, so its members must not need code to run. */
extern ASHLAR_EXPORT const ashlar_component ashlar_component_v1;

#ifdef __cplusplus
}
#endif
#endif
