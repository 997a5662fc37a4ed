#pragma once
#include <string>
#include <vector>

namespace ashlar::mpiexec {

/// The first shared library that `program` names itself and the dynamic loader does not find; empty when all are found,
/// or when the file is not a dynamically linked program of this machine. `library_path` is the rank's LD_LIBRARY_PATH,
/// `folder` the one it starts in ("": this process's), which relative entries refer to. Reads files, runs nothing.
std::string missing_library(const std::string& program, const std::string& library_path, const std::string& folder);

/// A shared library that a program needs.
struct NeededLibrary {
  std::string name;
  std::string by;  // the file that names it
  bool there = false;
  std::string path;  // empty: the loader alone can tell
};
/// All of them, those that libraries need too, each once, as missing_library looks for them.
std::vector<NeededLibrary> needed_libraries(const std::string& program, const std::string& library_path,
                                            const std::string& folder);

/// A library of another MPI implementation.
struct OtherLibrary {
  std::string name;       // "libmpich.so.12"; of one with the standard ABI, the file that the loader finds; "": none
  bool same_abi = false;  // a program that was made for it runs with this installation's, too
};
/// The first one that `program` names itself; none as above.
OtherLibrary other_mpi_library(const std::string& program, const std::string& library_path, const std::string& folder);

/// What a user can do about a missing library, when `lib_folder` holds the libraries of this installation.
std::string missing_library_words(const std::string& library, const std::string& lib_folder);

}  // namespace ashlar::mpiexec
