#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/sources.h"
#include "mpiexec/dynamic_section.h"
#include "mpiexec/pmix_server.h"
#include "mpiexec/settings.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

bool speaks_pmix(const std::string& library) {
  // Open MPI's own libraries (version 5 and later) have no other way to find their job.
  for (const char* name : {"libpmix.so", "libmpi.so.40", "libmpi_mpifh.so.40", "libopen-rte.so", "libopen-pal.so.80"})
    if (library.compare(0, std::strlen(name), name) == 0) return true;
  return false;
}

}  // namespace

Status load_pmix_server(std::unique_ptr<PmixServer>* server) {
  const std::string file = param::support_folder(own_prefix()) + "/mpiexec_pmix.so";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(kErrOther, "pmix.cannot_run", {{"lower", brief(dlerror())}});
  auto* make = reinterpret_cast<PmixServer* (*)()>(dlsym(library, "ashlar_mpiexec_pmix_server"));
  if (!make)
    return fail(kErrOther, "pmix.cannot_run", {{"lower", "its library is not mpiexec's: " + brief(dlerror())}});
  server->reset(make());
  return {};
}

bool links_pmix(const std::string& file) {
  const DynamicSection dynamic = dynamic_section_of(file);
  return std::any_of(dynamic.needed.begin(), dynamic.needed.end(), speaks_pmix);
}

}  // namespace ashlar::mpiexec
