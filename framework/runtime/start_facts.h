#pragma once
#include "framework/param/store.h"
#include "framework/plugin/launch.h"

namespace ashlar::runtime {

/// Adds to MPI_INFO_ENV what the process can know of its start without joining its job.
void describe_start();
/// Adds what is known afterwards, where another launcher than ours started it.
void describe_start(const ashlar_job& job, const param::Store& params);

}  // namespace ashlar::runtime
