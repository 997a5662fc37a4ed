// MPI_INFO_ENV (MPI-5.0, 11.2.1) holds the words of the command that started a process, the same before it joins its
// job, between, and afterwards.
#include "framework/runtime/start_facts.h"

#include <cstdlib>
#include <string>

#include "framework/object/info_api.h"
#include "framework/param/sources.h"
#include "framework/param/trust.h"
#include "framework/plugin/launch_board.h"
#include "framework/plugin/setup.h"
#include "framework/plugin/start_words.h"

namespace ashlar::runtime {
namespace {

/// Our launcher's words, or nullptr.
const char* launcher_words() {
  static const char* const words = param::elevated() ? nullptr : std::getenv(launch::kInfoVariable);
  return words;
}

/// What parameters say of the start of a process that no launcher of ours has read them for.
const char* own_words() {
  static const std::string words = [] {
    param::Store store;
    plugin::Registry registry(&store);
    const std::string prefix = param::installation_prefix();
    // The process tells of faults when it joins its job.
    (void)plugin::configure(prefix, param::standard_sources(prefix), &store, &registry).ok();
    return plugin::start_words(store);
  }();
  return words.c_str();
}

}  // namespace

void describe_start() {
  if (!launcher_words()) info::words_of_start = own_words;
  // A process that none of our launcher, PMIx and PMI started is alone, or does not start (launch/singleton).
  const bool alone = !std::getenv("PMIX_NAMESPACE") && !std::getenv("PMI_FD") && !std::getenv("PMI_PORT");
  info::describe_start(info::environment(), launcher_words() ? launcher_words() : alone ? "maxprocs=1;soft=1" : "");
}

void describe_start(const ashlar_job& job, const param::Store& params) {
  if (launcher_words()) return;
  const std::string ranks = std::to_string(job.ranks);
  const std::string words = "maxprocs=" + ranks + ";soft=" + ranks + ";" + plugin::start_words(params);
  info::describe_start(info::environment(), words.c_str());
}

}  // namespace ashlar::runtime
