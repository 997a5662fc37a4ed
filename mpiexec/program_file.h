#pragma once
#include <string>

#include "framework/base/status.h"
#include "mpiexec/environment.h"
#include "mpiexec/options.h"

namespace ashlar::mpiexec {

/// What the ranks of `segment` get as the environment variable `name`, when mpiexec's own environment is `base`.
std::string variable_of(const Environment& base, const Options& options, const Segment& segment,
                        const std::string& name);

/// The file that the ranks of `segment` run on this host. Fails as the start of a job does that finds none, or not the
/// folder in which they are to start.
Status find_program_of(const Environment& base, const Options& options, const Segment& segment, std::string* file);

/// The folder in which this process runs; "/" when it has no name any more.
std::string current_folder();
/// Goes to the folder in which mpiexec runs on its own host, if a program starts there.
Status enter_folder(const Options& options, const std::string& folder);

}  // namespace ashlar::mpiexec
