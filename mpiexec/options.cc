#include "mpiexec/options.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/trace_forms.h"
#include "mpiexec/config_file.h"
#include "mpiexec/foreign_options.h"
#include "mpiexec/hosts.h"
#include "mpiexec/rank_files.h"
#include "mpiexec/soft.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

struct State {
  Options* options;
  Segment segment = {};
  std::vector<std::string> words = {};  // the command line, and what -file has put into it
  std::size_t at = 0;                   // the word that is looked at
  bool ranks_given = false;             // of this segment
  int files = 0;
};

using Values = std::vector<std::string>;

Status not_a_value(std::string_view option, std::string_view wanted, std::string_view value) {
  return fail(kErrArg, "option.value", {{"option", option}, {"wanted", wanted}, {"value", brief(value)}});
}

constexpr long kMostRanks = 1 << 20;
constexpr int kMostFiles = 100;  // files may name files, but not for ever
// Standard input of a step goes to all its tasks, so there is one for each host.
constexpr char kSrun[] = "srun --nodes=1 --ntasks=1 --nodelist=%h --overlap --mpi=none --cpu-bind=none --quiet";

struct Row {
  const char* names;  // without dashes, separated by spaces; the first is the one shown
  int values;         // how many values follow; -1: one, only as --name=value
  const char* shown;  // the values in the help text
  const char* help;   // nullptr: accepted, not shown
  Status (*take)(State&, const Values&);
};

bool to_number(const std::string& text, long low, long high, long* out) {
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < low || value > high) return false;
  *out = value;
  return true;
}

Status take_ranks(State& s, const Values& v) {
  long n = 0;
  if (!to_number(v[0], 1, kMostRanks, &n))
    return not_a_value("-n", text("a number of ranks from 1 to %ld", kMostRanks), v[0]);
  s.segment.ranks = static_cast<unsigned>(n);
  s.ranks_given = true;
  return {};
}

Status take_soft(State& s, const Values& v) {
  long most = 0;
  if (!largest_of(v[0], INT_MAX, &most))
    return not_a_value("-soft", "numbers of ranks, as in 1,2,8 or 4:16:4 (first:last:step)", v[0]);
  s.segment.soft = v[0];
  return {};
}

/// Every number of ranks can be started here, so the largest that is acceptable is.
Status apply_soft(State& s) {
  s.segment.asked = s.segment.ranks;
  if (s.segment.soft.empty()) return {};
  const long most = s.ranks_given ? static_cast<long>(s.segment.ranks) : kMostRanks;
  long ranks = 0;
  static_cast<void>(largest_of(s.segment.soft, most, &ranks));  // looked at by take_soft
  if (ranks == 0) return fail(kErrArg, "option.soft_none", {{"most", most}, {"value", brief(s.segment.soft)}});
  s.segment.ranks = static_cast<unsigned>(ranks);
  if (!s.ranks_given) s.segment.asked = s.segment.ranks;
  return {};
}

Status take_file(State& s, const Values& v) {
  Values more;
  if (++s.files > kMostFiles)
    return fail(kErrArg, "option.too_many_files", {{"most", kMostFiles}, {"value", brief(v[0])}});
  ASHLAR_TRY(read_option_file(v[0], &more));
  s.words.insert(s.words.begin() + static_cast<std::ptrdiff_t>(s.at) + 1, more.begin(), more.end());
  return {};
}

Status take_assignment(const std::string& pair, std::vector<EnvChange>* to) {
  const std::size_t eq = pair.find('=');
  const std::string name = pair.substr(0, eq);
  if (name.empty()) return not_a_value("-x", "NAME or NAME=VALUE", pair);
  if (eq != std::string::npos) {
    to->emplace_back(name, pair.substr(eq + 1));
    return {};
  }
  // The whole environment is passed on anyway; the name alone only asserts that it is there.
  if (const char* value = std::getenv(name.c_str())) {
    to->emplace_back(name, value);
    return {};
  }
  return fail(kErrArg, "option.no_variable", {{"name", brief(name)}});
}

/// One more tool beside those that the command line names already.
Status add_tool(State& s, const std::string& names) {
  std::string& all = s.options->tools;
  if (("," + all + ",").find("," + names + ",") == std::string::npos) all += (all.empty() ? "" : ",") + names;
  return {};
}

/// The file is written when the job is over: what would keep it from being written is said before the job starts.
Status take_trace(State& s, const Values& v) {
  ASHLAR_TRY(add_tool(s, "trace"));
  if (v.empty()) return {};
  for (const std::string& file : plugin::trace_files(v[0])) {
    if (plugin::trace_form(file) == plugin::TraceForm::kNone)
      return not_a_value("--trace", std::string(plugin::kTraceForms), file);
    const std::size_t slash = file.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      return fail(kErrArg, "option.trace_folder", {{"file", brief(file)}, {"lower", std::strerror(errno)}});
  }
  s.options->traces += (s.options->traces.empty() ? "" : ",") + v[0];
  return {};
}

Status take_set(State& s, const Values& v) {
  const std::size_t eq = v[0].find('=');
  if (eq == std::string::npos || eq == 0)
    return not_a_value("--set", "KEY=VALUE, as in --set p2p.eager_limit=16KiB", v[0]);
  if (v[0].substr(0, eq) == "tool") return add_tool(s, v[0].substr(eq + 1));
  s.options->params.emplace_back(v[0].substr(0, eq), v[0].substr(eq + 1));
  return {};
}

/// NAME=RANKS for the whole job, or NAME for the ranks of this program.
Status take_pset(State& s, const Values& v) {
  const std::size_t eq = v[0].rfind('=');
  const std::string name = v[0].substr(0, eq), ranks = eq == std::string::npos ? "" : v[0].substr(eq + 1);
  if (name.empty() || name.find_first_of("=;") != std::string::npos)
    return not_a_value("--pset", "NAME or NAME=RANKS", v[0]);
  if (eq == std::string::npos) {
    s.segment.set = name;
    return {};
  }
  std::vector<unsigned> listed;
  if (!expand_ranks(ranks, &listed))
    return not_a_value("--pset " + brief(name), "a list of ranks such as 0-3,8-14:2", ranks);
  s.options->sets.emplace_back(name, ranks);
  return {};
}

template <class E>
Status take_word(const char* option, const std::string& word, const std::vector<std::pair<const char*, E>>& words,
                 E* out) {
  std::vector<std::string> known;
  for (const auto& [name, value] : words) {
    if (word == name) {
      *out = value;
      return {};
    }
    known.emplace_back(name);
  }
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  return fail(kErrArg, "option.word",
              {{"option", option}, {"suggestion", nearest(word, known)}, {"known", all}, {"value", brief(word)}});
}

Status take_bind(State& s, const Values& v) {
  return take_word<BindTo>("--bind-to", v[0],
                           {{"auto", BindTo::kAuto},
                            {"none", BindTo::kNone},
                            {"hwthread", BindTo::kHwthread},
                            {"core", BindTo::kCore},
                            {"numa", BindTo::kNuma},
                            {"socket", BindTo::kSocket},
                            {"package", BindTo::kSocket}},
                           &s.options->bind);
}

/// "ppr:2:node": two ranks on each host.
Status take_ranks_per_resource(State& s, const std::string& word) {
  long n = 0;
  const std::size_t colon = word.find(':', 4);
  if (colon == std::string::npos || word.substr(colon + 1) != "node" ||
      !to_number(word.substr(4, colon - 4), 1, kMostRanks, &n))
    return not_a_value("--map-by", "ppr:N:node, N ranks on each host,", word);
  s.segment.per_node = static_cast<unsigned>(n);
  return {};
}

Status take_map(State& s, const Values& v) {
  if (v[0].starts_with("ppr:")) return take_ranks_per_resource(s, v[0]);
  if (v[0] == "node") s.options->map_nodes = MapNodes::kNode;
  if (v[0] == "slot") s.options->map_nodes = MapNodes::kSlot;
  return take_word<MapBy>("--map-by", v[0],
                          {{"auto", MapBy::kAuto},
                           {"hwthread", MapBy::kHwthread},
                           {"core", MapBy::kCore},
                           {"slot", MapBy::kCore},
                           {"node", MapBy::kCore},
                           {"numa", MapBy::kNuma},
                           {"socket", MapBy::kSocket},
                           {"package", MapBy::kSocket}},
                          &s.options->map);
}

Status take_rank_by(State& s, const Values& v) {
  return take_word<MapNodes>("--rank-by", v[0],
                             {{"auto", MapNodes::kAuto},
                              {"slot", MapNodes::kSlot},
                              {"fill", MapNodes::kSlot},
                              {"node", MapNodes::kNode},
                              {"span", MapNodes::kNode}},
                             &s.options->rank_nodes);
}

Status take_hosts(State& s, const Values& v) { return read_hosts(v[0], &s.segment.hosts); }

Status take_host_file(State& s, const Values& v) { return read_host_file(v[0], &s.options->hosts); }

Status take_agent(State& s, const Values& v) {
  if (v[0].find_first_not_of(" \t") == std::string::npos)
    return not_a_value("--launch-agent", "a command such as \"ssh -x %h\"", v[0]);
  s.options->launch_agent = v[0];
  return {};
}

/// The launchers of other implementations by their names.
Status take_launcher(State& s, const Values& v) {
  return take_word<std::string>("-launcher", v[0], {{"ssh", ""}, {"rsh", "rsh %h"}, {"srun", kSrun}, {"slurm", kSrun}},
                                &s.options->launch_agent);
}

Status take_arch(State&, const Values& v) {
  utsname machine;
  if (uname(&machine) == 0 && v[0] == machine.machine) return {};
  return fail(kErrArg, "option.arch", {{"kind", machine.machine}, {"value", brief(v[0])}});
}

/// A number of seconds, or a duration as parameters have them.
Status take_stall(State& s, const Values& v) {
  const bool plain = !v[0].empty() && v[0].find_first_not_of("0123456789.") == std::string::npos;
  s.options->stall = plain ? v[0] + "s" : v[0];
  return {};
}

Status take_timeout(State& s, const Values& v) {
  char* end = nullptr;
  const double seconds = std::strtod(v[0].c_str(), &end);
  if (v[0].empty() || *end || !(seconds > 0) || !std::isfinite(seconds))
    return not_a_value("--timeout", "a number of seconds above 0", v[0]);
  s.options->timeout_s = seconds;
  return {};
}

/// Open MPI 5 has words here; a folder of such a name is written with a slash.
Status take_output(State& s, const Values& v) {
  const char* const kWords[] = {"timestamp", "merge", "tag-detail", "tag-fullname", "rank", "xml"};
  if (v[0] == "tag") {
    s.options->tag_output = true;
    return {};
  }
  for (const char* word : kWords)
    if (v[0] == word) return fail(kErrArg, "option.output_word", {{"value", word}});
  const bool named = v[0].starts_with("dir=") || v[0].starts_with("file=");
  s.options->output = named ? v[0].substr(v[0].find('=') + 1) : v[0];
  return check_output(s.options->output);
}

Status take_ranks_per_node(State& s, const Values& v) {
  long n = 0;
  if (!to_number(v[0], 1, kMostRanks, &n))
    return not_a_value("-N", text("a number of ranks per machine from 1 to %ld", kMostRanks), v[0]);
  s.segment.per_node = static_cast<unsigned>(n);
  return {};
}

Status take_env(const Values& v, std::vector<EnvChange>* to) {
  if (v[0].empty() || v[0].find('=') != std::string::npos)
    return fail(kErrArg, "option.two_words", {{"assignment", brief(v[0])}});
  to->emplace_back(v[0], v[1]);
  return {};
}

Status take_stdin(State& s, const Values& v) {
  long rank = 0;
  if (v[0] == "none") {
    s.options->stdin_rank = -1;
    return {};
  }
  if (!to_number(v[0], 0, INT_MAX, &rank)) return not_a_value("--stdin", "a rank or none", v[0]);
  s.options->stdin_rank = static_cast<int>(rank);
  return {};
}

const Row kRows[] = {
    {"-n -np -c --n --np", 1, "N", "run N ranks of the program (1 unless given)", take_ranks},
    {"-N -ppn --N --ppn -perhost -npernode --npernode", 1, "N",
     "run N ranks of the program on each host; -n bounds them all", take_ranks_per_node},
    {"-soft --soft", 1, "NUMBERS", "numbers of ranks that will do, as 1,2,8 or 4:16:4; the largest up to -n is taken",
     take_soft},
    {"-wdir --wdir -wd --wd", 1, "DIR", "start the ranks in DIR",
     [](State& s, const Values& v) {
       s.segment.wdir = v[0];
       return Status();
     }},
    {"-path --path", 1, "DIRS", "look for the program in these folders (separated by colons) before PATH",
     [](State& s, const Values& v) {
       s.segment.path = v[0];
       return Status();
     }},
    {"-env --env", 2, "NAME VALUE", "set an environment variable for this program's ranks",
     [](State& s, const Values& v) { return take_env(v, &s.segment.env); }},
    {"-x --x", 1, "NAME[=VALUE]", "the same in one word; the environment is passed on in any case",
     [](State& s, const Values& v) { return take_assignment(v[0], &s.segment.env); }},
    {"-genv --genv", 2, "NAME VALUE", "set an environment variable for all programs",
     [](State& s, const Values& v) { return take_env(v, &s.options->env); }},
    {"--set --param", 1, "KEY=VALUE", "set a parameter of the library, a component or mpiexec", take_set},
    {"--pset -pset", 1, "NAME[=RANKS]",
     "a process set that sessions see: of this program's ranks, or of RANKS (0-3,8-14:2)", take_pset},
    {"-memory-alloc-kinds --memory-alloc-kinds", 1, "KINDS",
     "kinds of memory that the program passes to MPI (system,mpi:alloc_mem)",
     [](State& s, const Values& v) {
       s.options->params.emplace_back("runtime.memory_alloc_kinds", v[0]);
       return Status();
     }},
    {"--bind-to -bind-to", 1, "WHAT",
     "bind each rank to: auto (an equal share of the cores), none, hwthread, core, "
     "numa, socket",
     take_bind},
    {"--map-by -map-by", 1, "WHAT",
     "place ranks one after another over: hwthread, core, numa, socket; over hosts by: slot, node, ppr:N:node",
     take_map},
    {"--report-bindings -report-bindings", 0, "", "print where each rank is bound",
     [](State& s, const Values&) {
       s.options->report_bindings = true;
       return Status();
     }},
    {"--show-placement --do-not-launch --donotlaunch", 0, "", "print where each rank would be bound, and do not run",
     [](State& s, const Values&) {
       s.options->show_placement = true;
       return Status();
     }},
    {"--stdin", 1, "RANK|none", "the rank that gets standard input (0 unless given)", take_stdin},
    {"--output -output --output-filename -output-filename", 1, "FILES",
     "write each rank's output to files: a folder (FILES/rank.0.out, .err), or a pattern with "
     "%r (rank), %a (program's number), %h (host), %p (mpiexec's process), %s (out or err)",
     take_output},
    {"--tag-output -tag-output -l --tag -prepend-rank --prepend-rank", 0, "", "begin each line of output with its rank",
     [](State& s, const Values&) {
       s.options->tag_output = true;
       return Status();
     }},
    {"--stall", 1, "SECONDS", "say which rank waits for which when no rank gets on for so long (0: never)", take_stall},
    {"--timeout -timeout", 1, "SECONDS", "end the job after so many seconds (exit status 124)", take_timeout},
    {"--explain", -1, "[=TOPIC]", "print which decisions were made and why: launch, transport, coll, ...",
     [](State& s, const Values& v) {
       s.options->explain = true;
       if (!v.empty()) s.options->explain_topic = v[0];
       return Status();
     }},
    {"--tool", 1, "NAME", "watch the ranks' MPI calls with this tool; several: NAME,NAME",
     [](State& s, const Values& v) { return add_tool(s, v[0]); }},
    {"--trace", -1, "[=FILE]",
     "write at the end which calls the ranks made, and when: FILE.html (a page; trace.html unless given), .json, .prom "
     "or .otf2 (tool trace)",
     take_trace},
    {"--summary", 0, "", "print at the end what the job spent its time on (tool summary)",
     [](State& s, const Values&) { return add_tool(s, "summary"); }},
    {"--host -host -hosts --hosts -H", 1, "NAME[:N],...",
     "run this program's ranks on these hosts, N on each; without N, as many on each", take_hosts},
    {"--hostfile -hostfile --machinefile -machinefile -f", 1, "FILE",
     "the same for all programs, with a host on each line of FILE: NAME, NAME:N or NAME slots=N", take_host_file},
    {"--rank-by -rank-by", 1, "WHAT", "number the ranks: slot (host by host) or node (around the hosts)", take_rank_by},
    {"--launch-agent -launcher-exec --launcher-exec --plm-rsh-agent -rsh", 1, "COMMAND",
     "what starts mpiexec on another host, with %h for its name (ssh unless given)", take_agent},
    {"-launcher --launcher -bootstrap --bootstrap", 1, "NAME", "the same by name: ssh, rsh, srun", take_launcher},
    {"--prefix -prefix", 1, "DIR", "where Ashlar MPI is installed on other hosts, if not as here",
     [](State& s, const Values& v) {
       s.options->prefix = v[0];
       return Status();
     }},
    {"-arch --arch", 1, "NAME", "accepted for this machine's kind only (uname -m)", take_arch},
    {"-file --file", 1, "FILE", "more options for this program, on the lines of FILE", take_file},
    {"-configfile", 1, "FILE", "instead of a command line: a program with its options on each line of FILE",
     [](State&, const Values&) { return fail(kErrArg, "option.configfile_alone"); }},
    {"--version -V", 0, "", "print the version",
     [](State& s, const Values&) {
       s.options->version = true;
       return Status();
     }},
    {"--help -h -? -help", 0, "", "print this text",
     [](State& s, const Values&) {
       s.options->help = true;
       return Status();
     }},
    // What other implementations call otherwise.
    {"-initial-errhandler --initial-errhandler", 1, "", nullptr,
     [](State& s, const Values& v) {
       s.options->params.emplace_back("runtime.initial_errhandler", v[0]);
       return Status();
     }},
    {"--bynode -bynode", 0, "", nullptr,
     [](State& s, const Values&) {
       s.options->map_nodes = MapNodes::kNode;
       return Status();
     }},
    {"--byslot -byslot", 0, "", nullptr,
     [](State& s, const Values&) {
       s.options->map_nodes = MapNodes::kSlot;
       return Status();
     }},
    {"-v --verbose -verbose", 0, "", nullptr,
     [](State& s, const Values&) {
       s.options->explain = true;
       return Status();
     }},
    {"--nooversubscribe -nooversubscribe --no-oversubscribe", 0, "", nullptr,
     [](State& s, const Values&) {
       s.options->params.emplace_back("mpiexec.oversubscribe", "error");
       return Status();
     }},
};

std::vector<std::string> names_of(const Row& row) {
  std::vector<std::string> out;
  std::string_view names = row.names;
  while (!names.empty()) {
    const std::size_t space = std::min(names.find(' '), names.size());
    out.emplace_back(names.substr(0, space));
    names.remove_prefix(std::min(space + 1, names.size()));
  }
  return out;
}

const Row* find(const std::string& option) {
  for (const Row& row : kRows)
    for (const std::string& name : names_of(row))
      if (name == option) return &row;
  return nullptr;
}

Status unknown(const std::string& option) {
  std::vector<std::string> known;
  for (const Row& row : kRows)
    for (const std::string& name : names_of(row)) known.push_back(name);
  return fail(kErrArg, "option.unknown",
              {{"suggestion", nearest(option, known)}, {"tool", "mpiexec"}, {"option", brief(option)}});
}

/// How many hosts the program has so far.
unsigned hosts_of(const State& s) {
  if (!s.segment.hosts.empty()) return static_cast<unsigned>(s.segment.hosts.size());
  const std::vector<Segment>& before = s.options->segments;
  for (auto other = before.rbegin(); other != before.rend(); ++other)
    if (!other->hosts.empty()) return static_cast<unsigned>(other->hosts.size());
  return std::max(static_cast<unsigned>(s.options->hosts.size()), 1u);
}

Status finish_segment(State& s) {
  if (s.segment.argv.empty()) return fail(kErrArg, "option.no_program");
  if (s.segment.argv[0].empty()) return fail(kErrArg, "option.empty_program");
  if (!s.ranks_given && s.segment.per_node > 0) {
    s.segment.ranks = s.segment.per_node * hosts_of(s);
    s.ranks_given = true;
  }
  ASHLAR_TRY(apply_soft(s));
  s.options->segments.push_back(std::move(s.segment));
  s.segment = {};
  s.ranks_given = false;
  return {};
}

/// An option of another implementation: either it makes no difference here, or a sentence names what does.
Status take_foreign(State& s, const ForeignOption& option, const std::string& word, std::size_t values_in_word) {
  if (option.instead) return fail(kErrArg, "option.foreign", {{"instead", option.instead}, {"option", brief(word)}});
  if (values_in_word == 0) s.at += static_cast<std::size_t>(option.values);
  if (s.at < s.words.size()) return {};
  return fail(kErrArg, "option.incomplete", {{"wanted", "a value"}, {"option", brief(word)}});
}

/// One option at s.at, and its values.
Status take_option(State& s, std::string word) {
  Values values;
  const Row* row = find(word);
  const std::size_t eq = word.find('=');
  if (!row && eq != std::string::npos) {
    row = find(word.substr(0, eq));
    if (!row) values.push_back(word.substr(eq + 1));
    if (row && (row->values == 1 || row->values == -1))
      values.push_back(word.substr(eq + 1));
    else if (row)
      return fail(kErrArg, "option.no_value", {{"option", brief(word.substr(0, eq))}});
    word.resize(eq);
  }
  if (!row) {
    if (const ForeignOption* foreign = find_foreign(word)) return take_foreign(s, *foreign, word, values.size());
    return unknown(word);
  }
  while (row->values > static_cast<int>(values.size())) {
    if (++s.at == s.words.size())
      return fail(kErrArg, "option.incomplete", {{"wanted", row->shown}, {"option", brief(word)}});
    values.push_back(s.words[s.at]);
  }
  return row->take(s, values);
}

/// What takes the whole command line: the ranks that sets and standard input name must exist.
Status finish_job(State& s) {
  for (const auto& [name, list] : s.options->sets) {
    std::vector<unsigned> ranks;
    if (!expand_ranks(list, &ranks)) continue;
    const unsigned highest = *std::max_element(ranks.begin(), ranks.end());
    if (highest >= s.options->ranks())
      return fail(
          kErrArg, "option.no_rank",
          {{"rank", highest}, {"last", s.options->ranks() - 1}, {"option", "--pset " + brief(name + "=" + list)}});
  }
  if (!s.options->traces.empty()) s.options->params.emplace_back("tool.trace.file", s.options->traces);
  if (!s.options->tools.empty()) s.options->params.emplace_back("tool", s.options->tools);
  if (const std::string sets = s.options->process_sets(); !sets.empty())
    s.options->params.emplace_back("runtime.process_sets", sets);
  if (s.options->stdin_rank >= static_cast<int>(s.options->ranks()))
    return fail(kErrArg, "option.no_rank",
                {{"rank", s.options->stdin_rank},
                 {"last", s.options->ranks() - 1},
                 {"option", text("--stdin %d", s.options->stdin_rank)}});
  return {};
}

}  // namespace

unsigned Options::ranks() const {
  unsigned sum = 0;
  for (const Segment& segment : segments) sum += segment.ranks;
  return sum;
}

Status parse_options(int argc, const char* const* argv, Options* options) {
  // The other form of a command line: a file, and nothing else.
  if (argc > 1 && (std::strcmp(argv[1], "-configfile") == 0 || std::strcmp(argv[1], "--configfile") == 0)) {
    std::vector<std::string> words;
    if (argc != 3) return fail(kErrArg, "option.configfile_alone");
    ASHLAR_TRY(read_config_file(argv[2], &words));
    std::vector<const char*> line{argv[0]};
    for (const std::string& word : words) line.push_back(word.c_str());
    return parse_options(static_cast<int>(line.size()), line.data(), options);
  }
  State s{.options = options};
  s.words.assign(argv, argv + argc);
  for (s.at = 1; s.at < s.words.size(); ++s.at) {
    std::string word = s.words[s.at];
    if (word == ":") {
      ASHLAR_TRY(finish_segment(s));
      if (s.at + 1 == s.words.size()) return fail(kErrArg, "option.after_colon");
      continue;
    }
    const bool ends_options = word == "--";
    if (!s.segment.argv.empty() || word.empty() || word[0] != '-' || ends_options) {
      // The program and all its arguments, up to a colon that stands alone.
      for (s.at += ends_options ? 1 : 0; s.at < s.words.size() && s.words[s.at] != ":"; ++s.at)
        s.segment.argv.push_back(s.words[s.at]);
      --s.at;
      continue;
    }
    ASHLAR_TRY(take_option(s, word));
    if (options->help || options->version) return {};
  }
  ASHLAR_TRY(finish_segment(s));
  return finish_job(s);
}

std::string help_text() {
  std::string out =
      "Usage: mpiexec [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...\n"
      "Runs an MPI program (or any program) on this machine, or on several.\n\n";
  for (const Row& row : kRows) {
    if (!row.help) continue;
    std::string left = "  " + names_of(row)[0];
    if (*row.shown) left += (row.values == -1 ? "" : " ") + std::string(row.shown);
    left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
    std::string_view help = row.help;
    for (bool first = true; !help.empty(); first = false) {
      std::size_t cut = help.size() <= 74 ? help.size() : help.rfind(' ', 74);
      out += (first ? left : std::string(26, ' ')) + std::string(help.substr(0, cut)) + "\n";
      help.remove_prefix(std::min(cut + 1, help.size()));
    }
  }
  out +=
      "\nThe exit status is the first non-zero one of a rank, 128 + N when signal N killed a rank, or MPI_Abort's "
      "code.\n"
      "Signals are passed on to the ranks; a second Ctrl-C kills them.\n";
  return out;
}

}  // namespace ashlar::mpiexec
