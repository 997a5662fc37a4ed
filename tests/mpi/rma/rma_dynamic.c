/* Windows whose memory comes and goes: many regions, of malloc and of MPI_Alloc_mem, on the stack and in static memory;
 * regions that touch; memory used again after it was detached; a list that all processes append to. */
#include <stddef.h>

#include "rma.h"

static MPI_Win dynamic_window(MPI_Comm comm) {
  MPI_Win win;
  MUST(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
  return win;
}

static MPI_Aint address_of(const void* p) {
  MPI_Aint address;
  MUST(MPI_Get_address(p, &address));
  return address;
}

/* Addresses travel by messages; each process attaches `n` regions, and its left neighbour writes to all of them. */
static void many_regions(int n) {
  MPI_Win win = dynamic_window(MPI_COMM_WORLD);
  char** const regions = check_alloc((size_t)n * sizeof *regions);
  MPI_Aint* const own = check_alloc((size_t)n * sizeof *own);
  MPI_Aint* const there = check_alloc((size_t)n * sizeof *there);
  for (int i = 0; i < n; i++) {
    const size_t bytes = 16 + (size_t)(i % 5) * 40;
    if (i % 3 == 0)
      MUST(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &regions[i]));
    else
      regions[i] = check_alloc(bytes);
    memset(regions[i], 0, bytes);
    MUST(MPI_Win_attach(win, regions[i], (MPI_Aint)bytes));
    own[i] = address_of(regions[i]);
  }
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  MUST(MPI_Sendrecv(own, n, MPI_AINT, left, 1, there, n, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
  int64_t* const values = check_alloc((size_t)n * sizeof *values);
  for (int i = n - 1; i >= 0; i--) {
    values[i] = check_rank * 100000 + i;
    MUST(MPI_Put(&values[i], 1, MPI_INT64_T, right, MPI_Aint_add(there[i], 8), 1, MPI_INT64_T, win));
  }
  MUST(MPI_Win_unlock(right, win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win));
  MUST(MPI_Win_unlock(check_rank, win));
  for (int i = 0; i < n; i++) CHECK_EQ(((int64_t*)regions[i])[1], left * 100000 + i);
  MUST(MPI_Barrier(MPI_COMM_WORLD));

  /* Half of them go, in another order; the rest can still be reached, also those beside. */
  for (int i = 1; i < n; i += 2) MUST(MPI_Win_detach(win, regions[(i * 3) % n | 1]));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_Win_fence(0, win));
  for (int i = 0; i < n; i += 2) {
    values[i]++;
    MUST(MPI_Accumulate(&values[i], 1, MPI_INT64_T, right, there[i], 1, MPI_INT64_T, MPI_SUM, win));
  }
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  for (int i = 0; i < n; i += 2) CHECK_EQ(((int64_t*)regions[i])[0], left * 100000 + i + 1);
  /* What is still attached goes with the window. */
  MUST(MPI_Win_free(&win));
  for (int i = 0; i < n; i++)
    if (i % 3 == 0)
      MUST(MPI_Free_mem(regions[i]));
    else
      free(regions[i]);
  free(regions), free(own), free(there), free(values);
}

/* The same memory, attached and detached again and again, of changing sizes, while the others know of it by messages.
 */
static void used_again(int rounds) {
  static char fixed[4096];
  MPI_Win win = dynamic_window(MPI_COMM_WORLD);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < rounds; i++) {
    const int at = i * 8 % 1024, bytes = 64 + i % 7 * 100;
    memset(fixed, 0, sizeof fixed);
    MUST(MPI_Win_attach(win, fixed + at, bytes));
    MPI_Aint own = address_of(fixed + at), there;
    MUST(MPI_Sendrecv(&own, 1, MPI_AINT, left, 1, &there, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    char data[664];
    pattern_fill(data, (size_t)bytes, (unsigned)(check_rank + i));
    MUST(MPI_Win_lock_all(0, win));
    MUST(MPI_Put(data, bytes, MPI_BYTE, right, there, bytes, MPI_BYTE, win));
    MUST(MPI_Win_flush(right, win));
    char back[664];
    MUST(MPI_Get(back, bytes, MPI_BYTE, right, there, bytes, MPI_BYTE, win));
    MUST(MPI_Win_unlock_all(win));
    CHECK_PATTERN(back, (size_t)bytes, (unsigned)(check_rank + i));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Win_sync(win));
    CHECK_PATTERN(fixed + at, (size_t)bytes, (unsigned)(left + i));
    CHECK(fixed[at + bytes] == 0);
    MUST(MPI_Win_detach(win, fixed + at));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  MUST(MPI_Win_free(&win));
}

/* An operation may cross from one region into the next when the two touch and were attached as one; parts of a region
 * are reached by MPI_Aint_add and MPI_Aint_diff. Neighbours that touch are no overlap. */
static void neighbours(void) {
  MPI_Win win = dynamic_window(MPI_COMM_WORLD);
  char* const memory = check_alloc(3000);
  memset(memory, 0, 3000);
  MUST(MPI_Win_attach(win, memory + 1000, 1000));
  MUST(MPI_Win_attach(win, memory, 1000));
  MUST(MPI_Win_attach(win, memory + 2000, 1000));
  MPI_Aint* const all = check_alloc((size_t)check_size * sizeof *all);
  const MPI_Aint own = address_of(memory);
  MUST(MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
  CHECK(MPI_Aint_diff(address_of(memory + 2000), own) == 2000);
  MUST(MPI_Win_fence(0, win));
  char ones[1000];
  memset(ones, check_rank + 1, sizeof ones);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < 3; i++)
    MUST(MPI_Put(ones, 1000, MPI_BYTE, right, MPI_Aint_add(all[right], 1000 * i), 1000, MPI_BYTE, win));
  MUST(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  for (int i = 0; i < 3000; i++)
    if (memory[i] != (char)(left + 1)) {
      CHECK(0, "byte %d", i);
      break;
    }
  MUST(MPI_Win_detach(win, memory));
  MUST(MPI_Win_detach(win, memory + 1000));
  MUST(MPI_Win_detach(win, memory + 2000));
  MUST(MPI_Win_attach(win, memory, 3000)); /* now as one */
  MUST(MPI_Win_free(&win));
  free(memory);
  free(all);
}

/* Two windows over the same memory; and a window with regions in one process alone. */
static void two_windows(void) {
  int64_t cell[4] = {0};
  MPI_Win a = dynamic_window(MPI_COMM_WORLD), b = dynamic_window(MPI_COMM_WORLD);
  if (check_rank == 0) {
    MUST(MPI_Win_attach(a, cell, sizeof cell));
    MUST(MPI_Win_attach(b, cell, sizeof cell));
  }
  MPI_Aint there = address_of(cell);
  MUST(MPI_Bcast(&there, 1, MPI_AINT, 0, MPI_COMM_WORLD));
  const int64_t one = 1;
  for (int i = 0; i < 2; i++) {
    const MPI_Win win = i ? b : a;
    MUST(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    MUST(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, there + 8, 1, MPI_INT64_T, MPI_SUM, win));
    MUST(MPI_Win_unlock(0, win));
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, a));
  MUST(MPI_Win_unlock(check_rank, a));
  if (check_rank == 0) CHECK_EQ(cell[1], 2 * check_size);
  MUST(MPI_Win_free(&a));
  MUST(MPI_Win_free(&b));
}

/* ---- a list that all append to -------------------------------------------------------------------------------------
 */

typedef struct {
  int64_t rank; /* -1: nothing */
  MPI_Aint address;
} Pointer;

typedef struct {
  int64_t owner, number;
  int64_t next_rank; /* set by compare and swap, from -1 */
  MPI_Aint next_address;
} Element;

/* Each process appends elements of its own memory, attached as they come; each takes hold of the end by a compare and
 * swap of the last element's next_rank, and then writes the address. */
static void list(int each) {
  MPI_Win win = dynamic_window(MPI_COMM_WORLD);
  Element** const own = check_alloc((size_t)(each + 1) * sizeof *own);
  Pointer head = {.rank = 0, .address = 0};
  if (check_rank == 0) {
    MUST(MPI_Alloc_mem(sizeof(Element), MPI_INFO_NULL, &own[each]));
    *own[each] = (Element){.owner = -1, .number = -1, .next_rank = -1, .next_address = 0};
    MUST(MPI_Win_attach(win, own[each], sizeof(Element)));
    head.address = address_of(own[each]);
  }
  MUST(MPI_Bcast(&head.address, 1, MPI_AINT, 0, MPI_COMM_WORLD));
  MUST(MPI_Win_lock_all(0, win));
  Pointer tail = head;
  for (int i = 0; i < each; i++) {
    own[i] = check_alloc(sizeof(Element));
    *own[i] = (Element){.owner = check_rank, .number = i, .next_rank = -1, .next_address = 0};
    MUST(MPI_Win_attach(win, own[i], sizeof(Element)));
    MUST(MPI_Win_sync(win));
    const Pointer mine = {.rank = check_rank, .address = address_of(own[i])};
    const int64_t none = -1;
    for (;;) {
      int64_t next_rank = -2;
      MUST(MPI_Compare_and_swap(&mine.rank, &none, &next_rank, MPI_INT64_T, (int)tail.rank,
                                MPI_Aint_add(tail.address, offsetof(Element, next_rank)), win));
      MUST(MPI_Win_flush((int)tail.rank, win));
      const MPI_Aint link = MPI_Aint_add(tail.address, offsetof(Element, next_address));
      if (next_rank == -1) {
        MUST(MPI_Accumulate(&mine.address, 1, MPI_AINT, (int)tail.rank, link, 1, MPI_AINT, MPI_REPLACE, win));
        MUST(MPI_Win_flush((int)tail.rank, win));
        tail = mine;
        break;
      }
      MPI_Aint next = 0; /* its owner is about to write it */
      while (next == 0) {
        MUST(MPI_Fetch_and_op(NULL, &next, MPI_AINT, (int)tail.rank, link, MPI_NO_OP, win));
        MUST(MPI_Win_flush((int)tail.rank, win));
      }
      tail = (Pointer){.rank = next_rank, .address = next};
    }
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  /* All walk the whole list: each element is there once, and those of one process in their order. */
  int* const last = check_alloc((size_t)check_size * sizeof *last);
  for (int r = 0; r < check_size; r++) last[r] = -1;
  int length = -1;
  for (Pointer at = head; at.rank >= 0 && length <= each * check_size; length++) {
    Element e;
    MUST(MPI_Get(&e, sizeof e, MPI_BYTE, (int)at.rank, at.address, sizeof e, MPI_BYTE, win));
    MUST(MPI_Win_flush((int)at.rank, win));
    if (e.owner >= 0) {
      CHECK(e.owner == at.rank && e.number == last[e.owner] + 1, "element %lld of rank %lld", (long long)e.number,
            (long long)e.owner);
      last[e.owner] = (int)e.number;
    }
    at = (Pointer){.rank = e.next_rank, .address = e.next_address};
  }
  CHECK_EQ(length, each * check_size);
  MUST(MPI_Win_unlock_all(win));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < each; i++) {
    MUST(MPI_Win_detach(win, own[i]));
    free(own[i]);
  }
  if (check_rank == 0) MUST(MPI_Win_detach(win, own[each]));
  MUST(MPI_Win_free(&win));
  if (check_rank == 0) MUST(MPI_Free_mem(own[each]));
  free(own);
  free(last);
}

/* Attaching and detaching are local: nothing happens in any other process. */
static void local(void) {
  MPI_Win win = dynamic_window(MPI_COMM_WORLD);
  char memory[256];
  if (check_rank == check_size - 1)
    for (int i = 0; i < 500; i++) {
      MUST(MPI_Win_attach(win, memory + i % 128, 100));
      MUST(MPI_Win_detach(win, memory + i % 128));
    }
  MUST(MPI_Win_attach(win, NULL, 0));
  MUST(MPI_Win_free(&win));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  const int few = check_size > 4;
  many_regions(1000);
  used_again(few ? 20 : 100);
  neighbours();
  two_windows();
  list(few ? 10 : 60);
  local();
  return check_end();
}
