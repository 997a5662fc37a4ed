#pragma once
/* The launch framework's interface: how a process finds its job and talks to its fellows before any transport exists.
 * Plain C, no dependence on the kernel, so that a site can bring its own launcher's client. A struct begins with its
 * size; read only the members inside it. One module serves one process; calls come from one thread at a time, but for
 * get() and view(), which threads call when they first talk to a peer. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "framework/plugin/component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_LAUNCH_FRAMEWORK "launch"
#define ASHLAR_LAUNCH_INTERFACE 2

/* Two answers that are no failures: both are asked for again and again while a rank waits, and cost no sentence. Every
 * other result but ASHLAR_OK is a failure, made with ashlar_fail_with(). */
enum {
  ASHLAR_LAUNCH_NOT_FOUND = 16, /* get, view: the rank has published nothing under this key, or not yet */
  ASHLAR_LAUNCH_TIMED_OUT = 17  /* fence, barrier: not every rank has entered in time; call again to go on waiting */
};

/* Bits of the capabilities in a component's answer to query(). The kernel asks for these, never for a component's name.
 */
enum {
  ASHLAR_LAUNCH_IMMEDIATE = 1u << 0,  /* what put() publishes is readable at once: no fence is needed before get() */
  ASHLAR_LAUNCH_OBSERVABLE = 1u << 1, /* what put() publishes can be read from outside the job, by ashlar_info --pid,
                                         and costs the other ranks nothing */
  ASHLAR_LAUNCH_SHOWS_ABORT = 1u << 2 /* the launcher shows the user the text of abort(), so the rank need not */
};

/* What connect() finds out. Everything it points to belongs to the module and lives until destroy. */
typedef struct ashlar_job {
  size_t size;
  char job_id[64];      /* the same text in every rank, different for every job of this machine */
  uint64_t cookie;      /* the same in every rank, hard to guess; to know one's fellows on a wire */
  uint32_t rank, ranks; /* in this job's MPI_COMM_WORLD */
  uint32_t local_rank, local_size;
  uint32_t node, nodes;         /* index of this node, and how many there are */
  uint32_t appnum;              /* which colon-separated segment of the command line (MPI_APPNUM) */
  uint32_t universe_size;       /* MPI_UNIVERSE_SIZE; 0: the launcher does not say */
  const uint32_t* node_of_rank; /* `ranks` entries; NULL: every rank is on this node */
  const uint32_t* local_peers;  /* `local_size` world ranks of this node, ascending; NULL: 0, 1, 2, ... */
  uint32_t oversubscribed;      /* 1: more ranks than cores on this node, so waiting should yield at once */
  uint32_t bound;               /* 1: the launcher bound this process to a part of the node */
  int shared_fd;                /* memfd that every rank of this node holds, empty at first, which they may grow and
                                   map for their own purposes; -1: none. Close-on-exec; the module closes it. */
  const char* params;           /* the merged parameters as the launcher hands them down; NULL: read them yourself */
  size_t params_bytes;          /* without the terminating zero, which is there */
  const char* launcher;         /* for people: "Ashlar mpiexec, process 4711", "Slurm step 12.0 through PMIx 4.2.2" */
  const char* placement;        /* for people: where this rank is bound and why, or why not; may be "" */
  /* Memory of this rank that is there when the rank is gone: the launcher shows it to the tools at the end of the job.
   * NULL: none. Page-aligned; another process that was this rank before may have written it. */
  void* tool_memory;
  uint64_t tool_bytes;
  /* Of a job that a running one has started: its name for people ("1", "1.2"), and where the processes that started it
   * listen (MPI_Comm_get_parent), which is a secret. "" or NULL: of no such job. */
  const char* name;
  const char* parent_port;
  const char* unused;        /* earlier: which names of MPI_Publish_name the process sees; not looked at */
  uint32_t outlives_ranks;   /* 1: the job may go on when a rank has failed; the others then poll() for it */
  uint32_t starts_elsewhere; /* 1: processes that this one starts may run on other hosts than those of the job */
} ashlar_job;

typedef struct ashlar_launch ashlar_launch; /* a module; its first member is the ops pointer */

/* Tells that `rank` ended without MPI_Finalize. Called from poll(), fence() and barrier() only. */
typedef void ashlar_launch_peer_failed(void* context, uint32_t rank, const char* how);

typedef struct ashlar_launch_ops {
  size_t size;

  /* Joins the job. *job is set on success and stays valid until destroy. Called once. */
  ashlar_result (*connect)(ashlar_launch* self, const ashlar_job** job);

  /* Publishes `bytes` bytes under `key` for the other ranks; seen by them after the next fence that both enter, and
   * before it with ASHLAR_LAUNCH_IMMEDIATE.
   * A key is published once: launchers cache what they have handed out. Fails when the launcher's limit is reached. */
  ashlar_result (*put)(ashlar_launch* self, const char* key, const void* blob, size_t bytes);

  /* Collective over the job: returns when every rank has entered it, and then all that was put before is readable.
   * `timeout_ms` < 0 waits for ever. Fails with ASHLAR_ERR_PROC_ABORTED and its name when a rank that takes part has
   * ended. */
  ashlar_result (*fence)(ashlar_launch* self, int64_t timeout_ms);

  /* Reads what `rank` published: *bytes is the buffer's size on entry, the blob's size on return; fails with
   * ASHLAR_ERR_TRUNCATE when the blob is the larger one. Never waits for the rank itself; may ask a server. */
  ashlar_result (*get)(ashlar_launch* self, uint32_t rank, const char* key, void* buffer, size_t* bytes);

  /* The same without a copy. The view lives until finalize. NULL: this launcher cannot. */
  ashlar_result (*view)(ashlar_launch* self, uint32_t rank, const char* key, const void** blob, size_t* bytes);

  /* As fence, without publishing. */
  ashlar_result (*barrier)(ashlar_launch* self, int64_t timeout_ms);

  /* The failure of the fence or barrier that answered TIMED_OUT last, with the ranks that are missing as far as the
   * launcher knows them. */
  ashlar_result (*report_timeout)(ashlar_launch* self);

  /* Host name of a rank as its launcher knows it, never looked up; NULL: unknown. */
  const char* (*host_of)(ashlar_launch* self, uint32_t rank);

  /* The one listener for failed peers from now on, and the call that polls for them: cheap, never blocks. */
  void (*on_peer_failure)(ashlar_launch* self, ashlar_launch_peer_failed* listener, void* context);
  void (*poll)(ashlar_launch* self);

  /* Tells the launcher that MPI is initialised: from now on ending without finalize() is a failure of the job. */
  ashlar_result (*initialized)(ashlar_launch* self);

  /* Ends the whole job with `code`, showing `text` (may be NULL) to the user. Does not return when the launcher can
   * end this process; the caller exits by itself if it does. */
  void (*abort)(ashlar_launch* self, int code, const char* text);

  /* Leaves the job: not collective, nothing else but destroy may follow. */
  ashlar_result (*finalize)(ashlar_launch* self);

  /* Questions from outside about what this process is doing. `news` is a word that changes with each question; the
   * process polls it whenever it makes progress, and may change it for its own purposes. NULL: no questions here.
   * asked() says whether a question is open. answer() gives the account (account.h of the kernel); `settled` 0: a
   * better one may follow. */
  uint32_t* (*news)(ashlar_launch* self);
  int (*asked)(ashlar_launch* self);
  void (*answer)(ashlar_launch* self, const char* account, size_t bytes, int settled);

  /* The process sets that the launcher knows by names of its own, as "NAME=RANKS;NAME=RANKS" with lists of ranks such
   * as 0-3,7. May ask a server; the text belongs to the module. NULL: there are none. The member may be NULL. */
  const char* (*process_sets)(ashlar_launch* self);

  /* Tells whether the process is between MPI_Init and MPI_Finalize, and how many sessions are open. With neither it may
   * end without finalize(), and may come back. For the launcher's sentences; the member may be NULL. */
  void (*in_use)(ashlar_launch* self, int world, unsigned sessions);

  /* Gives `take` the parameters that connect() would give in ashlar_job::params, without joining the job. 0: there are
   * none, or they cannot be read; connect() will say why. The member may be NULL: the parameters come from files. */
  int (*parameters)(ashlar_launch* self, void (*take)(void* context, const char* params), void* context);

  /* Publishes when a call of this process last got on (CLOCK_MONOTONIC): a wait began, or something happened in one;
   * and whether a call waits now. For what watches the job from outside; the member may be NULL. */
  void (*moved)(ashlar_launch* self, uint64_t moved_ns, int waits);
  /* Publishes the account of the newest wait, at most 1 KiB, unasked; the member may be NULL. */
  void (*waits)(ashlar_launch* self, const char* account, size_t bytes);

  /* As asked() and answer(), for the question what this process's variables are (variables.h of the kernel), at most
   * 16 KiB. `news` changes with it, too. The members may be NULL. */
  int (*variables_asked)(ashlar_launch* self);
  void (*variables)(ashlar_launch* self, const char* text, size_t bytes);

  /* A connection, close-on-exec, to a launcher that starts a further job for this one: a stream socket with the
   * requests and answers of further_job.h. The member may be NULL: the library starts a launcher of its own. */
  ashlar_result (*further_job)(ashlar_launch* self, int* socket);
  /* Tells whether this process has communicators with processes of other jobs, so that a failure there is one of this
   * job, too. The member may be NULL. */
  void (*connected)(ashlar_launch* self, int others);
  /* A connection, close-on-exec, to the names that the launcher keeps for its jobs (MPI_Publish_name): a stream socket
   * with the requests and answers of name_service.h. The member may be NULL: names are those of the user on this host.
   */
  ashlar_result (*name_service)(ashlar_launch* self, int* socket);
} ashlar_launch_ops;

struct ashlar_launch {
  const ashlar_launch_ops* ops;
};

/* get() for a component that has the blob at hand: copies it, or fails as get() does. */
static inline ashlar_result ashlar_launch_copy(const ashlar_host* host, uint32_t rank, const char* key,
                                               const void* blob, size_t blob_bytes, void* buffer, size_t* bytes) {
  const size_t room = *bytes;
  *bytes = blob_bytes;
  if (blob_bytes > room) {
    const ashlar_fact sizes[4] = {{"rank", NULL, (int64_t)rank},
                                  {"key", key, 0},
                                  {"bytes_got", NULL, (int64_t)blob_bytes},
                                  {"bytes_wanted", NULL, (int64_t)room}};
    return ashlar_fail_with(host, ASHLAR_ERR_TRUNCATE, "launch.long_value", sizes, 4);
  }
  if (blob_bytes) memcpy(buffer, blob, blob_bytes);
  return ASHLAR_OK;
}

#ifdef __cplusplus
}
#endif
