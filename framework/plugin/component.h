/* The contract between the kernel and a component: one C header, no C++ type, no symbol to link against.
 *
 * A component is a shared library that exports one object,
 *     const ashlar_component ashlar_component_v1 = { sizeof(ashlar_component), ... };
 * The symbol's name carries the major version of this contract, `size` the minor one: the kernel reads only members
 * inside it, so members are only ever appended. A kernel takes components of older and of newer minor versions, and of
 * the frameworks' tables, which begin with their size as well, what both sides know. A component that uses a member of
 * the kernel's structures that is younger than minor version 0 asks ASHLAR_HAS first.
 *
 * Life of a component: found through its manifest row -> loaded and checked -> open -> query -> (when chosen) create ->
 * use through the framework's own table -> destroy -> close. A component that created a module is never unloaded.
 *
 * State: unstable until two components outside this tree exist. */
#ifndef ASHLAR_COMPONENT_H
#define ASHLAR_COMPONENT_H

#include <stddef.h>
#include <stdint.h>

#include "framework/base/error_class.h"
#include "framework/param/param_row.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_COMPONENT_SYMBOL "ashlar_component_v1"
#define ASHLAR_COMPONENT_MAJOR 1
#define ASHLAR_COMPONENT_MINOR 9

/* Whether a structure that the other side made has this member. It has not when that side was compiled with headers of
 * an older minor version: members are only appended, and `size` says where theirs end. */
#define ASHLAR_HAS(structure, member) \
  ((size_t)((const char*)(&(structure)->member + 1) - (const char*)(structure)) <= (size_t)(structure)->size)

/* What a call of a component gives back. Errors are negative MPI error classes (-ASHLAR_ERR_NO_MEM); ashlar_fail_with()
 * and ashlar_host::fail() make them. */
typedef int ashlar_result;
enum {
  ASHLAR_OK = 0,
  ASHLAR_PENDING = 1, /* started; its completion is reported later */
  ASHLAR_AGAIN = 2    /* no room now: keep the operation and repeat it after progress */
};

/* Performance variables: what the library has counted, and how much of something there is (MPI-5.0, 15.3.7). The
 * classes and bindings have MPI's values. */
typedef enum ashlar_pvar_class {
  ASHLAR_PVAR_STATE = 1, /* one of `choices` */
  ASHLAR_PVAR_LEVEL = 2,
  ASHLAR_PVAR_SIZE = 3,
  ASHLAR_PVAR_PERCENTAGE = 4, /* a double from 0 to 1 */
  ASHLAR_PVAR_HIGHWATERMARK = 5,
  ASHLAR_PVAR_LOWWATERMARK = 6,
  ASHLAR_PVAR_COUNTER = 7,
  ASHLAR_PVAR_AGGREGATE = 8,
  ASHLAR_PVAR_TIMER = 9 /* nanoseconds */
} ashlar_pvar_class;
enum { ASHLAR_PVAR_OF_PROCESS = 1, ASHLAR_PVAR_OF_COMM = 2 };

/* The first form: a word that the kernel reads through the pointer. Of the process, for MPI_T's level tuner-detail. */
typedef struct ashlar_pvar {
  const char* name; /* "rings" of transport/shm is transport.shm.rings */
  const char* help; /* says the unit */
  ashlar_pvar_class kind;
  const uint64_t* value; /* lives as long as the process */
} ashlar_pvar;

/* Since minor version 3: a row describes a word of a block, so that several blocks (one for each module, lane or
 * thread) make one variable: their sum. Name, class, binding and verbosity must not depend on anything but the
 * component's version: equal names mean equal things in all processes of a job. A class and a name are unique together.
 */
typedef struct ashlar_pvar_row {
  const char* name;
  const char* help;  /* says the unit, and what is not safe in a signal handler */
  uint8_t kind;      /* ashlar_pvar_class */
  uint8_t bind;      /* ASHLAR_PVAR_OF_PROCESS; of communicators the kernel alone keeps any */
  uint8_t verbosity; /* ASHLAR_TUNER_DETAIL, ... (param_row.h) */
  uint8_t reserved;
  uint32_t offset; /* of the uint64_t in the block; one thread writes it at a time, any thread reads it at any time. The
                      word in front of a HIGHWATERMARK is its level, to which the kernel may set the mark back. */
  /* Instead of the word at `offset`, or NULL: computes `count` values from a block. PERCENTAGE: the bits of a double.
   */
  void (*read)(const struct ashlar_pvar_row* row, const void* block, const void* object, uint64_t* values,
               uint32_t count);
  uint32_t (*count)(const void* object); /* how many values there are for the object; NULL: one */
  const char* const* choices;            /* of a STATE: the words for 0, 1, 2, ..., ended by NULL */
} ashlar_pvar_row;

/* One thing that is known about a failure, by name. These names are fields of the error record: argument, value, peer,
 * peer_host, tag, bytes_wanted, bytes_got, component, lower (a lower library's own words). */
typedef struct ashlar_fact {
  const char* name;
  const char* text; /* NULL: the number is the value */
  int64_t number;
} ashlar_fact;

/* Services of the kernel. The component keeps the pointer given to open(). */
typedef struct ashlar_host {
  uint32_t size;
  const char* kernel_version;
  /* Records why something failed, in words, for the error record of the call in progress; returns -mpi_class. The words
   * become the fact `lower` of the message component.failed. */
  ashlar_result (*fail)(int mpi_class, const char* format, ...);
  /* level: 0 error, 1 warning, 2 info, 3 debug, 4 trace. */
  void (*log)(int level, const char* component, const char* format, ...);
  int (*log_enabled)(int level);
  /* A decision for `--explain`: topic "transport", subject "peer 3", chosen "shm", why in words, the setting that
   * would change it. `lost` may be NULL or list what lost and why. */
  void (*record)(const char* topic, const char* subject, const char* chosen, const char* because, const char* lost,
                 const char* setting);
  void (*add_pvars)(const char* framework, const char* component, const ashlar_pvar* rows, uint32_t count);
  /* Since minor version 1. The component uses another value of its parameter than the one in its config block:
   * adjusted("transport", "shm", "ring_bytes", "8KiB", "the smallest ring") shows in `ashlar_info explain` and in the
   * decision records. `used` is written as in a file. */
  void (*adjusted)(const char* framework, const char* component, const char* parameter, const char* used,
                   const char* because);
  /* 1: this process has more rights than the user who started it (set-user-ID, set-group-ID, file capabilities). A
   * component then obeys no environment variable and no file that this user controls, and lets no library do so. */
  int elevated;
  /* Since minor version 2. As fail(), with the message `id` of the kernel's catalogue (config/messages.yaml) and its
   * facts, which tools then get one by one. Names and texts are copied. */
  ashlar_result (*fail_with)(int mpi_class, const char* id, const ashlar_fact* facts, uint32_t count);
  /* Since minor version 3. Adds a block to the variables of `rows`, which live as long as the process, and takes one
   * away again: what it has counted stays. Further blocks of the same rows are added to the first. */
  void (*add_pvar_block)(const char* framework, const char* component, const ashlar_pvar_row* rows, uint32_t count,
                         const void* block);
  void (*remove_pvar_block)(const ashlar_pvar_row* rows, const void* block);
} ashlar_host;

/* fail_with(), or fail() with the id for words where the kernel is older than that. */
static inline ashlar_result ashlar_fail_with(const ashlar_host* host, int mpi_class, const char* id,
                                             const ashlar_fact* facts, uint32_t count) {
  if (ASHLAR_HAS(host, fail_with) && host->fail_with) return host->fail_with(mpi_class, id, facts, count);
  return host->fail(mpi_class, "%s", id);
}

/* The failure of an allocation of `bytes` bytes, 0: unknown, for `what`: "the map of the nodes". Allocates nothing. */
static inline ashlar_result ashlar_fail_no_memory(const ashlar_host* host, const char* what, size_t bytes) {
  const ashlar_fact facts[2] = {{"what", what, 0}, {"bytes_wanted", NULL, (int64_t)bytes}};
  return ashlar_fail_with(host, ASHLAR_ERR_NO_MEM, "memory.none", facts, bytes ? 2 : 1);
}

/* query()'s answer. priority < 0: cannot serve, 0: if named or no other can; `reason`: why or why not, always. */
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
