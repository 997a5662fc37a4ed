#ifndef ASHLAR_FORTRAN_SECTIONS_H
#define ASHLAR_FORTRAN_SECTIONS_H
/* A call of mpi_f08 of which a buffer is more than a scalar or a dense row. One function serves all procedures: each
 * has a shape, which says where in its list of arguments the buffers are, and what describes them. All arguments are
 * addresses. */
#include "choice.h"

/* What describes a buffer, by the numbers of arguments `count`, `displs` and `type`. */
enum f_way {
  F_ADDRESS,         /* nothing: the call takes the address and no more */
  F_PAIR,            /* count and datatype */
  F_PEERS,           /* the same for each rank */
  F_PARTITIONS,      /* the same for each of *displs partitions */
  F_OPERAND,         /* a reduction of count elements */
  F_SHARE,           /* a reduction of which each rank gets count elements */
  F_SHARES,          /* a reduction of which each rank gets its own count */
  F_BLOCKS,          /* arrays of counts and displacements, of one datatype */
  F_BLOCKS_OF_TYPES, /* arrays of counts, displacements in bytes, and datatypes */
  F_BYTES,           /* count bytes */
  F_ELEMENT,         /* one element */
  F_FIXED            /* memory that the call keeps */
};
/* More flags of a buffer: it counts at the root alone; ranks are neighbours; numbers that are MPI_Count and MPI_Aint in
 * the small form too. */
enum { F_AT_ROOT = 4, F_INDEGREE = 8, F_OUTDEGREE = 16, F_WIDE_COUNT = 32, F_WIDE_DISPLS = 64 };

#define F_ABSENT (-1)
enum { F_MOST_BUFFERS = 3 };

struct f_shape {
  char name[32];
  signed char comm, win, root, request, life, ierror, arguments, buffers;
  struct f_buffer {
    char name[14];
    signed char at, way, flags, count, displs, type;
  } buffer[F_MOST_BUFFERS];
};

/* The entry point for addresses. */
typedef void f_plain();

#pragma GCC visibility push(hidden)
void f_sections(const struct f_shape*, f_plain* plain, int large, void** arguments);
#pragma GCC visibility pop

#define F_SECTIONS(procedure, plain, large, ...) \
  f_sections(&f_shape_##procedure, (f_plain*)plain, large, (void*[]){__VA_ARGS__})

#endif
