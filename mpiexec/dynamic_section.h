#pragma once
#include <string>
#include <vector>

namespace ashlar::mpiexec {

/// What an ELF file says of the libraries that it needs and of where they are. Empty for any other file, for one of
/// the other word size, and as far as the file is cut short.
struct DynamicSection {
  std::vector<std::string> needed;
  std::string soname, rpath, runpath;
};
DynamicSection dynamic_section_of(const std::string& file);

}  // namespace ashlar::mpiexec
