#include "bindings/tool/watch.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

namespace ashlar::tool {

std::atomic<const ashlar_call_hooks*> hooks{nullptr};
constinit thread_local bool in_hook = false;

// A program may have loaded MPI where the loader's own search does not reach, as Python does; it is found by its name
// then.
void* find_next(const char* name) noexcept {
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  for (const char* library : {"libmpi_abi.so.1", "libmpi_abi.so.0"}) {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    void* const found = dlsym(handle, name);
    dlclose(handle);
    if (found) return found;
  }
  std::fprintf(stderr, "libashlar_tool.so: %s is called, but no library that has it is loaded\n", name);
  _exit(127);
}

bool Watched::returned_early(int result) {
  hooks_ = hooks.load(std::memory_order_acquire);
  const Early early = early_;
  if (!hooks_ || early.number >= hooks_->procedure_count || !hooks_->wanted[early.number]) return false;
  start(early.number, early.began);
  enter();
  call_.ended = ticks();
  call_.result = result;
  return true;
}

}  // namespace ashlar::tool
