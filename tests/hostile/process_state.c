/* MPI_Init and MPI_Finalize leave the process as it was: signals, environment, folder, umask, locale, rounding, limits,
 * threads, and the code of the functions that libraries of networks like to patch.
 *
 * usage: process_state [THREADS [hooks]]   as many threads are there between the two, each with all signals blocked;
 *                                          hooks: that code is patched, as was asked for */
#define _GNU_SOURCE
#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/mpi/check.h"

extern char** environ;

enum { kRoom = 1 << 16 };
typedef struct {
  char signals[512], folder[4096], locale[256], environment[kRoom];
  mode_t mask;
  int rounding;
  struct rlimit files, core, stack;
  unsigned char code[4][16]; /* the beginnings of mmap and its kin */
  int threads;
} State;

static void copy_code(unsigned char* to, uintptr_t function) { memcpy(to, (const void*)function, 16); }

static void take(State* s) {
  char line[256];
  memset(s, 0, sizeof *s);
  FILE* f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f))
    if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0 || strncmp(line, "SigCgt", 6) == 0) {
      /* The two signals below SIGRTMIN are the C library's own: it takes one with the first thread that is made. */
      const unsigned long long set = strtoull(line + 7, NULL, 16) & ~(3ull << 31);
      snprintf(line + 7, sizeof line - 7, "%016llx\n", set);
      strncat(s->signals, line, sizeof s->signals - strlen(s->signals) - 1);
    } else if (strncmp(line, "Threads:", 8) == 0)
      s->threads = atoi(line + 8);
  if (f) fclose(f);
  if (!getcwd(s->folder, sizeof s->folder)) s->folder[0] = '?';
  snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
  size_t at = 0;
  for (char** e = environ; *e && at < kRoom - 1; e++)
    at += (size_t)snprintf(s->environment + at, kRoom - at, "%s\n", *e);
  s->mask = umask(0);
  umask(s->mask);
  s->rounding = fegetround();
  getrlimit(RLIMIT_NOFILE, &s->files);
  getrlimit(RLIMIT_CORE, &s->core);
  getrlimit(RLIMIT_STACK, &s->stack);
  copy_code(s->code[0], (uintptr_t)mmap);
  copy_code(s->code[1], (uintptr_t)munmap);
  copy_code(s->code[2], (uintptr_t)mremap);
  copy_code(s->code[3], (uintptr_t)madvise);
}

static void compare(const State* a, const State* b, int more_threads, int patched, const char* when) {
  CHECK(strcmp(a->signals, b->signals) == 0, "%s signals were\n%s and are\n%s", when, a->signals, b->signals);
  CHECK(strcmp(a->folder, b->folder) == 0, "%s the folder is %s", when, b->folder);
  CHECK(strcmp(a->locale, b->locale) == 0, "%s the locale is %s", when, b->locale);
  CHECK(strcmp(a->environment, b->environment) == 0, "%s the environment is changed", when);
  CHECK(a->mask == b->mask, "%s the umask is %o", when, (unsigned)b->mask);
  CHECK(a->rounding == b->rounding, "%s", when);
  CHECK(memcmp(&a->files, &b->files, sizeof a->files) == 0 && memcmp(&a->core, &b->core, sizeof a->core) == 0 &&
            memcmp(&a->stack, &b->stack, sizeof a->stack) == 0,
        "%s a limit is changed", when);
  CHECK((memcmp(a->code, b->code, sizeof a->code) != 0) == patched, "%s mmap() or its kin is%s patched", when,
        patched ? " not" : "");
  CHECK(a->threads + more_threads == b->threads, "%s there are %d threads and were %d", when, b->threads, a->threads);
}

/* Signals are for the program's threads. */
static void look_at_threads(void) {
  DIR* tasks = opendir("/proc/self/task");
  for (struct dirent* task; tasks && (task = readdir(tasks));) {
    char path[300], line[256];
    if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE* f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
      if (strncmp(line, "SigBlk:", 7) == 0) {
        const unsigned long long blocked = strtoull(line + 7, NULL, 16), asynchronous = 1ull << (SIGTERM - 1);
        CHECK((blocked & asynchronous) != 0, "thread %s takes signals: %s", task->d_name, line);
      }
    if (f) fclose(f);
  }
  if (tasks) closedir(tasks);
}

static State before, during, after;

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 0, patched = argc > 2 && strcmp(argv[2], "hooks") == 0;
  umask(027);
  fesetround(FE_UPWARD);
  take(&before);
  check_start(&argc, &argv);
  static double large[1 << 17], sum[1 << 17];
  MUST(MPI_Allreduce(large, sum, 1 << 17, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  take(&during);
  compare(&before, &during, threads, patched, "after MPI_Init");
  look_at_threads();
  const int result = check_end();
  take(&after);
  compare(&before, &after, 0, patched, "after MPI_Finalize");
  return result || check_failures != 0;
}
