/* Many spawns of a job on two hosts: spawn_many ROW AT_ONCE FILE.
 *
 * Some first, so that what stays is there; then ROW spawns one after the other, from each rank in turn, onto each host
 * in turn; then AT_ONCE jobs that are all there before the first of them is let go. Before and after it says how many
 * descriptors it has, and waits until FILE.1, and FILE.2, are there. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Descriptors on their way out, of the last jobs, and those that are made once, when a rank first sleeps. Were one left
 * of each job, there would be as many as jobs. */
enum { kSlack = 4 };

static int rank, ranks;
static char* program;

static void must(int good, const char* what) {
  if (good) return;
  printf("rank %d: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int descriptors(void) {
  int count = 0;
  DIR* const open = opendir("/proc/self/fd");
  while (readdir(open) != NULL) ++count;
  closedir(open);
  return count;
}

/* What the descriptors are, on standard error. */
static void list_descriptors(void) {
  DIR* const open = opendir("/proc/self/fd");
  for (struct dirent* entry; (entry = readdir(open)) != NULL;) {
    char name[300], what[256] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
    if (readlink(name, what, sizeof what - 1) > 0) fprintf(stderr, "rank %d: %s %s\n", rank, entry->d_name, what);
  }
  closedir(open);
}

/* Each of the children has a number that its parent has sent, and sends back one more. */
static MPI_Comm start(MPI_Comm comm, int root, int host) {
  char* arguments[] = {"child", NULL};
  MPI_Comm child;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "host", host ? "b" : "a");
  must(MPI_Comm_spawn(program, arguments, 1, info, root, comm, &child, MPI_ERRCODES_IGNORE) == MPI_SUCCESS, "no spawn");
  MPI_Info_free(&info);
  return child;
}

static void let_go(MPI_Comm child, int number, int is_root) {
  int back = 0;
  if (is_root) {
    MPI_Send(&number, 1, MPI_INT, 0, 7, child);
    MPI_Recv(&back, 1, MPI_INT, 0, 8, child, MPI_STATUS_IGNORE);
    must(back == number + 1, "another number");
  }
  MPI_Comm_disconnect(&child);
}

static void in_a_row(int count) {
  for (int i = 0; i < count; ++i) {
    const int root = i % ranks;
    let_go(start(MPI_COMM_WORLD, root, i / ranks % 2), i, rank == root);
  }
}

static void at_once(int count) {
  const int mine = count / ranks;
  MPI_Comm* const children = malloc((size_t)mine * sizeof *children);
  for (int i = 0; i < mine; ++i) children[i] = start(MPI_COMM_SELF, 0, (i + rank) % 2);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < mine; ++i) let_go(children[i], i, 1);
  free(children);
}

static void show(const char* file, int number, int most) {
  /* Who has said good-bye closes its connections when it comes to it. */
  int count = descriptors(), flag;
  const time_t end = time(NULL) + 30;
  while (most > 0 && count > most + kSlack && time(NULL) < end) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
    count = descriptors();
  }
  if (most > 0 && count > most + kSlack) list_descriptors();
  must(most == 0 || count <= most + kSlack, "descriptors are left");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    char name[4096];
    printf("point %d\n", number);
    fflush(stdout);
    snprintf(name, sizeof name, "%s.%d", file, number);
    /* The last children may wait in MPI_Finalize for this process to take what they have sent. */
    while (access(name, F_OK) != 0) {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      usleep(5000);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_get_parent(&parent);
  program = argv[0];
  if (parent != MPI_COMM_NULL) {
    int number = 0;
    MPI_Status from;
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 7, parent, &from);
    ++number;
    MPI_Send(&number, 1, MPI_INT, from.MPI_SOURCE, 8, parent);
    MPI_Comm_disconnect(&parent);
  } else {
    must(argc > 3 && ranks == 2, "spawn_many ROW AT_ONCE FILE, on two ranks");
    in_a_row(4);
    at_once(4);
    show(argv[3], 1, 0);
    const int before = descriptors();
    in_a_row(atoi(argv[1]));
    at_once(atoi(argv[2]));
    show(argv[3], 2, before);
    if (rank == 0) printf("all %s and %s are over\n", argv[1], argv[2]);
  }
  MPI_Finalize();
  return 0;
}
