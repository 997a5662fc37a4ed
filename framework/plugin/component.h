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

typedef enum ashlar_param_type {
  ASHLAR_PARAM_BOOL = 1,  /* bool (1 byte):       true, yes, on, 1 / false, no, off, 0 */
  ASHLAR_PARAM_I64,       /* int64_t */
  ASHLAR_PARAM_U64,       /* uint64_t */
  ASHLAR_PARAM_BYTES,     /* uint64_t:            8192, 8KiB, 4M, 1GiB */
  ASHLAR_PARAM_F64,       /* double */
  ASHLAR_PARAM_STRING,    /* const char* (owned by the kernel, lives as long as the component) */
  ASHLAR_PARAM_ENUM,      /* int32_t: index into `choices` */
  ASHLAR_PARAM_DURATION   /* uint64_t nanoseconds: 10us, 5ms, 2s, 1min */
} ashlar_param_type;

/* MPI_T's scopes and verbosities, with MPI_T's values. */
enum { ASHLAR_SCOPE_CONSTANT = 1, ASHLAR_SCOPE_READONLY, ASHLAR_SCOPE_LOCAL, ASHLAR_SCOPE_GROUP, ASHLAR_SCOPE_GROUP_EQ,
       ASHLAR_SCOPE_ALL, ASHLAR_SCOPE_ALL_EQ };
enum { ASHLAR_USER_BASIC = 0x09, ASHLAR_USER_DETAIL = 0x0a, ASHLAR_USER_ALL = 0x0c, ASHLAR_TUNER_BASIC = 0x11,
       ASHLAR_TUNER_DETAIL = 0x12, ASHLAR_TUNER_ALL = 0x14, ASHLAR_DEV_BASIC = 0x21, ASHLAR_DEV_DETAIL = 0x22,
       ASHLAR_DEV_ALL = 0x24 };
enum { ASHLAR_PARAM_DEPRECATED = 1, ASHLAR_PARAM_SYNONYM = 2, ASHLAR_PARAM_FROZEN = 4 /* settable only before init */ };

/* One row = one YAML key = one MPI_T control variable = one line of documentation.
 * Row "eager_limit" of transport/shm is the key transport.shm.eager_limit, in the environment
 * ASHLAR_transport_shm_eager_limit. */
typedef struct ashlar_param {
  const char* name;
  const char* fallback; /* the default, as text, read by the parser that reads YAML */
  const char* help;     /* for a synonym: the full key it stands for */
  ashlar_param_type type;
  uint8_t scope, verbosity;
  uint16_t flags;
  uint32_t offset;            /* into the component's config block; unused for a synonym */
  const char* const* choices; /* ASHLAR_PARAM_ENUM: words ended by NULL */
} ashlar_param;

/* A performance variable: a counter or level the component keeps; the kernel reads it through the pointer. */
typedef enum ashlar_pvar_class {
  ASHLAR_PVAR_LEVEL = 2, ASHLAR_PVAR_SIZE = 3, ASHLAR_PVAR_HIGHWATERMARK = 5, ASHLAR_PVAR_COUNTER = 7,
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

#ifdef __cplusplus
}
#endif
#endif
