#ifndef ASHLAR_FORTRAN_CHARACTERS_H
#define ASHLAR_FORTRAN_CHARACTERS_H
/* CHARACTER arguments: blanks at the end are no part of a name, and neither are those in front of a key, a value or an
 * argument of a command. */
#include "arrays.h"

enum f_ends { F_END, F_BOTH_ENDS };
struct f_span {
  const char* first;
  MPI_Count length;
};

#pragma GCC visibility push(hidden)
struct f_span f_trim(const char* text, MPI_Count length, enum f_ends ends);
/* Fills all of a CHARACTER variable, with blanks after the text; what does not fit is left away. */
void f_string_out(char* to, f_length length, const char* text);
/* What C is asked for where Fortran asked for `length` characters and has room for `room`. */
int f_asked(int length, f_length room);

/* `many` strings of `length` characters each, or as many as there are before a row of blanks when it is negative; with
 * a null pointer at the end. free() takes back all of it. */
char** f_strings(const char* rows, f_length length, int many, int* code);
/* argv of each of `count` commands: column i of array_of_argv(count, *). */
char*** f_string_lists(const char* rows, f_length length, int count, int* code);
void f_free_string_lists(char*** lists, int count);
#pragma GCC visibility pop

static inline void f_string_in(char* to, MPI_Count room, struct f_span from) {
  if (room <= from.length) return; /* memory is gone, and `code` says so */
  memcpy(to, from.first, (size_t)from.length);
  to[from.length] = '\0';
}

#define F_STRING(name, from, characters, ends)                                   \
  const struct f_span name##_span = f_trim(from, (MPI_Count)(characters), ends); \
  F_ROOM_FOR(char, name, name##_span.length + 1, F_SHORT);                       \
  f_string_in(name, n_##name, name##_span)

#endif
