#include "components/launch/pmix/library.h"

#include <dlfcn.h>

#include <cstdio>

namespace ashlar::launch {
namespace {

template <class F>
bool find(void* handle, const char* name, F* to, char* why, std::size_t why_bytes) {
  *to = reinterpret_cast<F>(dlsym(handle, name));
  if (!*to) std::snprintf(why, why_bytes, "the PMIx library lacks %s: %s", name, dlerror());
  return *to != nullptr;
}

}  // namespace

bool PmixLibrary::load(const char* file, char* why, std::size_t why_bytes) {
  handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::snprintf(why, why_bytes, "cannot load the PMIx library %s: %s (launch.pmix.library names another)", file,
                  dlerror());
    return false;
  }
  query_info = reinterpret_cast<decltype(query_info)>(dlsym(handle, "PMIx_Query_info"));
  return find(handle, "PMIx_Init", &init, why, why_bytes) && find(handle, "PMIx_Finalize", &finalize, why, why_bytes) &&
         find(handle, "PMIx_Put", &put, why, why_bytes) && find(handle, "PMIx_Commit", &commit, why, why_bytes) &&
         find(handle, "PMIx_Fence_nb", &fence_nb, why, why_bytes) && find(handle, "PMIx_Get", &get, why, why_bytes) &&
         find(handle, "PMIx_Abort", &abort, why, why_bytes) &&
         find(handle, "PMIx_Register_event_handler", &register_events, why, why_bytes) &&
         find(handle, "PMIx_Error_string", &error_string, why, why_bytes) &&
         find(handle, "PMIx_Get_version", &version, why, why_bytes);
}

}  // namespace ashlar::launch
