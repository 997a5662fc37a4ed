// mpiexec: starts an MPI program on this machine.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/records.h"
#include "mpiexec/environment.h"
#include "mpiexec/further_request.h"
#include "mpiexec/job.h"
#include "mpiexec/options.h"
#include "mpiexec/placement.h"
#include "mpiexec/settings.h"
#include "mpiexec/text.h"
#include "mpiexec/topology.h"

namespace {

using namespace ashlar;
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

bool is_ignored(int signal) {
  struct sigaction now;
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// mpiexec's exit status after it has printed what an option wants.
int printed() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return 0;
  say(in_words(fail(kErrOther, "output.stdout", {{"lower", std::strerror(errno)}})));
  return 1;
}

Inherited look_at_inheritance() {
  Inherited inherited;
  sigprocmask(SIG_SETMASK, nullptr, &inherited.mask);
  inherited.pipe_ignored = is_ignored(SIGPIPE);
  inherited.file_size_ignored = is_ignored(SIGXFSZ);
  getrlimit(RLIMIT_NOFILE, &inherited.files);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  return inherited;
}

Placement decide_placement(const Options& options, const Settings& settings) {
  const unsigned ranks = options.ranks();
  const double quota = cpu_quota().value_or(0);
  const auto allowed = static_cast<unsigned>(allowed_cpus().size());
  const bool shown = options.report_bindings || options.show_placement || options.explain;
  if (!needs_topology(settings.bind, ranks, allowed) && !(shown && getenv("HWLOC_SYNTHETIC")))
    return place_unbound(ranks, allowed, quota, settings.bind);
  std::string note;
  const Topology topology = discover(&note);
  Placement placement = place(topology, ranks, topology.real ? quota : 0, settings.bind, settings.map);
  if (!note.empty()) placement.because += "; " + note;
  // A made-up machine is there to look at.
  if (!topology.real && !options.show_placement)
    for (auto& cpus : placement.cpus) cpus.clear();
  return placement;
}

void report_placement(const Options& options, const Placement& placement) {
  if (options.explain &&
      ashlar::plugin::wants(options.explain_topic.empty() ? "all" : options.explain_topic, "launch")) {
    const char* crowd = placement.oversubscribed ? "there are more ranks than cores" : "there is a core for each rank";
    const std::string out = ashlar::plugin::to_text({
        {"launch", "binding", placement.what, placement.because, placement.lost, "--bind-to, --map-by"},
        {"launch", "waiting", placement.oversubscribed ? "ranks yield at once" : "ranks may spin", crowd, "", "-n"},
    });
    std::fputs(out.c_str(), stderr);
  }
  if (!options.report_bindings && !options.show_placement) return;
  std::string lines;
  unsigned rank = 0;
  for (const Segment& segment : options.segments)
    for (unsigned i = 0; i < segment.ranks; ++i, ++rank)
      lines += text("rank %u: %s: %s\n", rank, shown(segment.argv[0]).c_str(), placement.words[rank].c_str());
  std::fputs(lines.c_str(), options.show_placement ? stdout : stderr);
}

}  // namespace

int main(int argc, char** argv) {
  fill_closed_streams();
  const Inherited inherited = look_at_inheritance();
  Options options;
  FurtherRequest asked;
  const bool further = asked.find();
  if (further) speak_for("job " + asked.name());
  // One that was started by a process without a launcher has no command line.
  const Status parsed = further && argc == 1 ? Status() : parse_options(argc, argv, &options);
  if (!parsed.ok()) {
    say(in_words(parsed));
    return 2;
  }
  if (further)
    if (const Status fit = asked.apply(&options); !fit.ok()) {
      asked.refused(fit.text());
      return 0;
    }
  if (options.help || options.version) {
    const std::string out = options.help ? help_text() : std::string("mpiexec (Ashlar MPI) " ASHLAR_VERSION "\n");
    std::fputs(out.c_str(), stdout);
    return printed();
  }
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0 || !*host) std::snprintf(host, sizeof host, "localhost");
  Environment environment(environ);
  Settings settings;
  const auto give_up = [&](const Status& reason) {
    if (further) asked.refused(reason.text());
    if (!further) say(in_words(reason));
    return further ? 0 : 2;
  };
  if (const Status loaded = load_settings(options, host, environ, &settings); !loaded.ok()) return give_up(loaded);
  Placement placement = decide_placement(options, settings);
  placement.oversubscribed =
      placement.oversubscribed || (further && options.ranks() + asked.ranks_above() > allowed_cpus().size());
  report_placement(options, placement);
  if (options.show_placement) return printed();
  if (placement.oversubscribed && !settings.oversubscribe)
    return give_up(fail(kErrArg, "start.oversubscribed", {{"ranks", options.ranks()}}));
  const std::string job_id =
      text("%d.%llx", static_cast<int>(getpid()), static_cast<unsigned long long>(own_start_time()));
  Job job(options, settings, placement, inherited, std::move(environment), host, job_id, argv,
          further ? &asked : nullptr);
  return job.run();
}
