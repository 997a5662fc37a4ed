/* A PMIx library whose servers let go of a fence's first ranks so early that these have left before the others are
 * told: the last of them hears of a partial success. It happens under real ones, but not when a test wants it. Stands
 * before the real library: parameter launch.pmix.library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pmix.h>
#include <stdlib.h>

typedef struct {
  pmix_op_cbfunc_t told;
  void* data;
} Waiting;

static void some_have_left(pmix_status_t status, void* argument) {
  const Waiting waiting = *(Waiting*)argument;
  free(argument);
  waiting.told(status == PMIX_SUCCESS ? PMIX_ERR_PARTIAL_SUCCESS : status, waiting.data);
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t infos,
                            pmix_op_cbfunc_t told, void* data) {
  pmix_status_t (*fence)(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t, void*);
  *(void**)&fence = dlsym(RTLD_NEXT, "PMIx_Fence_nb");
  if (infos != 0) return fence(procs, count, info, infos, told, data); /* data are exchanged: nobody leaves before */
  Waiting* const waiting = malloc(sizeof *waiting);
  if (waiting == NULL) return PMIX_ERR_NOMEM;
  *waiting = (Waiting){told, data};
  return fence(procs, count, info, infos, some_have_left, waiting);
}
