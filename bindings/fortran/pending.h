#ifndef ASHLAR_FORTRAN_PENDING_H
#define ASHLAR_FORTRAN_PENDING_H
/* What is left to do when a request completes: copies of sections go back into them, arrays that were made for the call
 * are freed. Requests without any, that is nearly all, cost one load in the calls that complete requests. */
#include <stdatomic.h>

#include "numbering.h"

enum f_life { F_ONCE, F_PERSISTENT };
struct f_pending;

/* One thing that a request has pending; a function may be NULL. */
struct f_work {
  void (*start)(void*);   /* a persistent request starts again */
  void (*finish)(void*);  /* the operation is complete */
  void (*release)(void*); /* the request is gone */
};

#pragma GCC visibility push(hidden)
extern atomic_int f_pending_count;
/* The number above which requests go by the rule and have nothing pending: as for all handles, or none is above. */
extern _Atomic(f_int) f_plain_above;
void f_rule_for_requests(void); /* it has changed */
void f_pending_add(MPI_Request, enum f_life, const struct f_work*, void*);
/* Memory that the library may read until the request is complete; it is freed at once where that is known not to be so.
 */
void f_pending_memory(MPI_Request, enum f_life, void*);

/* MPI_Comm_idup: a library may write the communicator's handle when the operation is complete. */
struct f_late_comm {
  MPI_Comm comm;
  f_int* to;
};
struct f_late_comm* f_late_comm(f_int* to, int* code);
void f_late_comm_keep(struct f_late_comm*, MPI_Request, int code);

/* A call that may complete requests takes what they have out of the table first: once a request is complete, another
 * thread may get its handle for a new one. Afterwards it says which are complete; what the others have goes back. */
struct f_pending** f_take(const MPI_Request* requests, MPI_Count n);
void f_complete(struct f_pending** taken, MPI_Count index);
void f_start(struct f_pending** taken, MPI_Count n);  /* persistent requests start again */
void f_forget(struct f_pending** taken, MPI_Count n); /* requests are freed */
void f_give_back(struct f_pending** taken, const MPI_Request* requests, MPI_Count n);
#pragma GCC visibility pop

static inline int f_any_pending(void) { return atomic_load_explicit(&f_pending_count, memory_order_relaxed) != 0; }
#define F_TAKE(name, requests, n) struct f_pending** const name = f_any_pending() ? f_take(requests, n) : NULL

#endif
