// The dynamic loader ends a program with exit code 127 when a library is missing, as shells do when a command is. After
// such an end the program's file and the folders that the loader searches tell the two apart.
#include "mpiexec/missing_library.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "mpiexec/dynamic_section.h"
#include "mpiexec/loader_cache.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

/// Where the loader looks when all else fails; Debian's has a folder of the architecture in front.
#if defined(__x86_64__)
constexpr const char* kLoaderFolders =
    "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
#elif defined(__aarch64__)
constexpr const char* kLoaderFolders =
    "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
#else
constexpr const char* kLoaderFolders = "/lib64:/usr/lib64:/lib:/usr/lib";
#endif

std::string path_of(const std::string& file, const std::string& folder) {
  const bool below = !file.empty() && file[0] != '/' && !folder.empty();
  return below ? folder + "/" + file : file;
}

bool exists(const std::string& path, const std::string& folder) {
  return access(path_of(path, folder).c_str(), F_OK) == 0;
}

void replace_all(std::string* text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text->find(what, at)) != std::string::npos; at += with.size())
    text->replace(at, what.size(), with);
}

/// What the loader finds: a file, nothing, or something that only the loader can tell.
struct Found {
  bool there = false;
  std::string path;  // empty: not known
};

/// The first of the folders that has `library`. Entries are separated as the loader separates them; "" is the rank's.
Found in_folders(const std::string& library, std::string list, const std::string& origin, const std::string& folder) {
  if (list.empty()) return {};
  replace_all(&list, "$ORIGIN", origin);
  replace_all(&list, "${ORIGIN}", origin);
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(":;", begin), list.size());
    const std::string entry = list.substr(begin, end - begin);
    // $LIB and $PLATFORM depend on the loader; a library that may be there is not called missing.
    if (entry.find('$') != std::string::npos) return {.there = true, .path = {}};
    const std::string path = (entry.empty() ? "." : entry) + "/" + library;
    if (exists(path, folder)) return {.there = true, .path = path_of(path, folder)};
    begin = end + 1;
  }
  return {};
}

/// What ldconfig has found. Of a file that is gone since the loader thinks no more.
Found in_cache(const std::string& library) {
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string cache{std::istreambuf_iterator<char>(file), {}};
  std::string path = path_in_loader_cache(cache, library);
  return !path.empty() && exists(path, "") ? Found{.there = true, .path = std::move(path)} : Found{};
}

/// Where the loader looks for a library that `program` names.
Found find(const std::string& library, const std::string& program, const DynamicSection& dynamic,
           const std::string& library_path, const std::string& folder) {
  if (library.find('/') != std::string::npos)
    return {.there = exists(library, folder), .path = path_of(library, folder)};
  const std::size_t slash = program.rfind('/');
  const std::string origin = slash == std::string::npos ? "." : program.substr(0, slash);
  Found found;
  for (const std::string& list :
       {dynamic.runpath.empty() ? dynamic.rpath : std::string(), library_path, dynamic.runpath})
    if (!found.there) found = in_folders(library, list, origin, folder);
  if (!found.there) found = in_cache(library);
  if (!found.there) found = in_folders(library, kLoaderFolders, origin, folder);
  return found;
}

}  // namespace

std::string missing_library(const std::string& program, const std::string& library_path, const std::string& folder) {
  const std::string path = path_of(program, folder);
  const DynamicSection dynamic = dynamic_section_of(path);
  for (const std::string& library : dynamic.needed)
    if (!library.empty() && !find(library, path, dynamic, library_path, folder).there) return library;
  return {};
}

std::vector<NeededLibrary> needed_libraries(const std::string& program, const std::string& library_path,
                                            const std::string& folder) {
  std::vector<NeededLibrary> all;
  const std::string first = path_of(program, folder);
  const std::string of_program = dynamic_section_of(first).rpath;
  const auto add_those_of = [&](const std::string& file) {
    DynamicSection dynamic = dynamic_section_of(file);
    // The program's own DT_RPATH serves its libraries, too, but for those that have a DT_RUNPATH.
    if (file != first && dynamic.runpath.empty() && !of_program.empty())
      dynamic.rpath += (dynamic.rpath.empty() ? "" : ":") + of_program;
    for (const std::string& name : dynamic.needed) {
      const auto same = [&name](const NeededLibrary& other) { return other.name == name; };
      if (name.empty() || std::any_of(all.begin(), all.end(), same)) continue;
      Found found = find(name, file, dynamic, library_path, folder);
      all.push_back({.name = name, .by = file, .there = found.there, .path = std::move(found.path)});
    }
  };
  add_those_of(first);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const std::string file = all[i].path; !file.empty()) add_those_of(file);
  return all;
}

OtherLibrary other_mpi_library(const std::string& program, const std::string& library_path, const std::string& folder) {
  const std::string path = path_of(program, folder);
  const DynamicSection dynamic = dynamic_section_of(path);
  for (const std::string& library : dynamic.needed) {
    if (library.starts_with("libmpi.so.") || library.starts_with("libmpich.so."))
      return {.name = library, .same_abi = false};
    if (!library.starts_with("libmpi_abi.so.")) continue;
    const Found found = find(library, path, dynamic, library_path, folder);
    const DynamicSection its = dynamic_section_of(found.path);
    if (!its.soname.empty() && std::find(its.needed.begin(), its.needed.end(), "libashlar.so") == its.needed.end())
      return {.name = found.path, .same_abi = true};
  }
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
