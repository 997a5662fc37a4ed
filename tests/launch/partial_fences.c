/* A PMIx library whose servers say of each fence without data what they say when a rank has ended while the others were
 * in it: a partial success. It comes before or after the event of that end, as chance has it, so a test that lets a
 * rank end would see it now and then. Stands before the real library: parameter launch.pmix.library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pmix.h>
#include <stdlib.h>

typedef struct {
  pmix_op_cbfunc_t told;
  void* data;
} Waiting;

static void one_has_ended(pmix_status_t status, void* argument) {
  const Waiting waiting = *(Waiting*)argument;
  free(argument);
  waiting.told(status == PMIX_SUCCESS ? PMIX_ERR_PARTIAL_SUCCESS : status, waiting.data);
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t infos,
                            pmix_op_cbfunc_t told, void* data) {
  pmix_status_t (*fence)(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t, void*);
  *(void**)&fence = dlsym(RTLD_NEXT, "PMIx_Fence_nb");
  if (infos != 0)
    return fence(procs, count, info, infos, told, data); /* data are exchanged: whose are missing matters */
  Waiting* const waiting = malloc(sizeof *waiting);
  if (waiting == NULL) return PMIX_ERR_NOMEM;
  *waiting = (Waiting){told, data};
  return fence(procs, count, info, infos, one_has_ended, waiting);
}
