/* Duplicates without waiting, hints, splits by hardware, and more communicators alive than 16 bits can number. */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>

static int sum_over(MPI_Comm comm, int value) {
  int sum = -1;
  MUST(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum;
}

/* More than the members of a new communicator have agreed on ids for, all in flight at once, with other collectives and
 * duplicates between them. */
static void idup(MPI_Comm base) {
  enum { kMany = 40 };
  MPI_Comm made[kMany], blocking[kMany];
  MPI_Request requests[kMany];
  int relation, expected = check_size * (check_size - 1) / 2;
  for (int k = 0; k < kMany; k++) {
    MUST(MPI_Comm_idup(base, &made[k], &requests[k]));
    blocking[k] = MPI_COMM_NULL;
    if (k % 7 == 3) MUST(MPI_Comm_dup(base, &blocking[k]));
    if (k % 5 == 2) CHECK_EQ(sum_over(base, check_rank), expected);
  }
  MUST(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  /* Every one is a context of its own: used in reverse order, with messages that all look alike. */
  int got, right = (check_rank + 1) % check_size;
  for (int k = 0; k < kMany; k++) MUST(MPI_Isend(&k, 1, MPI_INT, right, 0, made[k], &requests[k]));
  MUST(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int k = kMany - 1; k >= 0; k--) {
    MUST(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, made[k], MPI_STATUS_IGNORE));
    CHECK_EQ(got, k);
    MUST(MPI_Comm_compare(base, made[k], &relation));
    CHECK_EQ(relation, MPI_CONGRUENT);
    MUST(MPI_Comm_free(&made[k]));
    if (blocking[k] != MPI_COMM_NULL) {
      CHECK_EQ(sum_over(blocking[k], check_rank), expected);
      MUST(MPI_Comm_free(&blocking[k]));
    }
  }
}

/* A rank that is late with its idup waits for a message of one that is early. */
static void idup_does_not_wait(MPI_Comm base) {
  MPI_Comm made;
  MPI_Request request;
  int token = 0;
  MPI_Comm used[8];
  for (int k = 0; k < 8; k++) MUST(MPI_Comm_dup(base, &used[k]));
  if (check_rank > 0) MUST(MPI_Recv(&token, 1, MPI_INT, check_rank - 1, 1, base, MPI_STATUS_IGNORE));
  MUST(MPI_Comm_idup(base, &made, &request));
  if (check_rank + 1 < check_size) MUST(MPI_Send(&token, 1, MPI_INT, check_rank + 1, 1, base));
  int flag = 0;
  while (!flag) MUST(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQ(sum_over(made, 1), check_size);
  MUST(MPI_Comm_free(&made));
  for (int k = 0; k < 8; k++) MUST(MPI_Comm_free(&used[k]));
}

static void hint_is(MPI_Comm comm, const char* key, const char* wanted) {
  MPI_Info info;
  char value[128] = "";
  int flag, length = sizeof value;
  MUST(MPI_Comm_get_info(comm, &info));
  MUST(MPI_Info_get_string(info, key, &length, value, &flag));
  CHECK(wanted ? flag && strcmp(value, wanted) == 0 : !flag, "%s is '%s'", key, value);
  MUST(MPI_Info_free(&info));
}

static void hints(void) {
  MPI_Info info;
  MPI_Comm with, plain, later;
  MPI_Request request;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
  MUST(MPI_Info_set(info, "somebody's own hint", "7"));
  MUST(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with));
  hint_is(with, "mpi_assert_no_any_tag", "true");
  hint_is(with, "mpi_assert_no_any_source", "false");
  hint_is(with, "somebody's own hint", NULL);
  /* Since MPI 4.0 a duplicate does not take the hints over. */
  MUST(MPI_Comm_dup(with, &plain));
  hint_is(plain, "mpi_assert_no_any_tag", "false");
  MUST(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
  MUST(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
  MUST(MPI_Comm_set_info(with, info));
  hint_is(with, "mpi_assert_no_any_tag", "false");
  hint_is(with, "mpi_assert_exact_length", "true");
  MUST(MPI_Comm_idup_with_info(plain, info, &later, &request));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  hint_is(later, "mpi_assert_exact_length", "true");
  CHECK_EQ(sum_over(later, 1), check_size);
  MUST(MPI_Comm_free(&with));
  MUST(MPI_Comm_free(&plain));
  MUST(MPI_Comm_free(&later));
}

/* Kinds of memory: what was granted, and a promise about it, which counts only if it is a part of that. */
static void memory_kinds(void) {
  MPI_Info info;
  MPI_Comm comm, half;
  hint_is(MPI_COMM_WORLD, "mpi_memory_alloc_kinds", "mpi,system");
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "mpi:alloc_mem"));
  MUST(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
  hint_is(comm, "mpi_assert_memory_alloc_kinds", "mpi:alloc_mem");
  hint_is(comm, "mpi_memory_alloc_kinds", "mpi:alloc_mem");
  MUST(MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "somebody's:memory"));
  MUST(MPI_Comm_split(comm, check_rank % 2, 0, &half));
  hint_is(half, "mpi_memory_alloc_kinds", "mpi,system");
  MUST(MPI_Comm_set_info(half, info));
  hint_is(half, "mpi_assert_memory_alloc_kinds", NULL);
  hint_is(half, "mpi_memory_alloc_kinds", "mpi,system");
  MUST(MPI_Comm_free(&half));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Info_free(&info));
}

static MPI_Comm guided(int type, const char* resource) {
  MPI_Info info;
  MPI_Comm part;
  MUST(MPI_Info_create(&info));
  if (resource)
    MUST(MPI_Info_set(info, strncmp(resource, "mpi://", 6) ? "mpi_hw_resource_type" : "mpi_pset_name", resource));
  MUST(MPI_Comm_split_type(MPI_COMM_WORLD, type, check_rank, info, &part));
  MUST(MPI_Info_free(&info));
  return part;
}

static void split_types(void) {
  MPI_Comm node, part;
  int size, relation, code, error_class;
  MUST(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  MUST(MPI_Comm_size(node, &size));
  CHECK(size >= 1 && size <= check_size);
  part = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_shared_memory");
  MUST(MPI_Comm_compare(node, part, &relation));
  CHECK_EQ(relation, MPI_CONGRUENT);
  hint_is(part, "mpi_hw_resource_type", "mpi_shared_memory");
  MUST(MPI_Comm_free(&part));
  /* Bound to one processor, a process is restricted to one instance of everything. */
  cpu_set_t before, one;
  CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  int cpu = 0, nth = 0;
  for (int c = 0; c < CPU_SETSIZE; c++)
    if (CPU_ISSET(c, &before)) nth++;
  nth = check_rank % nth;
  for (int c = 0; c < CPU_SETSIZE; c++)
    if (CPU_ISSET(c, &before) && nth-- == 0) cpu = c;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
  part = guided(MPI_COMM_TYPE_HW_GUIDED, "hwloc://PU");
  CHECK(part != MPI_COMM_NULL);
  if (part != MPI_COMM_NULL) {
    int lowest, highest;
    MUST(MPI_Allreduce(&cpu, &lowest, 1, MPI_INT, MPI_MIN, part));
    MUST(MPI_Allreduce(&cpu, &highest, 1, MPI_INT, MPI_MAX, part));
    CHECK_EQ(lowest, highest);
    MUST(MPI_Comm_free(&part));
  }
  MPI_Info told;
  char value[16] = "";
  int flag, length = sizeof value;
  MUST(MPI_Get_hw_resource_info(&told));
  MUST(MPI_Info_get_string(told, "hwloc://PU", &length, value, &flag));
  CHECK(flag && strcmp(value, "true") == 0, "%s", value);
  MUST(MPI_Info_free(&told));
  /* Ranks that are not interested stay out of it, whatever the others ask for. */
  MPI_Info found;
  MUST(MPI_Info_create(&found));
  MUST(MPI_Comm_split_type(MPI_COMM_WORLD, check_rank ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED, 0, found, &part));
  length = sizeof value;
  MUST(MPI_Info_get_string(found, "mpi_hw_resource_type", &length, value, &flag));
  CHECK_EQ(flag, part != MPI_COMM_NULL);
  MUST(MPI_Info_free(&found));
  if (check_rank == 0) CHECK(part == MPI_COMM_NULL);
  if (part != MPI_COMM_NULL) {
    int smaller;
    MUST(MPI_Comm_size(part, &smaller));
    CHECK(smaller < check_size);
    MUST(MPI_Comm_free(&part));
  }
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
  MUST(MPI_Comm_split_type(MPI_COMM_WORLD, check_rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                           &part));
  CHECK_EQ(part == MPI_COMM_NULL, check_rank % 2);
  if (part != MPI_COMM_NULL) MUST(MPI_Comm_free(&part));
  CHECK(guided(MPI_COMM_TYPE_HW_GUIDED, "hwloc://Toaster") == MPI_COMM_NULL);
  CHECK(guided(MPI_COMM_TYPE_HW_GUIDED, NULL) == MPI_COMM_NULL);
  part = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi://SELF");
  MUST(MPI_Comm_size(part, &size));
  CHECK_EQ(size, 1);
  MUST(MPI_Comm_free(&part));
  code = MPI_Comm_split_type(MPI_COMM_WORLD, 4711, 0, MPI_INFO_NULL, &part);
  MUST(MPI_Error_class(code, &error_class));
  CHECK_EQ(error_class, MPI_ERR_ARG);
  MUST(MPI_Comm_free(&node));
}

/* 66,000 alive at once, in a tree so that their parents differ; the last ones work like the first. */
static void many(int alive) {
  MPI_Comm* made = check_alloc((size_t)alive * sizeof *made);
  for (int k = 0; k < alive; k++) MUST(MPI_Comm_dup(k < 100 ? MPI_COMM_WORLD : made[k % 97], &made[k]));
  for (int k = alive - 1; k >= 0; k -= alive / 10) {
    int got = -1;
    MUST(MPI_Sendrecv(&k, 1, MPI_INT, (check_rank + 1) % check_size, 0, &got, 1, MPI_INT,
                      (check_rank + check_size - 1) % check_size, 0, made[k], MPI_STATUS_IGNORE));
    CHECK_EQ(got, k);
  }
  for (int k = 0; k < alive; k++) MUST(MPI_Comm_free(&made[k]));
  free(made);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MPI_Comm base;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &base));
  idup(base);
  idup_does_not_wait(base);
  idup(MPI_COMM_WORLD);
  MUST(MPI_Comm_free(&base));
  hints();
  memory_kinds();
  split_types();
  many(check_size > 4 ? 2000 : 66000);
  return check_end();
}
