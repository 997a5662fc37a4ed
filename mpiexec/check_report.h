#pragma once
#include <string>
#include <vector>

#include "mpiexec/check.h"

namespace ashlar::mpiexec {

/// What a check has found, for people: a paragraph for each host, a line for each step and for each other host, and a
/// last line for all. `failed`: the number of hosts on which, or between which, a job cannot run.
std::string check_words(const std::vector<CheckedHost>& hosts, const Settings& settings, unsigned* failed);

}  // namespace ashlar::mpiexec
