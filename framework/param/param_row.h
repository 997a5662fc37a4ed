/* A parameter row: the C struct that components and the kernel's rooms declare their settings with. */
#ifndef ASHLAR_PARAM_ROW_H
#define ASHLAR_PARAM_ROW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ashlar_param_type {
  ASHLAR_PARAM_BOOL = 1, /* bool (1 byte):       true, yes, on, 1 / false, no, off, 0 */
  ASHLAR_PARAM_I64,      /* int64_t */
  ASHLAR_PARAM_U64,      /* uint64_t */
  ASHLAR_PARAM_BYTES,    /* uint64_t:            8192, 8KiB, 4M, 1GiB */
  ASHLAR_PARAM_F64,      /* double */
  ASHLAR_PARAM_STRING,   /* const char* (owned by the kernel, lives as long as the component) */
  ASHLAR_PARAM_ENUM,     /* int32_t: index into `choices` */
  ASHLAR_PARAM_DURATION  /* uint64_t nanoseconds: 10us, 5ms, 2s, 1min */
} ashlar_param_type;

/* MPI_T's scopes and verbosities, with MPI_T's values. */
enum {
  ASHLAR_SCOPE_CONSTANT = 1,
  ASHLAR_SCOPE_READONLY,
  ASHLAR_SCOPE_LOCAL,
  ASHLAR_SCOPE_GROUP,
  ASHLAR_SCOPE_GROUP_EQ,
  ASHLAR_SCOPE_ALL,
  ASHLAR_SCOPE_ALL_EQ
};
enum {
  ASHLAR_USER_BASIC = 0x09,
  ASHLAR_USER_DETAIL = 0x0a,
  ASHLAR_USER_ALL = 0x0c,
  ASHLAR_TUNER_BASIC = 0x11,
  ASHLAR_TUNER_DETAIL = 0x12,
  ASHLAR_TUNER_ALL = 0x14,
  ASHLAR_DEV_BASIC = 0x21,
  ASHLAR_DEV_DETAIL = 0x22,
  ASHLAR_DEV_ALL = 0x24
};
enum {
  ASHLAR_PARAM_DEPRECATED = 1,
  ASHLAR_PARAM_SYNONYM = 2,
  ASHLAR_PARAM_FROZEN = 4,  /* settable only before init */
  ASHLAR_PARAM_LAUNCHER = 8 /* read by mpiexec alone: a program that sets it comes too late */
};

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
  uint32_t offset; /* into the component's config block; unused for a synonym */
  /* Ended by NULL. ASHLAR_PARAM_ENUM: the words. Numbers, sizes, durations: the least and the most, as text, then
   * values that are taken besides: {"4KiB", "1GiB", "0", NULL}; NULL: every value. Other types: NULL. */
  const char* const* choices;
} ashlar_param;

#ifdef __cplusplus
}
#endif
#endif
