/* Contiguous copies of sections. One that the call writes has a second copy, which remembers how it was: what differs
 * afterwards is what MPI wrote, to the byte, and only that goes back. The program may use what lies between meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "choice.h"

struct f_copy {
  char *data, *before; /* before: NULL when the call only reads */
  char* base;
  size_t element, bytes;
  int rank;
  struct {
    ptrdiff_t extent, distance;
  } dim[F_RANKS];
};

typedef void visit(struct f_copy*, char* in_section, size_t at);

static void fetch(struct f_copy* copy, char* in_section, size_t at) {
  memcpy(copy->data + at, in_section, copy->element);
}

static void store(struct f_copy* copy, char* in_section, size_t at) {
  if (memcmp(copy->data + at, copy->before + at, copy->element) == 0) return;
  for (size_t i = at; i < at + copy->element; ++i)
    if (copy->data[i] != copy->before[i]) in_section[i - at] = copy->data[i];
}

/* In array element order. */
static void each_element(struct f_copy* copy, visit* what) {
  ptrdiff_t index[F_RANKS] = {0};
  char* at = copy->base;
  for (size_t done = 0; done < copy->bytes; done += copy->element) {
    what(copy, at, done);
    for (int d = 0; d < copy->rank; ++d) {
      at += copy->dim[d].distance;
      if (++index[d] < copy->dim[d].extent) break;
      at -= copy->dim[d].distance * copy->dim[d].extent;
      index[d] = 0;
    }
  }
}

struct f_copy* f_copy_of(const f_section* section, int written) {
  struct f_copy* copy = malloc(sizeof *copy);
  if (!copy) return NULL;
  *copy = (struct f_copy){
      .base = section->base_addr, .element = section->elem_len, .bytes = section->elem_len, .rank = section->rank};
  for (int d = 0; d < copy->rank; ++d) {
    copy->dim[d].extent = f_extent(section, d);
    copy->dim[d].distance = f_distance(section, d);
    copy->bytes *= (size_t)copy->dim[d].extent;
  }
  copy->data = malloc(copy->bytes > 0 ? copy->bytes : 1);
  copy->before = written ? malloc(copy->bytes > 0 ? copy->bytes : 1) : NULL;
  if (!copy->data || (written && !copy->before)) {
    f_copy_free(copy);
    return NULL;
  }
  f_copy_fetch(copy);
  return copy;
}

void* f_copy_address(struct f_copy* copy) { return copy->data; }

void f_copy_fetch(struct f_copy* copy) {
  each_element(copy, fetch);
  if (copy->before) memcpy(copy->before, copy->data, copy->bytes);
}

void f_copy_back(struct f_copy* copy) {
  if (copy->before) each_element(copy, store);
}

void f_copy_free(struct f_copy* copy) {
  free(copy->data);
  free(copy->before);
  free(copy);
}
