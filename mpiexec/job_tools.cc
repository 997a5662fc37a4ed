// What the tools of a job are told: docs/tracing.md.
#include "framework/base/clock.h"
#include "mpiexec/job.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr int kLookMs = 100;  // between looks at hosts that send

}  // namespace

ToolJob Job::for_tools(std::uint64_t until_ns) const {
  return {.fates = fates_,
          .params = settings_.for_ranks,
          .host = host_,
          .job_id = job_id_,
          .exit_status = status_,
          .began_ns = began_ns_,
          .ended_ns = until_ns,
          .clocks = there_.any() ? there_.clocks() : std::vector<ashlar_tool_host_clock>()};
}

/// One is due. What other hosts have recorded is asked for first, and the sample is taken when it has come.
void Job::sample_tools(std::uint64_t now) {
  if (there_.any() && !bringing_) there_.bring_tools(/*whole=*/false);
  bringing_ = there_.bringing_tools();
  if (!bringing_) sampler_->sample(for_tools(now));
}

/// The job is over, and its daemons still have what was recorded there. A signal to mpiexec ends the wait for it.
void Job::bring_tools() {
  const unsigned interrupts = interrupts_;
  const auto come = [&] {
    while (there_.bringing_tools() && interrupts_ == interrupts) {
      poll_once(kLookMs);
      reap();
      there_.check(now_ns());
    }
    return !there_.bringing_tools();
  };
  if (come()) there_.bring_tools(/*whole=*/true);  // not before what a sample has asked for
  if (!come()) say("the report of the tools lacks what other hosts had not sent when mpiexec was told to end");
  there_.drop_parts();
}

}  // namespace ashlar::mpiexec
