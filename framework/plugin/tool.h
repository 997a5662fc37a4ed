/* The tool framework's interface, version 1: what watches a program's MPI calls.
 *
 * A tool is chosen by `mpiexec --tool NAME` (parameter `tool`); without one nothing of this is loaded. Its module lives
 * in every rank, from the end of the call that initialises MPI to the call that finalises it, and gets enter() and
 * leave() around each call that it wants, in the thread that makes the call, and event() where an event happens that it
 * wants. Another module, in a process of mpiexec's own, gets job_end() when the job is over: it reads the buffers that
 * the modules of the ranks have written, also those of ranks that were killed. job_sample() reads them while the job
 * runs. Under other launchers the rank that leaves last calls job_end(), and nothing calls job_sample(). Several tools
 * may watch one job.
 *
 * A tool calls no MPI function. What it changes of the program's time is its own work and some 10 ns a call. */
#ifndef ASHLAR_TOOL_H
#define ASHLAR_TOOL_H

#include "framework/plugin/component.h"
#include "framework/plugin/report.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_TOOL_FRAMEWORK "tool"
#define ASHLAR_TOOL_INTERFACE 1

/* What a procedure does with data and time: bits of ashlar_tool_procedure::kind. */
enum {
  ASHLAR_TOOL_SENDS = 1u << 0,      /* gives data to one process: `to`, bytes_out */
  ASHLAR_TOOL_RECEIVES = 1u << 1,   /* takes data from one process: `from`, bytes_in */
  ASHLAR_TOOL_COLLECTIVE = 1u << 2, /* moves data among all processes of the communicator, or waits for them */
  ASHLAR_TOOL_STARTS = 1u << 3,     /* returns a request before the data has moved */
  ASHLAR_TOOL_PREPARES = 1u << 4,   /* returns a persistent request; MPI_Start moves the bytes told here, each time */
  ASHLAR_TOOL_COMPLETES = 1u << 5   /* waits for requests or tests them */
};

/* One procedure of MPI. Its number is its index in ashlar_tool_context::procedures; numbers hold for one process. */
typedef struct ashlar_tool_procedure {
  const char* name;    /* "MPI_Send", "MPI_Send_c" */
  const char* chapter; /* "pt2pt", "coll", "request", ...: as `ashlar_info --coverage` prints it */
  uint32_t kind;
} ashlar_tool_procedure;

#define ASHLAR_TOOL_NONE INT32_MIN /* no rank, no tag: the call has none, or it is not known */

/* One call. In enter() the members describe the arguments; leave() gets the same record with the results in it. The
 * pointer is valid during enter() or leave() alone. Ranks and tags may be MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ROOT and
 * their like, with the values of the standard ABI. */
typedef struct ashlar_tool_call {
  uint32_t size;
  uint32_t number;       /* of the procedure */
  uint64_t began, ended; /* ticks (ashlar_tool_context::clock); `ended` is 0 in enter() */
  uint64_t comm;         /* id of the communicator, the same in all its processes; 0: the call has none. Groups without
                            a common process may share an id when one call made their communicators. */
  int32_t comm_rank, comm_size;   /* of this process there; of an intercommunicator, comm_size is the remote size */
  int32_t to, to_world, send_tag; /* destination: its rank in the communicator, and in the job */
  int32_t from, from_world, receive_tag; /* source; in leave() the one that the message came from. Of a wait: what the
                                            status says, which means nothing when the request was a send's */
  int32_t root;
  int32_t result;     /* in leave(): the call's error code, 0 is success */
  uint64_t bytes_out; /* of the program's data that this process gives */
  uint64_t bytes_in;  /* room for what it takes; in leave() of a receive, or of a wait for one, what has come */
  uint64_t request;   /* of calls that start, test or wait for one request: a number of it; 0: none. Numbers are used
                         again when a request is gone. */
  const void* object; /* for ashlar_tool_context::comm_name */
  /* Of calls that start, test or wait for several requests: the numbers of all of them; in leave() requests that are
   * gone have that of MPI_REQUEST_NULL. NULL: the call has no such array. */
  const uint64_t* requests;
  uint32_t request_count;
} ashlar_tool_call;

/* Both clocks at one moment. Ticks are those of the processor's counter and cost less than the time does; two pairs, as
 * from create() and destroy(), make times of the ticks between them. */
typedef struct ashlar_tool_clock {
  uint64_t ticks;
  uint64_t ns; /* CLOCK_MONOTONIC */
} ashlar_tool_clock;

enum ashlar_tool_role {
  ASHLAR_TOOL_IN_RANK = 0, /* enter() and leave() are called */
  ASHLAR_TOOL_AT_END = 1   /* job_end() or job_sample() is called, once, in a process without MPI */
};

/* A performance variable of a process. */
typedef struct ashlar_tool_variable {
  const char* name; /* "transport.shm.rings" */
  const char* help;
  int32_t kind; /* ashlar_pvar_class */
  uint64_t value;
} ashlar_tool_variable;

/* A kind of event inside the library, as MPI_T has it (docs/tools.md lists them). Its number is its index in
 * ashlar_tool_context::event_types; numbers hold for one process. */
typedef struct ashlar_tool_event_type {
  const char* name;          /* "coll.begin" */
  const char* help;          /* says what the fields are */
  const char* const* fields; /* their names, ended by NULL */
  const char* const* words;  /* for the values of the fields of word_fields, ended by NULL; NULL: all are numbers */
  uint32_t word_fields;      /* a bit for each field whose value is an index of words */
} ashlar_tool_event_type;

/* One event; valid during event() alone. */
typedef struct ashlar_tool_event {
  uint32_t size;
  uint32_t number;        /* of its type */
  const uint64_t* values; /* of the fields; negative ones in two's complement */
  uint32_t value_count;
} ashlar_tool_event;

/* Context of query() and create(); it and what it points to live until destroy(). */
typedef struct ashlar_tool_context {
  uint32_t size;
  int32_t role;         /* ashlar_tool_role */
  uint32_t rank, ranks; /* of the job; `rank` means nothing at the end */
  const char* job_id;
  const char* host;
  const ashlar_tool_procedure* procedures; /* those that can be watched; none at the end */
  uint32_t procedure_count;
  uint32_t procedure_bytes; /* of one row: sizeof(ashlar_tool_procedure) of the kernel */
  /* Memory of this rank and this tool, zero at first, that job_end() finds again. NULL in query() and at the end. */
  void* buffer;
  uint64_t buffer_bytes; /* parameter runtime.tool_buffer, shared by the tools that are chosen */
  /* Not at the end, where they are NULL. */
  void (*clock)(ashlar_tool_clock* now);
  /* The value of a performance variable of the process, such as "transport.shm.rings"; 0: there is none of this name.
   * Any thread, not in enter() or leave(). */
  int (*variable)(const char* name, uint64_t* value);
  /* The name of the call's communicator; returns its length, 0 when the call has none. In enter() and leave(). */
  uint32_t (*comm_name)(const ashlar_tool_call* call, char* out, uint32_t room);
  /* Gives `take` each performance variable, or each decision record (as `mpiexec --explain` shows them), of this
   * process; texts are valid during take() alone. Where variable() may be called. NULL at the end. */
  void (*variables)(void (*take)(void* self, const ashlar_tool_variable*), void* self);
  void (*decisions)(void (*take)(void* self, const ashlar_decision*), void* self);
  /* Those that can be wanted; none at the end. */
  const ashlar_tool_event_type* event_types;
  uint32_t event_type_count;
  uint32_t event_type_bytes; /* of one row: sizeof(ashlar_tool_event_type) of the kernel */
} ashlar_tool_context;

/* How the clock of a rank's host goes, where that is another host than the one that reads. In what a rank has recorded
 * are times of its host; a time t of it is here_ns + (t - there_ns) * rate on the clock of ashlar_tool_job. */
typedef struct ashlar_tool_host_clock {
  double rate; /* 0: the clock is that of the job, and the other members mean nothing */
  uint64_t there_ns, here_ns;
  uint64_t error_ns;         /* the most by which such a time is wrong */
  ashlar_tool_clock counter; /* a moment of that host, after the rank's last record or as late as a sample can be */
} ashlar_tool_host_clock;

/* What has become of one rank. */
typedef struct ashlar_tool_rank {
  const void* buffer; /* as the rank's module left it, NULL: the tool was not there */
  uint64_t buffer_bytes;
  int32_t exit_status; /* as waitpid gives it */
  int32_t finalized;   /* 1: its last MPI call finalised MPI; 0: the rank ended without, or never used MPI */
  const char* host;
  const char* program;
  int32_t running; /* 1: in job_sample(), the process has not ended, and exit_status means nothing */
  ashlar_tool_host_clock clock;
} ashlar_tool_rank;

/* The whole job, at its end; in job_sample() at this moment. */
typedef struct ashlar_tool_job {
  uint32_t size;
  uint32_t ranks;
  const ashlar_tool_rank* rank; /* [ranks] */
  uint32_t rank_bytes;          /* of one row: sizeof(ashlar_tool_rank) of the kernel */
  int32_t exit_status;          /* of mpiexec; nothing in job_sample() */
  uint64_t began_ns, ended_ns;  /* CLOCK_MONOTONIC; in job_sample() the second is now */
  const char* job_id;
} ashlar_tool_job;

typedef struct ashlar_tool ashlar_tool;
typedef struct ashlar_tool_ops {
  uint32_t size;
  /* Whether calls of this procedure are to be watched; asked once for each, after create(). NULL: all are. */
  int (*wants)(ashlar_tool*, uint32_t number);
  /* Around each call, on any thread, and on several at once. `enter` of the call that initialises MPI comes just before
   * its `leave`, with the time at which it began. The call that finalises MPI, and one that ends the job, is never
   * left. Either may be NULL. They wait for nothing. What they call of MPI is done, and shown to no tool. */
  void (*enter)(ashlar_tool*, const ashlar_tool_call*);
  void (*leave)(ashlar_tool*, const ashlar_tool_call*);
  /* The job is over. Standard output and standard error are mpiexec's. NULL: there is nothing to tell. Without our
   * mpiexec it is called in the rank that leaves last, when its module of the calls is destroyed, and the standard
   * streams are that rank's. */
  void (*job_end)(ashlar_tool*, const ashlar_tool_job*);
  /* Whether events of this type are to be told; asked once for each, after create(). NULL: none are. An event that
   * no tool wants costs the library one load. */
  int (*wants_event)(ashlar_tool*, uint32_t number);
  /* An event happens, on this thread, where the library stands: inside a call that was entered, in a call that no tool
   * wants, or on a thread of the library's own. The library holds locks, and other threads may be here at once. As
   * enter() it waits for nothing, and it asks the context for the clock alone. */
  void (*event)(ashlar_tool*, const ashlar_tool_event*);
  /* The job runs, and tools.refresh has passed since the last time: the records are read while the ranks write them.
   * Each time it is another process, which ends after it and passes no signal on. Returns 0 when no further sample is
   * wanted. NULL: none is. Under launchers that are not ours it is not called. */
  int (*job_sample)(ashlar_tool*, const ashlar_tool_job*);
  /* How many bytes at the begin of its buffer job_sample() reads of a rank; asked in the rank, once, after create().
   * Those of ranks on other hosts are brought for each sample, the rest for job_end() alone: until then it is zero.
   * NULL: all are read. */
  uint64_t (*sampled)(ashlar_tool*);
} ashlar_tool_ops;

/* A module begins with its table; the component's own data follows. */
struct ashlar_tool {
  const ashlar_tool_ops* ops;
};

#ifdef __cplusplus
}
#endif
#endif
