#pragma once
#include <string>
#include <string_view>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// What an errno means where mpiexec gets it: the system's words, and of limits which it is and how to see it.
std::string error_words(int error);

/// The failure of a step in setting up the job: "cannot " and `what` as an infinitive, with `error` from errno.
Status cannot(std::string_view what, int error);

/// Why the system did not run `file`, with `error` from execve: the name of an interpreter that is missing, the machine
/// that a program was built for.
std::string exec_error_words(const std::string& file, int error);

}  // namespace ashlar::mpiexec
