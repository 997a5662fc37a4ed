#pragma once
#include <pmix_server.h>

#include "mpiexec/pmix_server.h"

namespace ashlar::mpiexec {

/// Tells libpmix what its clients may ask about their job: who is where, and beside whom. Of a job that has no rank
/// here
/// (`facts.node` is no host of it), too. Waits for libpmix's thread.
pmix_status_t register_job(const PmixFacts& facts);

}  // namespace ashlar::mpiexec
