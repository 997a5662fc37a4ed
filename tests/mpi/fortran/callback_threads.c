/* Runs a Fortran procedure on two threads at once, which no Fortran runtime library has made. */
#include <pthread.h>

enum { kThreads = 2 };

struct start {
  void (*body)(int);
  int number;
};

static void* run(void* argument) {
  const struct start* const start = argument;
  start->body(start->number);
  return NULL;
}

int on_two_threads(void (*body)(int));
int on_two_threads(void (*body)(int)) {
  pthread_t threads[kThreads];
  struct start starts[kThreads];
  int made = 0;
  for (; made < kThreads; ++made) {
    starts[made] = (struct start){.body = body, .number = made + 1};
    if (pthread_create(&threads[made], NULL, run, &starts[made]) != 0) break;
  }
  for (int i = 0; i < made; ++i) pthread_join(threads[i], NULL);
  return made == kThreads;
}
