/* Ranks that copy from and to each other's memory, and the system that begins to refuse it to one of them after all had
 * tried. Every collective comes to an end on every rank, with the right data or with an error that says what happened,
 * at the one who could not copy and at those who get less for it; and what needs no such copies goes on working.
 * Exit status 77 where no filter of system calls can be installed. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "check.h"

enum { kItems = 60000, kRefused = 1 };

static MPI_Comm comm;                    /* on which everything is `direct` */
static int *out, *in, *row_out, *row_in; /* one block, one block, a block of every rank */

static int refuse_copies(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int value(int from, int to, int i) { return from * 7919 + to * 104729 + i; }
static void fill(int* block, int from, int to) {
  for (int i = 0; i < kItems; i++) block[i] = value(from, to, i);
}
static int is(const int* block, int from, int to) {
  for (int i = 0; i < kItems; i++)
    if (block[i] != value(from, to, i)) return 0;
  return 1;
}
/* The sum of what ranks [0, n) have for `to`. */
static int is_sum(const int* block, int n, int to) {
  for (int i = 0; i < kItems; i++) {
    int sum = 0;
    for (int r = 0; r < n; r++) sum += value(r, to, i);
    if (block[i] != sum) return 0;
  }
  return 1;
}
static int are_all(int to) {
  for (int r = 0; r < check_size; r++)
    if (!is(row_in + (size_t)r * kItems, r, to)) return 0;
  return 1;
}

/* Each returns the code of its call, and says whether the data is right. */
static int bcast(int* right) {
  if (check_rank == 0) fill(in, 0, 0);
  const int code = MPI_Bcast(in, kItems, MPI_INT, 0, comm);
  *right = is(in, 0, 0);
  return code;
}
static int gather(int* right) {
  fill(out, check_rank, 0);
  const int code = MPI_Gather(out, kItems, MPI_INT, row_in, kItems, MPI_INT, 0, comm);
  *right = check_rank != 0 || are_all(0);
  return code;
}
static int scatter(int* right) {
  for (int r = 0; r < check_size; r++) fill(row_out + (size_t)r * kItems, 0, r);
  const int code = MPI_Scatter(row_out, kItems, MPI_INT, in, kItems, MPI_INT, 0, comm);
  *right = is(in, 0, check_rank);
  return code;
}
static int allgather(int* right) {
  fill(out, check_rank, 0);
  const int code = MPI_Allgather(out, kItems, MPI_INT, row_in, kItems, MPI_INT, comm);
  *right = are_all(0);
  return code;
}
static int alltoall(int* right) {
  for (int r = 0; r < check_size; r++) fill(row_out + (size_t)r * kItems, check_rank, r);
  const int code = MPI_Alltoall(row_out, kItems, MPI_INT, row_in, kItems, MPI_INT, comm);
  *right = are_all(check_rank);
  return code;
}
static int reduce(int* right) {
  fill(out, check_rank, 0);
  const int code = MPI_Reduce(out, in, kItems, MPI_INT, MPI_SUM, 0, comm);
  *right = check_rank != 0 || is_sum(in, check_size, 0);
  return code;
}
static int allreduce(int* right) {
  fill(out, check_rank, 0);
  const int code = MPI_Allreduce(out, in, kItems, MPI_INT, MPI_SUM, comm);
  *right = is_sum(in, check_size, 0);
  return code;
}
static int reduce_scatter(int* right) {
  for (int r = 0; r < check_size; r++) fill(row_out + (size_t)r * kItems, check_rank, r);
  const int code = MPI_Reduce_scatter_block(row_out, in, kItems, MPI_INT, MPI_SUM, comm);
  *right = is_sum(in, check_size, check_rank);
  return code;
}
static int scan(int* right) {
  fill(out, check_rank, 0);
  const int code = MPI_Scan(out, in, kItems, MPI_INT, MPI_SUM, comm);
  *right = is_sum(in, check_rank + 1, 0);
  return code;
}
static int exscan(int* right) {
  fill(out, check_rank, 0);
  const int code = MPI_Exscan(out, in, kItems, MPI_INT, MPI_SUM, comm);
  *right = check_rank == 0 || is_sum(in, check_rank, 0);
  return code;
}

static const struct {
  const char* name;
  int (*call)(int* right);
} kCollectives[] = {
    {"bcast", bcast},       {"gather", gather}, {"scatter", scatter},     {"allgather", allgather},
    {"alltoall", alltoall}, {"reduce", reduce}, {"allreduce", allreduce}, {"reduce_scatter", reduce_scatter},
    {"scan", scan},         {"exscan", exscan}};

static void expect(size_t which, int refused) {
  const char* const name = kCollectives[which].name;
  int right = 0, error_class = MPI_SUCCESS, failed, sum = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  const int code = kCollectives[which].call(&right);
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  failed = code != MPI_SUCCESS;
  if (!failed) CHECK(right, "%s succeeded with wrong data", name);
  if (failed) {
    CHECK_EQ(error_class, MPI_ERR_OTHER);
    CHECK(strstr(text, "buffer (process") || strstr(text, "another rank could not copy"), "%s: %s", name, text);
  }
  /* What goes through the segment goes on. */
  MUST(MPI_Allreduce(&failed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  const int shared = strcmp(name, "allgather") == 0 || strcmp(name, "alltoall") == 0; /* others may copy in its place */
  if (refused && !shared) {
    CHECK(sum > 0, "%s: nobody could not copy", name);
    CHECK(check_rank != kRefused || failed, "%s: the rank that may not copy reports success", name);
  } else if (!refused) {
    CHECK(sum == 0, "%s: %s", name, text);
  }
}

static void make_comm(void) {
  static const char* const kDirect[] = {"bcast",    "gather", "scatter",   "allgather",
                                        "alltoall", "reduce", "allreduce", "reduce_scatter_block",
                                        "scan",     "exscan"};
  MPI_Info info;
  MUST(MPI_Info_create(&info));
  for (size_t i = 0; i < sizeof kDirect / sizeof *kDirect; i++) {
    char key[64];
    snprintf(key, sizeof key, "coll.%s.algorithm", kDirect[i]);
    MUST(MPI_Info_set(info, key, "direct"));
  }
  MUST(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
}

int main(int argc, char** argv) {
  int may = 1, all_may = 0;
  check_start(&argc, &argv);
  make_comm();
  out = malloc(kItems * sizeof *out);
  in = malloc(kItems * sizeof *in);
  row_out = malloc((size_t)check_size * kItems * sizeof *row_out);
  row_in = malloc((size_t)check_size * kItems * sizeof *row_in);
  const size_t collectives = sizeof kCollectives / sizeof *kCollectives;
  for (size_t k = 0; k < collectives; k++) expect(k, 0);
  if (check_rank == kRefused) may = refuse_copies();
  MUST(MPI_Allreduce(&may, &all_may, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  for (int round = 0; round < 3 && all_may; round++)
    for (size_t k = 0; k < collectives; k++) expect(k, 1);
  free(out), free(in), free(row_out), free(row_in);
  MUST(MPI_Comm_free(&comm));
  const int failed = check_end();
  return all_may ? failed : 77;
}
