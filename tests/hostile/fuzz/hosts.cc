// Host files and --host, as mpiexec reads them.
#include "mpiexec/hosts.h"
#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ashlar::fuzz::AsFile file("hosts");
  file.write(data, size);
  std::string why;
  if (!ashlar::mpiexec::host_file_is_this_host(file.path(), &why) && why.empty()) std::abort();
  why.clear();
  if (!ashlar::mpiexec::all_this_host(std::string(reinterpret_cast<const char*>(data), size), &why) && why.empty())
    std::abort();
  return 0;
}
