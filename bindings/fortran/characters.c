#include "characters.h"

struct f_span f_trim(const char* text, MPI_Count length, enum f_ends ends) {
  struct f_span span = {text, length};
  while (span.length > 0 && span.first[span.length - 1] == ' ') --span.length;
  for (; ends == F_BOTH_ENDS && span.length > 0 && *span.first == ' '; --span.length) ++span.first;
  return span;
}

void f_string_out(char* to, f_length length, const char* text) {
  const size_t all = (size_t)length, used = strnlen(text, all);
  memcpy(to, text, used);
  memset(to + used, ' ', all - used);
}

int f_asked(int length, f_length room) {
  if (length <= 0) return 0;
  return (int)f_least(length, (MPI_Count)room) + 1;
}

/* One allocation: the pointers, then the characters. `stride` is the distance between the rows. */
static char** rows_of(const char* rows, f_length length, int many, size_t stride, int* code) {
  size_t bytes = sizeof(char*);
  int count = 0;
  for (; many < 0 || count < many; ++count) {
    const struct f_span row = f_trim(rows + (size_t)count * stride, (MPI_Count)length, F_BOTH_ENDS);
    if (many < 0 && row.length == 0) break;
    bytes += sizeof(char*) + (size_t)row.length + 1;
  }
  char** const made = malloc(bytes);
  if (!made) {
    *code = MPI_ERR_NO_MEM;
    return NULL;
  }
  char* next = (char*)(made + count + 1);
  for (int i = 0; i < count; ++i) {
    const struct f_span row = f_trim(rows + (size_t)i * stride, (MPI_Count)length, F_BOTH_ENDS);
    f_string_in(next, row.length + 1, row);
    made[i] = next;
    next += row.length + 1;
  }
  made[count] = NULL;
  return made;
}

char** f_strings(const char* rows, f_length length, int many, int* code) {
  if (F_IS(rows, argv_null, ARGV_NULL)) return MPI_ARGV_NULL;
  return rows_of(rows, length, many, (size_t)length, code);
}

char*** f_string_lists(const char* rows, f_length length, int count, int* code) {
  if (F_IS(rows, argvs_null, ARGVS_NULL) || count <= 0) return MPI_ARGVS_NULL;
  char*** const lists = calloc((size_t)count, sizeof *lists);
  if (!lists) *code = MPI_ERR_NO_MEM;
  for (int i = 0; lists && i < count; ++i)
    lists[i] = rows_of(rows + (size_t)i * (size_t)length, length, -1, (size_t)count * (size_t)length, code);
  return lists;
}

void f_free_string_lists(char*** lists, int count) {
  for (int i = 0; lists && i < count; ++i) free(lists[i]);
  free(lists);
}
