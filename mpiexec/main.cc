// mpiexec: starts an MPI program on this machine.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "framework/base/clock.h"
#include "mpiexec/environment.h"
#include "mpiexec/job.h"
#include "mpiexec/options.h"
#include "mpiexec/placement.h"
#include "mpiexec/text.h"
#include "mpiexec/topology.h"

namespace {

using namespace ashlar::mpiexec;

// Without this a pipe or the board could get number 0, 1 or 2 and be taken for a stream.
void fill_closed_streams() {
  for (;;) {
    const int fd = open("/dev/null", O_RDWR);
    if (fd < 0 || fd > 2) {
      if (fd > 2) close(fd);
      return;
    }
  }
}

Inherited look_at_inheritance() {
  Inherited inherited;
  sigprocmask(SIG_SETMASK, nullptr, &inherited.mask);
  struct sigaction pipe;
  inherited.pipe_ignored = sigaction(SIGPIPE, nullptr, &pipe) == 0 && pipe.sa_handler == SIG_IGN;
  getrlimit(RLIMIT_NOFILE, &inherited.files);
  signal(SIGPIPE, SIG_IGN);
  return inherited;
}

Placement decide_placement(const Options& options) {
  const unsigned ranks = options.ranks();
  const double quota = cpu_quota().value_or(0);
  const auto allowed = static_cast<unsigned>(allowed_cpus().size());
  const bool shown = options.report_bindings || options.show_placement || options.explain;
  if (!needs_topology(options.bind, ranks, allowed) && !(shown && getenv("HWLOC_SYNTHETIC")))
    return place_unbound(ranks, allowed, quota, options.bind);
  std::string note;
  const Topology topology = discover(&note);
  Placement placement = place(topology, ranks, topology.real ? quota : 0, options.bind, options.map);
  if (!note.empty()) placement.because += "; " + note;
  // A made-up machine is there to look at.
  if (!topology.real && !options.show_placement)
    for (auto& cpus : placement.cpus) cpus.clear();
  return placement;
}

void report_placement(const Options& options, const Placement& placement) {
  if (options.explain && (options.explain_topic.empty() || options.explain_topic == "launch")) {
    say(text("launch: binding: %s\nbecause: %s%s%s\nsetting: --bind-to, --map-by", placement.what.c_str(),
             placement.because.c_str(), placement.lost.empty() ? "" : "\nnot: ", placement.lost.c_str()));
    say(text("launch: waiting: %s\nbecause: %u rank%s; %s",
             placement.oversubscribed ? "ranks yield at once" : "ranks may spin", options.ranks(),
             options.ranks() == 1 ? "" : "s",
             placement.oversubscribed ? "there are fewer cores than ranks" : "there is a core for each"));
  }
  if (!options.report_bindings && !options.show_placement) return;
  std::string lines;
  unsigned rank = 0;
  for (const Segment& segment : options.segments)
    for (unsigned i = 0; i < segment.ranks; ++i, ++rank)
      lines += text("rank %u: %s: %s\n", rank, segment.argv[0].c_str(), placement.words[rank].c_str());
  std::fputs(lines.c_str(), options.show_placement ? stdout : stderr);
}

}  // namespace

int main(int argc, char** argv) {
  fill_closed_streams();
  const Inherited inherited = look_at_inheritance();
  Options options;
  std::string error;
  if (!parse_options(argc, argv, &options, &error)) {
    say(error);
    return 2;
  }
  if (options.help || options.version) {
    const std::string out = options.help ? help_text() : std::string("mpiexec (Ashlar MPI) " ASHLAR_VERSION "\n");
    std::fputs(out.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  Environment environment(environ);
  const Placement placement = decide_placement(options);
  report_placement(options, placement);
  if (options.show_placement) return std::fflush(stdout) == 0 ? 0 : 1;

  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0 || !*host) std::snprintf(host, sizeof host, "localhost");
  const std::string job_id =
      text("%d.%llx", static_cast<int>(getpid()), static_cast<unsigned long long>(own_start_time()));
  std::string params;
  for (const auto& [key, value] : options.params) params += key + "=" + value + "\n";
  Job job(options, placement, inherited, std::move(environment), host, job_id, params);
  for (const auto& [key, value] : options.params)
    if (key == "mpiexec.pmix") job.set_pmix(value);
  return job.run();
}
