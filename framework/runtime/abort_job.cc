#include "framework/runtime/abort_job.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "framework/base/abort_status.h"
#include "framework/base/flush_streams.h"
#include "framework/base/log.h"
#include "framework/object/comm.h"
#include "framework/runtime/other_jobs.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

/// "rank 2" or "ranks 0-3, 8" of the job: the members of `comm`. Of many, the first few.
std::string ranks_of(const Comm& comm) {
  std::vector<PeerId> ranks;
  const std::uint32_t own = Process::current()->job->ranks;
  const auto add = [&ranks, own](const Group& group) {
    for (Rank r = 0; r < group.size(); ++r)
      if (group[r] < own) ranks.push_back(group[r]);
  };
  add(*comm.local_group);
  if (comm.inter) add(*comm.remote_group);
  std::sort(ranks.begin(), ranks.end());
  std::string list;
  int pieces = 0;
  for (std::size_t i = 0, last = 0; i < ranks.size(); i = last + 1) {
    if (++pieces > 8) return "ranks " + list + " ...";
    for (last = i; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1;) ++last;
    if (i > 0) list += ", ";
    list += std::to_string(ranks[i]);
    if (last > i) list += "-" + std::to_string(ranks[last]);
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

}  // namespace

void abort_job(Comm* comm, int code, const char* text) {
  const int exit_code = abort_status(code);
  Process* const process = Process::current();
  flush_streams();
  if (process && comm && process->other_jobs()) process->other_jobs()->end(*comm, exit_code);
  char longer[3072];
  const unsigned ranks = process && process->job ? process->job->ranks : 0;
  if (comm && static_cast<unsigned>(comm->size + (comm->inter ? comm->remote_size : 0)) < ranks) {
    std::snprintf(longer, sizeof longer, "%s\n  all %u ranks of the job end, not only those of '%s' (%s).", text, ranks,
                  comm->name.c_str(), ranks_of(*comm).c_str());
    text = longer;
  }
  if (process && process->launch)
    process->launch->ops->abort(process->launch, exit_code, text);
  else
    log::paragraph(log::Level::error, "mpi", text);
  std::_Exit(exit_code);
}

}  // namespace ashlar::runtime
