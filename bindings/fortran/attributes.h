#ifndef ASHLAR_FORTRAN_ATTRIBUTES_H
#define ASHLAR_FORTRAN_ATTRIBUTES_H
/* Attributes between languages. MPI keeps an address; a value that Fortran sets lies in a cell, and what is kept is the
 * cell's address: C reads `MPI_Aint*` or, of MPI_Attr_put, `int*` there, as the standard has it. Cells lie in one range
 * of addresses, so that Fortran knows a cell from an address that C set. */
#include "callbacks.h"

enum f_width { F_ADDRESS, F_INTEGER };

#pragma GCC visibility push(hidden)
/* What a keyval made in Fortran calls. */
struct f_keyval {
  f_procedure *copy, *erase;
  enum f_width width; /* of values and state: INTEGER in MPI_Keyval_create */
  MPI_Aint state;
  struct f_keyval* next; /* all that were made */
};

/* A cell with the value; for a keyval made in C one that stays for good, because C copies and forgets addresses freely.
 * NULL with *code set when there is none left. */
void* f_cell_for(MPI_Aint value, enum f_width width, int keyval, const char* call, int* code);
void f_cell_free(void* cell); /* nothing when it is no cell, or one that stays */
/* The value as Fortran sees it. */
MPI_Aint f_value_of(void* attribute, int keyval);

/* `of` stays from now on: attributes outlive MPI_Comm_free_keyval, and MPI does not say when the last is gone. */
void f_keyval_made(int keyval, struct f_keyval* of);
void f_keyval_freed(int keyval);

/* The C functions of a keyval made in Fortran, whose extra state is a struct f_keyval. */
int f_comm_copy(MPI_Comm, int, void*, void*, void*, int*);
int f_comm_delete(MPI_Comm, int, void*, void*);
int f_type_copy(MPI_Datatype, int, void*, void*, void*, int*);
int f_type_delete(MPI_Datatype, int, void*, void*);
int f_win_copy(MPI_Win, int, void*, void*, void*, int*);
int f_win_delete(MPI_Win, int, void*, void*);
#pragma GCC visibility pop

#endif
