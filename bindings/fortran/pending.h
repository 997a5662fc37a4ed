#ifndef ASHLAR_FORTRAN_PENDING_H
#define ASHLAR_FORTRAN_PENDING_H
/* What is left to do when a request completes: copies of sections go back into them. Requests without any, that is
 * nearly all, cost one load in the calls that complete requests. */
#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdatomic.h>

enum f_life { F_ONCE, F_PERSISTENT };
struct f_copy;
struct f_pending;

#pragma GCC visibility push(hidden)
struct f_copy* f_copy_of(const CFI_cdesc_t* section, int written);
void* f_copy_address(struct f_copy*);
void f_copy_fetch(struct f_copy*); /* the section may have changed since */
void f_copy_back(struct f_copy*);
void f_copy_free(struct f_copy*);

extern atomic_int f_pending_count;
void f_pending_add(MPI_Request, enum f_life, struct f_copy*);

/* A call that may complete requests takes what they have out of the table first: once a request is complete, another
 * thread may get its handle for a new one. Afterwards it says which are complete; what the others have goes back. */
struct f_pending** f_take(const MPI_Request* requests, MPI_Count n);
void f_complete(struct f_pending** taken, MPI_Count index);
void f_start(struct f_pending** taken, MPI_Count n);  /* persistent requests start again */
void f_forget(struct f_pending** taken, MPI_Count n); /* requests are freed */
void f_give_back(struct f_pending** taken, const MPI_Request* requests, MPI_Count n);
#pragma GCC visibility pop

#define F_TAKE(name, requests, n) \
  struct f_pending** const name = \
      atomic_load_explicit(&f_pending_count, memory_order_relaxed) ? f_take(requests, n) : NULL

#endif
