#include "components/launch/pmix/library.h"

#include <dlfcn.h>

#include <iterator>

namespace ashlar::launch {
namespace {

/// Finds functions of the library until one is missing.
struct Finder {
  void* handle;
  const char* missing = nullptr;

  template <class F>
  void find(const char* name, F* to) {
    if (missing) return;
    *to = reinterpret_cast<F>(dlsym(handle, name));
    if (!*to) missing = name;
  }
};

}  // namespace

ashlar_result PmixLibrary::load(const ashlar_host& host, const char* file) {
  handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const ashlar_fact reason[] = {{.name = "file", .text = file, .number = 0},
                                  {.name = "lower", .text = dlerror(), .number = 0}};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "pmix.not_loaded", reason, std::size(reason));
  }
  query_info = reinterpret_cast<decltype(query_info)>(dlsym(handle, "PMIx_Query_info"));
  Finder functions{.handle = handle};
  functions.find("PMIx_Init", &init);
  functions.find("PMIx_Finalize", &finalize);
  functions.find("PMIx_Put", &put);
  functions.find("PMIx_Commit", &commit);
  functions.find("PMIx_Fence_nb", &fence_nb);
  functions.find("PMIx_Get", &get);
  functions.find("PMIx_Abort", &abort);
  functions.find("PMIx_Register_event_handler", &register_events);
  functions.find("PMIx_Error_string", &error_string);
  functions.find("PMIx_Get_version", &version);
  if (!functions.missing) return ASHLAR_OK;
  const ashlar_fact lacks[] = {{.name = "file", .text = file, .number = 0},
                               {.name = "name", .text = functions.missing, .number = 0}};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "pmix.function", lacks, std::size(lacks));
}

}  // namespace ashlar::launch
