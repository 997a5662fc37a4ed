// Host files and --host, as mpiexec reads them.
#include "mpiexec/hosts.h"
#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ashlar::fuzz::AsFile file("hosts");
  file.write(data, size);
  const std::string list(reinterpret_cast<const char*>(data), size);
  for (const ashlar::Status status :
       {ashlar::mpiexec::check_host_file(file.path()), ashlar::mpiexec::check_hosts(list)})
    if (!status.ok() && *status.text() == '\0') std::abort();
  return 0;
}
