/* Without memory the calls of the tools interface answer MPI_T_ERR_MEMORY, end nothing, and are complete the next time,
 * but for the variables of a component that could not be opened: these come when MPI_Init opens it. A process of its
 * own for each allocation that fails: from there on, or that one alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void* __libc_malloc(size_t bytes);  // NOLINT: the C library's own, under this one

static long countdown = -1;  // allocations that still succeed; negative: all do
static int for_good = 0;
static unsigned long allocations = 0;

/* Not for us to mend: libltdl goes on with a null pointer, and the loader ends the process where there is no memory for
 * a thread's data. */
static int may_fail(const void* caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return 1;
  return !strstr(info.dli_fname, "libltdl") && !strstr(info.dli_fname, "ld-linux");
}

void* malloc(size_t bytes) {
  ++allocations;
  if (countdown == 0 && may_fail(__builtin_return_address(0))) {
    if (!for_good) countdown = -1;
    return NULL;
  }
  if (countdown > 0) --countdown;
  return __libc_malloc(bytes);
}

typedef struct {
  int cvars, pvars, categories, code;
  int of_launcher; /* of the performance variables: a component is opened for them */
} Seen;

static int of_launcher(int pvars) {
  int found = 0;
  for (int i = 0; i < pvars; ++i) {
    char name[100];
    int length = sizeof name, verbosity, class, bind, readonly, continuous, atomic;
    if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, NULL, NULL, NULL, NULL, &bind, &readonly, &continuous,
                            &atomic) == MPI_SUCCESS)
      found += strncmp(name, "launch.", 7) == 0;
  }
  return found;
}

/* What a tool does; stops at the first call that fails. */
static Seen look(void) {
  Seen seen = {0, 0, 0, MPI_SUCCESS, 0};
  int provided = 0, count = 0;
  MPI_T_cvar_handle cvar;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle pvar;
  if ((seen.code = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)) != MPI_SUCCESS) return seen;
  if ((seen.code = MPI_T_cvar_get_num(&seen.cvars)) != MPI_SUCCESS) return seen;
  if ((seen.code = MPI_T_pvar_get_num(&seen.pvars)) != MPI_SUCCESS) return seen;
  if ((seen.code = MPI_T_category_get_num(&seen.categories)) != MPI_SUCCESS) return seen;
  if ((seen.code = MPI_T_cvar_handle_alloc(0, NULL, &cvar, &count)) != MPI_SUCCESS) return seen;
  if ((seen.code = MPI_T_pvar_session_create(&session)) != MPI_SUCCESS) return seen;
  seen.code = MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &count);
  return seen;
}

/* Fails when a call answers anything else, or the lists are not whole afterwards. */
static int try_without(long at, int good, const Seen* whole) {
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    for_good = good;
    countdown = at;
    const Seen first = look();
    countdown = -1;
    const Seen again = look();
    const int right = (first.code == MPI_SUCCESS || first.code == MPI_T_ERR_MEMORY) && again.code == MPI_SUCCESS &&
                      again.cvars == whole->cvars && again.pvars == whole->pvars &&
                      again.categories == whole->categories;
    if (!right)
      fprintf(stderr,
              "allocation %ld fails%s: code %d, then %d with %d control variables (%d), %d performance "
              "variables (%d), %d categories (%d)\n",
              at, good ? " and all later ones" : "", first.code, again.code, again.cvars, whole->cvars, again.pvars,
              whole->pvars, again.categories, whole->categories);
    _exit(right ? 0 : 1);
  }
  if (waitpid(child, &status, 0) != child) return 1;
  if (WIFSIGNALED(status)) fprintf(stderr, "allocation %ld fails: signal %d\n", at, WTERMSIG(status));
  return status != 0;
}

int main(int argc, char** argv) {
  Seen whole;
  int pipes[2], failed = 0;
  unsigned long needed = 0;
  if (pipe(pipes) != 0) return 77;
  const pid_t child = fork();
  if (child == 0) {
    const unsigned long before = allocations;
    whole = look();
    needed = allocations - before;
    whole.of_launcher = of_launcher(whole.pvars);
    return write(pipes[1], &whole, sizeof whole) < 0 || write(pipes[1], &needed, sizeof needed) < 0;
  }
  if (read(pipes[0], &whole, sizeof whole) != sizeof whole || read(pipes[0], &needed, sizeof needed) != sizeof needed)
    return 1;
  if (whole.code != MPI_SUCCESS || whole.cvars < 100 || whole.pvars < 100 || needed < 100) {
    fprintf(stderr, "code %d, %d, %d, %lu allocations\n", whole.code, whole.cvars, whole.pvars, needed);
    return 1;
  }
  /* All of them with an argument, a share of them without. */
  const long step = argc > 1 ? 1 : 1 + (long)(needed / 200);
  for (long at = 0; at < (long)needed + 2; at += step)
    for (int good = 0; good < 2; ++good) failed += try_without(at, good, &whole);
  printf("%lu allocations, %d failures\n", needed, failed);
  (void)argv;
  return failed != 0;
}
