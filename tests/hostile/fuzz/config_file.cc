// Files of -configfile and -file.
#include "mpiexec/config_file.h"

#include "tests/hostile/fuzz/as_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar::mpiexec;
  static const ashlar::fuzz::AsFile file("programs");
  file.write(data, size);
  std::vector<std::string> words, more;
  for (const ashlar::Status status : {read_config_file(file.path(), &words), read_option_file(file.path(), &more)})
    if (!status.ok() && *status.text() == '\0') std::abort();
  return 0;
}
