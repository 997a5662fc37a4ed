#include <type_traits>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/option_values.h"

namespace ashlar::mpiexec {
namespace {

template <auto member>
Status turn_on(Reading& r, const OptionValues&) {
  r.options->*member = true;
  return {};
}

/// Keeps the value in a member of the program that is being read, or of the options.
template <auto member>
Status keep(Reading& r, const OptionValues& v) {
  if constexpr (std::is_invocable_v<decltype(member), Segment&>)
    r.segment.*member = v[0];
  else
    r.options->*member = v[0];
  return {};
}

constexpr OptionRow kRows[] = {
    {"-n -np -c --n --np", 1, "N", "run N ranks of the program (1 unless given)", take_ranks},
    {"-N -ppn --N --ppn -perhost -npernode --npernode", 1, "N",
     "run N ranks of the program on each host; -n bounds them all", take_ranks_per_node},
    {"-soft --soft", 1, "NUMBERS", "numbers of ranks that will do, as 1,2,8 or 4:16:4; the largest up to -n is taken",
     take_soft},
    {"-wdir --wdir -wd --wd", 1, "DIR", "start the ranks in DIR", keep<&Segment::wdir>},
    {"-path --path", 1, "DIRS", "look for the program in these folders (separated by colons) before PATH",
     keep<&Segment::path>},
    {"-env --env", 2, "NAME VALUE", "set an environment variable for this program's ranks",
     [](Reading& r, const OptionValues& v) { return take_env(v, &r.segment.env); }},
    {"-x --x", 1, "NAME[=VALUE]", "the same in one word; the environment is passed on in any case",
     [](Reading& r, const OptionValues& v) { return take_assignment(v[0], &r.segment.env); }},
    {"-genv --genv", 2, "NAME VALUE", "set an environment variable for all programs",
     [](Reading& r, const OptionValues& v) { return take_env(v, &r.options->env); }},
    {"--set --param", 1, "KEY=VALUE", "set a parameter of the library, a component or mpiexec", take_set},
    {"--pset -pset", 1, "NAME[=RANKS]",
     "a process set that sessions see: of this program's ranks, or of RANKS (0-3,8-14:2)", take_pset},
    {"-memory-alloc-kinds --memory-alloc-kinds", 1, "KINDS",
     "kinds of memory that the program passes to MPI (system,mpi:alloc_mem)",
     [](Reading& r, const OptionValues& v) {
       r.options->params.emplace_back("runtime.memory_alloc_kinds", v[0]);
       return Status();
     }},
    {"--bind-to -bind-to", 1, "WHAT",
     "bind each rank to: auto (an equal share of the cores), none, hwthread, core, "
     "numa, socket",
     take_bind},
    {"--map-by -map-by", 1, "WHAT",
     "place ranks one after another over: hwthread, core, numa, socket; over hosts by: slot, node, ppr:N:node",
     take_map},
    {"--report-bindings -report-bindings", 0, "", "print where each rank is bound", turn_on<&Options::report_bindings>},
    {"--show-placement --do-not-launch --donotlaunch", 0, "", "print where each rank would be bound, and do not run",
     turn_on<&Options::show_placement>},
    {"--check -check", 0, "",
     "look at the hosts instead of running the program (which may be left out): what leads there, the program and its "
     "libraries, and the ways between them",
     turn_on<&Options::check>},
    {"--stdin", 1, "RANK|none", "the rank that gets standard input (0 unless given)", take_stdin},
    {"--output -output --output-filename -output-filename", 1, "FILES",
     "write each rank's output to files: a folder (FILES/rank.0.out, .err), or a pattern with "
     "%r (rank), %a (program's number), %h (host), %p (mpiexec's process), %s (out or err)",
     take_output},
    {"--tag-output -tag-output -l --tag -prepend-rank --prepend-rank", 0, "", "begin each line of output with its rank",
     turn_on<&Options::tag_output>},
    {"--timestamp-output -timestamp-output", 0, "",
     "begin each line of output with the time when mpiexec read it (2026-03-01T14:05:09.123456+01:00)",
     turn_on<&Options::timestamp_output>},
    {"--stall", 1, "SECONDS", "say which rank waits for which when no rank gets on for so long (0: never)", take_stall},
    {"--keep-going -disable-auto-cleanup --disable-auto-cleanup --enable-recovery -enable-recovery --recoverable "
     "--continuous",
     0, "", "go on when a rank fails: calls that need it fail with MPI_ERR_PROC_ABORTED",
     [](Reading& r, const OptionValues&) {
       r.options->params.emplace_back("mpiexec.on_failure", "continue");
       return Status();
     }},
    {"--timeout -timeout", 1, "SECONDS", "end the job after so many seconds (exit status 124)", take_timeout},
    {"--explain", -1, "[=TOPIC]", "print which decisions were made and why: launch, transport, coll, ...",
     [](Reading& r, const OptionValues& v) {
       r.options->explain = true;
       if (!v.empty()) r.options->explain_topic = v[0];
       return Status();
     }},
    {"--tool", 1, "NAME", "watch the ranks' MPI calls with this tool; several: NAME,NAME",
     [](Reading& r, const OptionValues& v) { return add_tool(r, v[0]); }},
    {"--trace", -1, "[=FILE]",
     "write at the end which calls the ranks made, and when: FILE.html (a page; trace.html unless given), .json, .prom "
     "or .otf2 (tool trace)",
     take_trace},
    {"--summary", 0, "", "print at the end what the job spent its time on (tool summary)",
     [](Reading& r, const OptionValues&) { return add_tool(r, "summary"); }},
    {"--host -host -hosts --hosts -H", 1, "NAME[:N],...",
     "run this program's ranks on these hosts, N on each; without N, as many on each", take_hosts},
    {"--hostfile -hostfile --machinefile -machinefile -f", 1, "FILE",
     "the same for all programs, with a host on each line of FILE: NAME, NAME:N or NAME slots=N", take_host_file},
    {"--rank-by -rank-by", 1, "WHAT", "number the ranks: slot (host by host) or node (around the hosts)", take_rank_by},
    {"--launch-agent -launcher-exec --launcher-exec --plm-rsh-agent -rsh", 1, "COMMAND",
     "what starts mpiexec on another host, with %h for its name (ssh unless given)", take_agent},
    {"-launcher --launcher -bootstrap --bootstrap", 1, "NAME", "the same by name: ssh, rsh, srun", take_launcher},
    {"--prefix -prefix", 1, "DIR", "where Ashlar MPI is installed on other hosts, if not as here",
     keep<&Options::prefix>},
    {"-arch --arch", 1, "NAME",
     "use only hosts of this kind (arch= in the host file; uname -m), which must be this machine's", take_arch},
    {"-file --file", 1, "FILE", "more options for this program, on the lines of FILE", take_file},
    {"-configfile", 1, "FILE", "instead of a command line: a program with its options on each line of FILE",
     [](Reading&, const OptionValues&) { return fail(kErrArg, "option.configfile_alone"); }},
    {"--version -V", 0, "", "print the version", turn_on<&Options::version>},
    {"--help -h -? -help", 0, "", "print this text", turn_on<&Options::help>},
    // What other implementations call otherwise.
    {"-initial-errhandler --initial-errhandler", 1, "", nullptr,
     [](Reading& r, const OptionValues& v) {
       r.options->params.emplace_back("runtime.initial_errhandler", v[0]);
       return Status();
     }},
    {"--bynode -bynode", 0, "", nullptr,
     [](Reading& r, const OptionValues&) {
       r.options->map_nodes = MapNodes::kNode;
       return Status();
     }},
    {"--byslot -byslot", 0, "", nullptr,
     [](Reading& r, const OptionValues&) {
       r.options->map_nodes = MapNodes::kSlot;
       return Status();
     }},
    {"-v --verbose -verbose", 0, "", nullptr, turn_on<&Options::explain>},
    {"--nooversubscribe -nooversubscribe --no-oversubscribe", 0, "", nullptr,
     [](Reading& r, const OptionValues&) {
       r.options->params.emplace_back("mpiexec.oversubscribe", "error");
       return Status();
     }},
};

}  // namespace

std::span<const OptionRow> option_rows() { return kRows; }

}  // namespace ashlar::mpiexec
