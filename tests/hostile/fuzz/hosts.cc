// Host files and --host, as mpiexec reads them.
#include "mpiexec/hosts.h"
#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ashlar::fuzz::AsFile file("hosts");
  file.write(data, size);
  const std::string list(reinterpret_cast<const char*>(data), size);
  std::vector<ashlar::mpiexec::HostSlots> hosts;
  for (const ashlar::Status status :
       {ashlar::mpiexec::read_host_file(file.path(), &hosts), ashlar::mpiexec::read_hosts(list, &hosts)})
    if (!status.ok() && *status.text() == '\0') std::abort();
  return 0;
}
