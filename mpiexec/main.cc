// mpiexec: starts an MPI program on this machine and others. As its own daemon on another host: daemon.h.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpiexec/allocation.h"
#include "mpiexec/check.h"
#include "mpiexec/daemon.h"
#include "mpiexec/environment.h"
#include "mpiexec/further_request.h"
#include "mpiexec/job.h"
#include "mpiexec/node_plan.h"
#include "mpiexec/options.h"
#include "mpiexec/settings.h"
#include "mpiexec/text.h"

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

}  // namespace

int main(int argc, char** argv) {
  fill_closed_streams();
  const Inherited inherited = look_at_inheritance();
  if (argc == 2 && std::strcmp(argv[1], "--daemon") == 0) return Daemon(inherited).run();
  Options options;
  FurtherRequest asked;
  const bool further = asked.find();
  if (further) {
    speak_for("job " + asked.name());
    prctl(PR_SET_NAME, "mpiexec");  // it was run by another name
  }
  const Status nodes = further && argc == 1 ? Status() : read_allocation(environ, &options.allocation);
  // One that was started by a process without a launcher has no command line.
  Status parsed = further && argc == 1 ? Status() : parse_options(argc, argv, &options);
  const bool wants_nodes = options.hosts.empty() && !options.segments.empty() && options.segments[0].hosts.empty();
  if (parsed.ok() && wants_nodes) parsed = nodes;
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
  if (options.check && !further) return Check(options, settings, inherited, environment, host).run();
  const std::string job_id =
      text("%d.%llx", static_cast<int>(getpid()), static_cast<unsigned long long>(own_start_time()));
  Job job(options, settings, inherited, std::move(environment), plan_nodes(options, host), host, job_id, argv,
          further ? &asked : nullptr);
  return job.run();
}
