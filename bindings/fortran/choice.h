#ifndef ASHLAR_FORTRAN_CHOICE_H
#define ASHLAR_FORTRAN_CHOICE_H
/* Choice buffers as C descriptors: what address, count and datatype C is given for a Fortran section.
 *
 *   scalar, contiguous, MPI_BOTTOM ...   as they are: nothing is allocated, nothing is asked; none of this is called
 *   a section that strides describe      a datatype for the elements that count covers: that of an earlier call
 *                                        (kept.h), or a new one
 *   everything else                      a contiguous copy; what the call changed in it goes back into the section
 */
#include "arrays.h"
#include "pending.h"
#include "section.h"

/* Flags of a buffer: whether the call writes it; whether a copy cannot stand for it. */
enum { F_IN = 0, F_OUT = 1, F_NO_COPY = 2 };
/* What closing it has to do. */
enum { F_NOTHING = 0, F_TYPE_MADE = 1, F_TYPE_KEPT = 2, F_COPIED = 3 };

/* A call that has a section with gaps: its name, the objects on whose error handler it complains, where it has them,
 * and what it came to. */
struct f_call {
  const char* name;
  const f_int *comm, *win;
  f_int code;
};

/* What the entry point for addresses gets in place of a section. */
struct f_copy;
struct f_choice {
  void* address;
  MPI_Count count;
  f_count small; /* the same */
  f_int type;
  int work;
  MPI_Datatype made;
  struct f_copy* copy;
};

#pragma GCC visibility push(hidden)
/* Copies of sections; one that the call writes remembers how it was. */
struct f_copy* f_copy_of(const f_section* section, int written);
void* f_copy_address(struct f_copy*);
void f_copy_fetch(struct f_copy*); /* the section may have changed since */
void f_copy_back(struct f_copy*);
void f_copy_free(struct f_copy*);

/* Each of these changes `choice`, or complains and sets call->code. Nothing is done after a complaint.
 *
 * The section holds the choice's count of elements of its type, in array element order; a prefix of it where it is
 * larger. */
void f_open_pair(struct f_call*, struct f_choice*, const f_section*, const char* argument, int flags);
/* The section holds `blocks` times that, one after the other. */
void f_open_blocks(struct f_call*, struct f_choice*, const f_section*, const char* argument, int flags,
                   MPI_Count blocks);
/* A contiguous copy stands for the section. The call reaches `span` bytes of it; negative: what it reaches is not
 * known. */
void f_open_copy(struct f_call*, struct f_choice*, const f_section*, const char* argument, int flags, MPI_Count span);
/* One element of `type`, at the section's first. */
void f_open_element(struct f_call*, const f_section*, const char* argument, MPI_Datatype type);
/* Memory that the call keeps: there is no other form than the contiguous one. */
void f_refuse(struct f_call*, const char* argument);
/* After a blocking call; after one that made a request, unless it failed. */
void f_close(struct f_choice*);
void f_keep(struct f_choice*, const struct f_call*, const f_int* request, enum f_life life);
int f_in_place(const f_section* section);

/* Bytes from the first to behind the last that `count` elements reach; negative where they lie before the address. */
MPI_Count f_span(MPI_Count count, MPI_Datatype type);
/* The same of blocks: displacements in elements of one type, or in bytes with a type for each. */
struct f_numbers {
  const void* array;
  size_t size;
};
MPI_Count f_span_of_blocks(struct f_numbers counts, struct f_numbers displs, MPI_Count n, MPI_Datatype type);
MPI_Count f_span_of_types(struct f_numbers counts, struct f_numbers displs, MPI_Count n, const f_int* types);
MPI_Count f_sum(struct f_numbers counts, MPI_Count n);
MPI_Count f_number(struct f_numbers, MPI_Count i);
#pragma GCC visibility pop

#endif
