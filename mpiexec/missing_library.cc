// The dynamic loader ends a program with exit code 127 when a library is missing, as shells do when a command is. After
// such an end the program's file and the folders that the loader searches tell the two apart.
#include "mpiexec/missing_library.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "mpiexec/dynamic_section.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

bool exists(const std::string& path, const std::string& folder) {
  const bool below = !path.empty() && path[0] != '/' && !folder.empty();
  return access((below ? folder + "/" + path : path).c_str(), F_OK) == 0;
}

void replace_all(std::string* text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text->find(what, at)) != std::string::npos; at += with.size())
    text->replace(at, what.size(), with);
}

/// Whether a folder of the list has `library`. Entries are separated as the loader separates them; "" is the rank's.
bool in_folders(const std::string& library, std::string list, const std::string& origin, const std::string& folder) {
  if (list.empty()) return false;
  replace_all(&list, "$ORIGIN", origin);
  replace_all(&list, "${ORIGIN}", origin);
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(":;", begin), list.size());
    const std::string entry = list.substr(begin, end - begin);
    // $LIB and $PLATFORM depend on the loader; a library that may be there is not called missing.
    if (entry.find('$') != std::string::npos || exists((entry.empty() ? "." : entry) + "/" + library, folder))
      return true;
    begin = end + 1;
  }
  return false;
}

std::string path_of(const std::string& program, const std::string& folder) {
  const bool below = !program.empty() && program[0] != '/' && !folder.empty();
  return below ? folder + "/" + program : program;
}

/// What ldconfig has found: paths, each with a zero byte behind it.
bool in_cache(const std::string& library) {
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string cache{std::istreambuf_iterator<char>(file), {}};
  return cache.find("/" + library + std::string(1, '\0')) != std::string::npos;
}

}  // namespace

std::string missing_library(const std::string& program, const std::string& library_path, const std::string& folder) {
  const std::string path = path_of(program, folder);
  const DynamicSection dynamic = dynamic_section_of(path);
  const std::size_t slash = path.rfind('/');
  const std::string origin = slash == std::string::npos ? "." : path.substr(0, slash);
  for (const std::string& library : dynamic.needed) {
    if (library.empty()) continue;
    const bool found = library.find('/') != std::string::npos
                           ? exists(library, folder)
                           : (dynamic.runpath.empty() && in_folders(library, dynamic.rpath, origin, folder)) ||
                                 in_folders(library, library_path, origin, folder) ||
                                 in_folders(library, dynamic.runpath, origin, folder) || in_cache(library) ||
                                 in_folders(library, "/lib:/usr/lib:/lib64:/usr/lib64", origin, folder);
    if (!found) return library;
  }
  return {};
}

std::string other_mpi_library(const std::string& program, const std::string& folder) {
  for (const std::string& library : dynamic_section_of(path_of(program, folder)).needed)
    if (library.starts_with("libmpi.so.") || library.starts_with("libmpich.so.")) return library;
  return {};
}

std::string missing_library_words(const std::string& library, const std::string& lib_folder) {
  const std::string name = shown(library);
  if (!lib_folder.empty() && exists(lib_folder + "/" + library, ""))
    return text(
        "The dynamic loader did not find %s: the program has no run path to it. Link it with the mpicc of this "
        "installation, which sets one, or run it with LD_LIBRARY_PATH=%s",
        name.c_str(), shown(lib_folder).c_str());
  if (library.starts_with("libmpi"))
    return text(
        "The dynamic loader did not find %s, which belongs to another MPI library: compile the program with the "
        "mpicc of this installation",
        name.c_str());
  return text("The dynamic loader did not find %s, which the program needs", name.c_str());
}

}  // namespace ashlar::mpiexec
