#define _GNU_SOURCE
#include "attributes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "complain.h"
#include "handles.h"

/* --- cells
 * -------------------------------------------------------------------------------------------------------------- */

struct cell {
  union {
    MPI_Aint address;
    int integer;
  } value;
  unsigned char width, stays;
  int next; /* of the free ones, and of the ones that stay with one hash; -1 at the end */
};

enum { kCells = 1 << 22, kBuckets = 1 << 10 };
static struct cell* cells; /* reserved as a whole with the first; only what is used takes memory */
static int used, free_cells = -1, kept[kBuckets];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of all above, and of `ours` */

static int is_cell(const void* address) {
  const struct cell* const first = __atomic_load_n(&cells, __ATOMIC_ACQUIRE);
  return first && (const struct cell*)address >= first && (const struct cell*)address < first + kCells;
}

static int reserve(void) {
  if (cells) return 1;
  void* const room =
      mmap(NULL, kCells * sizeof *cells, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return 0;
  memset(kept, -1, sizeof kept);
  __atomic_store_n(&cells, room, __ATOMIC_RELEASE);
  return 1;
}

static MPI_Aint value_in(const struct cell* cell) {
  return cell->width == F_INTEGER ? cell->value.integer : cell->value.address;
}

static struct cell* new_cell(MPI_Aint value, enum f_width width) {
  struct cell* cell = NULL;
  if (!reserve()) return NULL;
  if (free_cells >= 0) {
    cell = &cells[free_cells];
    free_cells = cell->next;
  } else if (used < kCells) {
    cell = &cells[used++];
  }
  if (!cell) return NULL;
  memset(cell, 0, sizeof *cell);
  cell->width = (unsigned char)width;
  if (width == F_INTEGER)
    cell->value.integer = (int)value;
  else
    cell->value.address = value;
  return cell;
}

/* One cell for all equal values of keyvals that C made. */
static struct cell* kept_cell(MPI_Aint value, enum f_width width) {
  if (!reserve()) return NULL;
  int* const bucket = &kept[(unsigned long)value * 2654435761u % kBuckets];
  for (int i = *bucket; i >= 0; i = cells[i].next)
    if (cells[i].width == width && value_in(&cells[i]) == value) return &cells[i];
  struct cell* const cell = new_cell(value, width);
  if (!cell) return NULL;
  cell->stays = 1;
  cell->next = *bucket;
  *bucket = (int)(cell - cells);
  return cell;
}

/* --- keyvals of this library
 * -------------------------------------------------------------------------------------------- */

static unsigned char* ours; /* by keyval */
static int known;
static struct f_keyval* states; /* so that a search for leaks finds them in use */

static int is_ours(int keyval) { return keyval >= 0 && keyval < known && ours[keyval]; }

void f_keyval_made(int keyval, struct f_keyval* of) {
  if (keyval < 0) return;
  pthread_mutex_lock(&guard);
  of->next = states;
  states = of;
  if (keyval >= known) {
    const int wanted = 2 * keyval + 64;
    unsigned char* const more = realloc(ours, (size_t)wanted);
    if (more) {
      memset(more + known, 0, (size_t)(wanted - known));
      ours = more;
      known = wanted;
    }
  }
  if (keyval < known) ours[keyval] = 1; /* else its cells stay for good */
  pthread_mutex_unlock(&guard);
}

void f_keyval_freed(int keyval) {
  pthread_mutex_lock(&guard);
  if (is_ours(keyval)) ours[keyval] = 0;
  pthread_mutex_unlock(&guard);
}

void* f_cell_for(MPI_Aint value, enum f_width width, int keyval, const char* call, int* code) {
  pthread_mutex_lock(&guard);
  struct cell* const cell = keyval < 0 || is_ours(keyval) ? new_cell(value, width) : kept_cell(value, width);
  pthread_mutex_unlock(&guard);
  if (!cell)
    *code = f_complain(MPI_COMM_NULL, MPI_WIN_NULL, MPI_ERR_NO_MEM, "%s: more than %d attributes are set from Fortran",
                       call, kCells);
  return cell;
}

void f_cell_free(void* address) {
  struct cell* const cell = address;
  if (!is_cell(cell) || cell->stays) return;
  pthread_mutex_lock(&guard);
  cell->next = free_cells;
  free_cells = (int)(cell - cells);
  pthread_mutex_unlock(&guard);
}

/* Predefined attributes are there as if C had set them: addresses of numbers, but the base of a window itself. */
MPI_Aint f_value_of(void* attribute, int keyval) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *(const int*)attribute;
    case MPI_WIN_SIZE:
      return *(const MPI_Aint*)attribute;
    default:
      return is_cell(attribute) ? value_in(attribute) : (MPI_Aint)(intptr_t)attribute;
  }
}

/* --- copying and deleting
 * ----------------------------------------------------------------------------------------------- */

typedef void copy_wide(f_int*, f_int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, f_logical*, f_int*);
typedef void copy_narrow(f_int*, f_int*, f_int*, f_int*, f_int*, f_logical*, f_int*);
typedef void erase_wide(f_int*, f_int*, MPI_Aint*, MPI_Aint*, f_int*);
typedef void erase_narrow(f_int*, f_int*, f_int*, f_int*, f_int*);

static int copy(f_int object, int keyval, struct f_keyval* of, void* in, void* out, int* flag) {
  MPI_Aint value = f_value_of(in, keyval), copied = 0;
  f_int key = keyval, ierror = MPI_SUCCESS;
  f_logical yes = F_LOGICAL(0);
  if (of->width == F_ADDRESS) {
    ((copy_wide*)of->copy)(&object, &key, &of->state, &value, &copied, &yes, &ierror);
  } else {
    f_int state = (f_int)of->state, narrow = (f_int)value, narrow_copied = 0;
    ((copy_narrow*)of->copy)(&object, &key, &state, &narrow, &narrow_copied, &yes, &ierror);
    copied = narrow_copied;
  }
  int code = F_INT(ierror);
  *flag = code == MPI_SUCCESS && F_TRUTH(yes);
  if (*flag) *(void**)out = f_cell_for(copied, of->width, -1, "a copy of an attribute", &code);
  return code;
}

static int erase(f_int object, int keyval, void* attribute, struct f_keyval* of) {
  MPI_Aint value = f_value_of(attribute, keyval);
  f_int key = keyval, ierror = MPI_SUCCESS;
  if (of->width == F_ADDRESS) {
    ((erase_wide*)of->erase)(&object, &key, &value, &of->state, &ierror);
  } else {
    f_int state = (f_int)of->state, narrow = (f_int)value;
    ((erase_narrow*)of->erase)(&object, &key, &narrow, &state, &ierror);
  }
  if (ierror == MPI_SUCCESS) f_cell_free(attribute);
  return F_INT(ierror);
}

#define FUNCTIONS_OF(name, Type, convert)                                                     \
  int f_##name##_copy(Type object, int keyval, void* state, void* in, void* out, int* flag) { \
    return copy(convert(object), keyval, state, in, out, flag);                               \
  }                                                                                           \
  int f_##name##_delete(Type object, int keyval, void* attribute, void* state) {              \
    return erase(convert(object), keyval, attribute, state);                                  \
  }
FUNCTIONS_OF(comm, MPI_Comm, f_comm_int)
FUNCTIONS_OF(type, MPI_Datatype, f_datatype_int)
FUNCTIONS_OF(win, MPI_Win, f_win_int)
