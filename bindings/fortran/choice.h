#ifndef ASHLAR_FORTRAN_CHOICE_H
#define ASHLAR_FORTRAN_CHOICE_H
/* Choice buffers as C descriptors: what address, count and datatype C is given for a Fortran section.
 *
 *   scalar, contiguous, MPI_BOTTOM ...   as they are: nothing is allocated, nothing is asked
 *   a section that strides describe      a datatype made for the call, which describes the elements that count covers
 *   everything else                      a contiguous copy; what the call changed in it goes back into the section
 */
#include <ISO_Fortran_binding.h>

#include "arrays.h"
#include "pending.h"

/* Flags of a buffer: whether the call writes it; whether a copy cannot stand for it. */
enum { F_IN = 0, F_OUT = 1, F_NO_COPY = 2 };
/* What closing it has to do. */
enum { F_NOTHING = 0, F_TYPE_MADE = 1, F_COPIED = 2 };

struct f_copy;
struct f_choice {
  void* base;    /* as Fortran has it */
  void* address; /* these three as C takes them */
  MPI_Count count;
  MPI_Datatype type;
  int flags, work;
  struct f_copy* copy;
};

/* Where a section stands, for what is said about it. */
struct f_place {
  const char *call, *argument;
  MPI_Comm comm;
  MPI_Win win;
};

#pragma GCC visibility push(hidden)
/* Copies of sections; one that the call writes remembers how it was. */
struct f_copy* f_copy_of(const CFI_cdesc_t* section, int written);
void* f_copy_address(struct f_copy*);
void f_copy_fetch(struct f_copy*); /* the section may have changed since */
void f_copy_back(struct f_copy*);
void f_copy_free(struct f_copy*);

int f_contiguous(const CFI_cdesc_t* section);

/* The section holds `count` elements of `type`, in array element order; a prefix of it where it is larger. */
void f_open_pair(struct f_choice*, const CFI_cdesc_t*, struct f_place, int* code);
/* The section holds `blocks` times that, one after the other. */
void f_open_blocks(struct f_choice*, const CFI_cdesc_t*, MPI_Count blocks, struct f_place, int* code);
/* A contiguous copy stands for the section. The call reaches `span` bytes of it; negative: what it reaches is not
 * known. */
void f_open_copy(struct f_choice*, const CFI_cdesc_t*, MPI_Count span, struct f_place, int* code);
/* One element of `type`, at the section's first. */
void f_open_element(struct f_choice*, const CFI_cdesc_t*, MPI_Datatype type, struct f_place, int* code);
/* Memory that the call keeps: there is no other form than the contiguous one. */
void f_refuse(struct f_place, int* code);
/* After a blocking call; after one that made a request. */
void f_close(struct f_choice*, int code);
void f_keep(struct f_choice*, MPI_Request request, enum f_life life, int code);

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
#pragma GCC visibility pop

static inline int f_simple(const CFI_cdesc_t* section) {
  if (section->rank == 0) return 1;
  if (section->rank == 1) /* the extent of an array of assumed size is -1 */
    return section->dim[0].sm == (CFI_index_t)section->elem_len || section->dim[0].extent <= 1;
  return f_contiguous(section);
}

#define F_PLAIN(choice, section, n, datatype)       \
  choice.base = (section)->base_addr;               \
  choice.address = f_address((section)->base_addr); \
  choice.count = (n);                               \
  choice.type = (datatype)
#define F_CLOSE(choice) \
  if (choice.work) f_close(&choice, code)
#define F_KEEP(choice, request, life) \
  if (choice.work) f_keep(&choice, request, life, code)
#define F_AT(call, argument, comm, win) ((struct f_place){call, argument, comm, win})

/* Arrays of counts and displacements are of int, MPI_Count or MPI_Aint. */
#define F_NUMBERS(array) ((struct f_numbers){array, sizeof *(array)})
#define F_SPAN_OF_BLOCKS(counts, displs, n, type) f_span_of_blocks(F_NUMBERS(counts), F_NUMBERS(displs), n, type)
#define F_SPAN_OF_TYPES(counts, displs, n, types) f_span_of_types(F_NUMBERS(counts), F_NUMBERS(displs), n, types)
#define F_TOTAL(counts, n) f_sum(F_NUMBERS(counts), n)

#endif
