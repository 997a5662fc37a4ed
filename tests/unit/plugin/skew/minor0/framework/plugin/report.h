/* The report framework's interface, version 1: errors, notices and decisions on their way to people and tools.
 *
 * A module gets records and prints, stores or forwards them. It is called with no lock held, perhaps by a process about
 * to abort: it must not wait, call MPI, or fail. Texts are valid during the call only. */
#ifndef ASHLAR_REPORT_H
#define ASHLAR_REPORT_H

#include "framework/plugin/component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_REPORT_INTERFACE 1

enum { /* which of the numbers of an error record are known; texts are NULL when they are not */
       ASHLAR_HAS_RANK = 1u << 0,
       ASHLAR_HAS_PEER = 1u << 1,
       ASHLAR_HAS_TAG = 1u << 2,
       ASHLAR_HAS_BYTES_WANTED = 1u << 3,
       ASHLAR_HAS_BYTES_GOT = 1u << 4
};

typedef struct ashlar_error_record {
  uint32_t size;
  uint32_t has;
  const char* id;         /* of the catalogue, NULL for a plain sentence */
  const char* call;       /* "MPI_Send" */
  const char* class_name; /* "MPI_ERR_TRUNCATE" */
  int mpi_class, mpi_code;
  const char* text;        /* the sentence of the first function that knew the reason */
  const char* because;     /* more, from the catalogue */
  const char* try_next;    /* lines of advice, separated by newlines */
  const char* argument;    /* "tag" */
  const char* value;       /* "-7" */
  const char* object_kind; /* "communicator" */
  const char* object_name; /* "MPI_COMM_WORLD" */
  int rank, object_size;   /* this process in that object */
  int peer;                /* the other process, by its rank there */
  const char* peer_host;
  int tag;
  uint64_t bytes_wanted, bytes_got;
  const char* component; /* "transport.shm" */
  const char* lower;     /* the lower library's own message */
  int fatal;             /* the job ends because of it */
} ashlar_error_record;

typedef struct ashlar_notice {
  uint32_t size;
  int level; /* as ashlar_host::log: 0 error, 1 warning, 2 info */
  const char* id;
  const char* text;
} ashlar_notice;

typedef struct ashlar_decision {
  uint32_t size;
  const char* topic;   /* "transport" */
  const char* subject; /* "peer 3" */
  const char* chosen;  /* "shm" */
  const char* because;
  const char* lost;    /* "self: reaches only this process; tcp: not asked for" */
  const char* setting; /* "transport = shm,self" */
} ashlar_decision;

typedef struct ashlar_report ashlar_report;
typedef struct ashlar_report_ops {
  uint32_t size;
  void (*error)(ashlar_report*, const ashlar_error_record*);
  void (*notice)(ashlar_report*, const ashlar_notice*);
  void (*decision)(ashlar_report*, const ashlar_decision*); /* NULL: not interested */
} ashlar_report_ops;

/* A module begins with its table; the component's own data follows. */
struct ashlar_report {
  const ashlar_report_ops* ops;
};

/* Context of query() and create(): who speaks. */
typedef struct ashlar_report_context {
  uint32_t size;
  int world_rank, world_size; /* -1 and 0 before the job is known */
  const char* host;
  int pid;
  /* 1: the launcher shows the reason of a fatal error to the user; what writes to standard error leaves it to that. */
  int launcher_tells;
} ashlar_report_context;

#ifdef __cplusplus
}
#endif
#endif
