// Program files: whether one links PMIx, and why one could not be run.
#include <cerrno>

#include "mpiexec/pmix_server.h"
#include "mpiexec/start_errors.h"
#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar::mpiexec;
  static const ashlar::fuzz::AsFile file("program");
  file.write(data, size);
  static_cast<void>(links_pmix(file.path()));
  for (const int error : {ENOENT, EACCES, ENOEXEC})
    if (exec_error_words(file.path(), error).empty()) std::abort();
  return 0;
}
