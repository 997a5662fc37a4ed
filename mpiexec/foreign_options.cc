#include "mpiexec/foreign_options.h"

#include <algorithm>

namespace ashlar::mpiexec {
namespace {

constexpr char kParameters[] =
    "Parameters are set by --set KEY=VALUE, and ashlar_info --params lists them (docs/parameters.md)";
constexpr char kBinding[] =
    "--map-by and --bind-to place and bind ranks by hwthread, core, numa or socket; taskset narrows what mpiexec may "
    "use";
constexpr char kShown[] = "--report-bindings prints where each rank is bound, --show-placement does and runs nothing";
constexpr char kHosts[] =
    "--host and --hostfile name the hosts, and --launch-agent the command that leads there; each process finds the "
    "networks by itself (docs/networks.md)";
constexpr char kFiles[] = "--output DIR or --output 'name.%r.%s' writes each rank's output to files";
constexpr char kLines[] = "--tag-output begins each line with its rank, --timestamp-output with the time";
constexpr char kDebugger[] = "Start the debugger as the program, as in mpiexec -n 2 xterm -e gdb ./program";
constexpr char kEnvironment[] =
    "The whole environment is passed on; run mpiexec under env -i or env -u NAME to pass on less, and set variables by "
    "-x";
constexpr char kEnds[] = "When a rank fails the others are ended, and one paragraph says which failed how";
constexpr char kSize[] = "The universe has as many ranks as there are processors, or as are started";
constexpr char kAnotherMeaning[] =
    "The option means different things elsewhere; --stdin RANK or --stdin none says which rank gets standard input";

// Hydra of MPICH and Intel MPI, mpirun of Open MPI (orterun, prterun).
constexpr ForeignOption kOptions[] = {
    // Needed elsewhere, always so here: scripts may keep them.
    {"--oversubscribe -oversubscribe --allow-run-as-root -genvall -envall --use-hwthread-cpus --localhost -localonly "
     "--quiet -quiet -q --report-state-on-timeout --get-stack-traces --noprefix --no-prefix --disable-recovery "
     "--exit-on-error --bycore -bycore",
     0, nullptr},
    {"-genvlist --genvlist -envlist --envlist", 1, nullptr},

    {"--mca -mca --gmca -gmca --omca --pmixmca --prtemca --gpmixmca --gprtemca --opal --ompi", 2, kParameters},
    {"--am -am --tune -tune --config", 1, kParameters},
    {"--cpu-set -cpu-set --cpu-list --rankfile -rankfile -rf --rf --cpus-per-proc -cpus-per-proc "
     "--cpus-per-rank --npersocket -npersocket -binding --binding --ppr --slot-list -membind",
     1, kBinding},
    {"--bind-to-core -bind-to-core --bind-to-socket -bind-to-socket --bind-to-none -bind-to-none --bysocket -bysocket",
     0, kBinding},
    {"--display-map -display-map --display-allocation --display-devel-map --display-devel-allocation --display-topo "
     "-print-rank-map --print-rank-map",
     0, kShown},
    {"--display -display", 1, kShown},
    {"-bootstrap-exec -rmk --rmk -iface --iface -order-nodes -hosts-group --dvm --dvm-uri --ompi-server "
     "--default-hostfile "
     "-default-hostfile --add-host --add-hostfile --preload-files -preload-files -pmi-port --tmpdir",
     1, kHosts},
    {"-nolocal --nolocal --preload-binary -preload-binary --set-cwd-to-session-dir --novm --no-ready-msg "
     "-disable-hostname-propagation --enable-x -enable-x",
     0, kHosts},
    {"-outfile-pattern --outfile-pattern -outfile -errfile-pattern --errfile-pattern -errfile", 1, kFiles},
    {"--output-directory -output-directory --output-proctable", 1, kFiles},
    {"-prepend-pattern --prepend-pattern", 1, kLines},
    {"--xml -xml --tag-output-detailed", 0, kLines},
    {"--merge-stderr-to-stdout -merge-stderr-to-stdout --stderr-to-stdout", 0,
     "The shell merges them: mpiexec ... 2>&1"},
    {"--stream-buffering", 1, "Output is passed on line by line; stdbuf changes how the program buffers"},
    {"-s", 1, kAnotherMeaning},
    {"-i", 0, kAnotherMeaning},
    {"-genvnone --genvnone -envnone --envnone", 0, kEnvironment},
    {"-genvexcl --genvexcl -envexcl --envexcl --unset-env -unset-env --append-env --prepend-env", 1, kEnvironment},
    {"-usize --usize", 1, kSize},
    {"--app -app", 1, "-configfile FILE reads programs and their options from a file, one program on each line"},
    {"-gdb -gdba --debug -debug -tv --tv --debugger --xterm -xterm", 0, kDebugger},
    {"-gtool -gtoolfile --gtool", 1, kDebugger},
    {"-print-all-exitcodes --print-all-exitcodes --enable-instant-on --abort-on-non-zero-status "
     "--no-abort-on-non-zero-status",
     0, kEnds},
    {"--max-restarts -max-restarts --with-ft -with-ft --runtime-options --rtos --personality", 1, kEnds},
    {"--report-pid -report-pid --report-uri -report-uri --forward-signals --pidfile -pidfile", 1,
     "The shell knows mpiexec's process ($!), and signals sent to it go to the ranks"},
    {"-info --info --build-info", 0, "ashlar_info shows how the library was built and what it finds"},
    {"-demux -ckpoint-interval -ckpoint-prefix -ckpoint-num -ckpointlib", 1, "Ashlar MPI has nothing like it"},
};

}  // namespace

const ForeignOption* find_foreign(std::string_view name) {
  const auto has = [name](const ForeignOption& option) {
    for (std::string_view names = option.names; !names.empty();) {
      const std::size_t space = std::min(names.find(' '), names.size());
      if (names.substr(0, space) == name) return true;
      names.remove_prefix(std::min(space + 1, names.size()));
    }
    return false;
  };
  const auto found = std::find_if(std::begin(kOptions), std::end(kOptions), has);
  return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace ashlar::mpiexec
