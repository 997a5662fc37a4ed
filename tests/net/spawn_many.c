/* Many spawns of a job on two hosts: spawn_many ROW AT_ONCE FILE.
 *
 * Some first, so that what stays is there; then ROW spawns one after the other, from each rank in turn, onto each host
 * in turn; then AT_ONCE jobs that are all there before the first of them is let go. After it there are as many
 * descriptors, and as many processes that a network's transport knows, as before; and it waits each time until FILE.1,
 * and FILE.2, are there. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Descriptors on their way out, of the last jobs, and those that are made once, when a rank first sleeps. Were one left
 * of each job, there would be as many as jobs. */
enum { kSlack = 4, kAny = 1000000 };

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

/* Processes that the transports over libraries know. */
static int peers(void) {
  static const char* const names[] = {"transport.ucx.peers", "transport.ofi.peers"};
  MPI_T_pvar_session session;
  int sum = 0;
  MPI_T_pvar_session_create(&session);
  for (int i = 0; i < 2; ++i) {
    MPI_T_pvar_handle handle;
    unsigned long long values[64] = {0};
    int index, count;
    if (MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_LEVEL, &index) != MPI_SUCCESS) continue;
    if (MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) != MPI_SUCCESS || count > 64) continue;
    MPI_T_pvar_read(session, handle, values);
    sum += (int)values[0];
  }
  MPI_T_pvar_session_free(&session);
  return sum;
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

static int stays_within(int (*count)(void), int most) {
  int flag;
  const time_t end = time(NULL) + 30;
  while (count() > most && time(NULL) < end) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  return count() <= most;
}

static void show(const char* file, int number, int most_descriptors, int most_peers) {
  int flag;
  /* Who has said good-bye closes its connections when it comes to it. */
  const int as_before = stays_within(descriptors, most_descriptors + kSlack);
  if (!as_before) list_descriptors();
  must(as_before, "descriptors are left");
  must(stays_within(peers, most_peers), "a transport knows processes of jobs that are over");
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
  int provided;
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
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
    show(argv[3], 1, kAny, kAny);
    const int before = descriptors(), known = peers();
    const char* const transport = getenv("ASHLAR_transport");
    const int counted = transport != NULL && (strstr(transport, "ucx") || strstr(transport, "ofi"));
    must(known > 0 || !counted, "the other rank is not counted");
    in_a_row(atoi(argv[1]));
    at_once(atoi(argv[2]));
    show(argv[3], 2, before, known);
    if (rank == 0) printf("all %s and %s are over\n", argv[1], argv[2]);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
