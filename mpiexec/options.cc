#include "mpiexec/options.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/config_file.h"
#include "mpiexec/foreign_options.h"
#include "mpiexec/option_values.h"
#include "mpiexec/soft.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

/// Every number of ranks can be started here, so the largest that is acceptable is.
Status apply_soft(Reading& r) {
  r.segment.asked = r.segment.ranks;
  if (r.segment.soft.empty()) return {};
  const long most = r.ranks_given ? static_cast<long>(r.segment.ranks) : kMostRanks;
  long ranks = 0;
  static_cast<void>(largest_of(r.segment.soft, most, &ranks));  // looked at by take_soft
  if (ranks == 0) return fail(kErrArg, "option.soft_none", {{"most", most}, {"value", brief(r.segment.soft)}});
  r.segment.ranks = static_cast<unsigned>(ranks);
  if (!r.ranks_given) r.segment.asked = r.segment.ranks;
  return {};
}

std::vector<std::string> names_of(const OptionRow& row) {
  std::vector<std::string> out;
  std::string_view names = row.names;
  while (!names.empty()) {
    const std::size_t space = std::min(names.find(' '), names.size());
    out.emplace_back(names.substr(0, space));
    names.remove_prefix(std::min(space + 1, names.size()));
  }
  return out;
}

const OptionRow* find(const std::string& option) {
  for (const OptionRow& row : option_rows())
    for (const std::string& name : names_of(row))
      if (name == option) return &row;
  return nullptr;
}

Status unknown(const std::string& option) {
  std::vector<std::string> known;
  for (const OptionRow& row : option_rows())
    for (const std::string& name : names_of(row)) known.push_back(name);
  return fail(kErrArg, "option.unknown",
              {{"suggestion", nearest(option, known)}, {"tool", "mpiexec"}, {"option", brief(option)}});
}

/// How many hosts the program has so far.
unsigned hosts_of(const Reading& r) {
  if (!r.segment.hosts.empty()) return static_cast<unsigned>(r.segment.hosts.size());
  const std::vector<Segment>& before = r.options->segments;
  for (auto other = before.rbegin(); other != before.rend(); ++other)
    if (!other->hosts.empty()) return static_cast<unsigned>(other->hosts.size());
  return std::max(static_cast<unsigned>(r.options->base_hosts().size()), 1u);
}

/// The tasks that Slurm's job was asked for, for a single program that names neither ranks nor hosts; 0: it does, or
/// there is no such job.
unsigned tasks_of_job(const Reading& r) {
  const bool alone = r.options->segments.empty() && r.at >= r.words.size();
  if (!alone || r.ranks_given || !r.segment.soft.empty() || !r.segment.hosts.empty() || !r.options->hosts.empty())
    return 0;
  unsigned tasks = 0;
  for (const HostSlots& host : r.options->allocation) tasks += std::max(host.slots, 1u);
  return tasks;
}

Status finish_segment(Reading& r) {
  const bool needs_program = !r.options->check || !r.options->segments.empty();
  if (r.segment.argv.empty() && needs_program) return fail(kErrArg, "option.no_program");
  if (!r.segment.argv.empty() && r.segment.argv[0].empty()) return fail(kErrArg, "option.empty_program");
  ASHLAR_TRY(select_by_arch(*r.options, &r.segment));
  if (!r.ranks_given && r.segment.per_node > 0) {
    r.segment.ranks = r.segment.per_node * hosts_of(r);
    r.ranks_given = true;
  }
  if (const unsigned tasks = tasks_of_job(r); tasks > 0) r.segment.ranks = tasks;
  ASHLAR_TRY(apply_soft(r));
  r.options->segments.push_back(std::move(r.segment));
  r.segment = {};
  r.ranks_given = false;
  return {};
}

/// An option of another implementation: either it makes no difference here, or a sentence names what does.
Status take_foreign(Reading& r, const ForeignOption& option, const std::string& word, std::size_t values_in_word) {
  if (option.instead) return fail(kErrArg, "option.foreign", {{"instead", option.instead}, {"option", brief(word)}});
  if (values_in_word == 0) r.at += static_cast<std::size_t>(option.values);
  if (r.at < r.words.size()) return {};
  return fail(kErrArg, "option.incomplete", {{"wanted", "a value"}, {"option", brief(word)}});
}

/// One option at r.at, and its values.
Status take_option(Reading& r, std::string word) {
  OptionValues values;
  const OptionRow* row = find(word);
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
    if (const ForeignOption* foreign = find_foreign(word)) return take_foreign(r, *foreign, word, values.size());
    return unknown(word);
  }
  while (row->values > static_cast<int>(values.size())) {
    if (++r.at == r.words.size())
      return fail(kErrArg, "option.incomplete", {{"wanted", row->shown}, {"option", brief(word)}});
    values.push_back(r.words[r.at]);
  }
  return row->take(r, values);
}

/// What takes the whole command line: the ranks that sets and standard input name must exist.
Status finish_job(Reading& r) {
  for (Segment& segment : r.options->segments) ASHLAR_TRY(select_by_arch(*r.options, &segment));
  for (const auto& [name, list] : r.options->sets) {
    std::vector<unsigned> ranks;
    if (!expand_ranks(list, &ranks)) continue;
    const unsigned highest = *std::max_element(ranks.begin(), ranks.end());
    if (highest >= r.options->ranks())
      return fail(
          kErrArg, "option.no_rank",
          {{"rank", highest}, {"last", r.options->ranks() - 1}, {"option", "--pset " + brief(name + "=" + list)}});
  }
  if (!r.options->traces.empty()) r.options->params.emplace_back("tool.trace.file", r.options->traces);
  if (!r.options->tools.empty()) r.options->params.emplace_back("tool", r.options->tools);
  if (const std::string sets = r.options->process_sets(); !sets.empty())
    r.options->params.emplace_back("runtime.process_sets", sets);
  if (r.options->stdin_rank >= static_cast<int>(r.options->ranks()))
    return fail(kErrArg, "option.no_rank",
                {{"rank", r.options->stdin_rank},
                 {"last", r.options->ranks() - 1},
                 {"option", text("--stdin %d", r.options->stdin_rank)}});
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
  Reading r{.options = options};
  r.words.assign(argv, argv + argc);
  for (r.at = 1; r.at < r.words.size(); ++r.at) {
    std::string word = r.words[r.at];
    if (word == ":") {
      ASHLAR_TRY(finish_segment(r));
      if (r.at + 1 == r.words.size()) return fail(kErrArg, "option.after_colon");
      continue;
    }
    const bool ends_options = word == "--";
    if (!r.segment.argv.empty() || word.empty() || word[0] != '-' || ends_options) {
      // The program and all its arguments, up to a colon that stands alone.
      for (r.at += ends_options ? 1 : 0; r.at < r.words.size() && r.words[r.at] != ":"; ++r.at)
        r.segment.argv.push_back(r.words[r.at]);
      --r.at;
      continue;
    }
    ASHLAR_TRY(take_option(r, word));
    if (options->help || options->version) return {};
  }
  ASHLAR_TRY(finish_segment(r));
  return finish_job(r);
}

std::string help_text() {
  std::string out =
      "Usage: mpiexec [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...\n"
      "Runs an MPI program (or any program) on this machine, or on several.\n\n";
  for (const OptionRow& row : option_rows()) {
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
