#include "mpiexec/option_values.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/trace_forms.h"
#include "mpiexec/config_file.h"
#include "mpiexec/rank_files.h"
#include "mpiexec/soft.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr int kMostFiles = 100;  // files may name files, but not for ever

/// The words tag and timestamp, or both with a comma between.
bool take_line_start(const std::string& words, Options* options) {
  bool tag = options->tag_output, time = options->timestamp_output;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t comma = std::min(words.find(',', at), words.size());
    const std::string word = words.substr(at, comma - at);
    if (word != "tag" && word != "timestamp") return false;
    (word == "tag" ? tag : time) = true;
    at = comma + 1;
  }
  options->tag_output = tag;
  options->timestamp_output = time;
  return true;
}

}  // namespace

Status not_a_value(std::string_view option, std::string_view wanted, std::string_view value) {
  return fail(kErrArg, "option.value", {{"option", option}, {"wanted", wanted}, {"value", brief(value)}});
}

bool to_number(const std::string& text, long low, long high, long* out) {
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < low || value > high) return false;
  *out = value;
  return true;
}

Status take_ranks(Reading& r, const OptionValues& v) {
  long n = 0;
  if (!to_number(v[0], 1, kMostRanks, &n))
    return not_a_value("-n", text("a number of ranks from 1 to %ld", kMostRanks), v[0]);
  r.segment.ranks = static_cast<unsigned>(n);
  r.ranks_given = true;
  return {};
}

Status take_soft(Reading& r, const OptionValues& v) {
  long most = 0;
  if (!largest_of(v[0], INT_MAX, &most))
    return not_a_value("-soft", "numbers of ranks, as in 1,2,8 or 4:16:4 (first:last:step)", v[0]);
  r.segment.soft = v[0];
  return {};
}

Status take_file(Reading& r, const OptionValues& v) {
  OptionValues more;
  if (++r.files > kMostFiles)
    return fail(kErrArg, "option.too_many_files", {{"most", kMostFiles}, {"value", brief(v[0])}});
  ASHLAR_TRY(read_option_file(v[0], &more));
  r.words.insert(r.words.begin() + static_cast<std::ptrdiff_t>(r.at) + 1, more.begin(), more.end());
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

Status add_tool(Reading& r, const std::string& names) {
  std::string& all = r.options->tools;
  if (("," + all + ",").find("," + names + ",") == std::string::npos) all += (all.empty() ? "" : ",") + names;
  return {};
}

/// The file is written when the job is over: what would keep it from being written is said before the job starts.
Status take_trace(Reading& r, const OptionValues& v) {
  ASHLAR_TRY(add_tool(r, "trace"));
  if (v.empty()) return {};
  for (const std::string& file : plugin::trace_files(v[0])) {
    if (plugin::trace_form(file) == plugin::TraceForm::kNone)
      return not_a_value("--trace", std::string(plugin::kTraceForms), file);
    const std::size_t slash = file.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      return fail(kErrArg, "option.trace_folder", {{"file", brief(file)}, {"lower", std::strerror(errno)}});
  }
  r.options->traces += (r.options->traces.empty() ? "" : ",") + v[0];
  return {};
}

Status take_set(Reading& r, const OptionValues& v) {
  const std::size_t eq = v[0].find('=');
  if (eq == std::string::npos || eq == 0)
    return not_a_value("--set", "KEY=VALUE, as in --set p2p.eager_limit=16KiB", v[0]);
  if (v[0].substr(0, eq) == "tool") return add_tool(r, v[0].substr(eq + 1));
  r.options->params.emplace_back(v[0].substr(0, eq), v[0].substr(eq + 1));
  return {};
}

/// NAME=RANKS for the whole job, or NAME for the ranks of this program.
Status take_pset(Reading& r, const OptionValues& v) {
  const std::size_t eq = v[0].rfind('=');
  const std::string name = v[0].substr(0, eq), ranks = eq == std::string::npos ? "" : v[0].substr(eq + 1);
  if (name.empty() || name.find_first_of("=;") != std::string::npos)
    return not_a_value("--pset", "NAME or NAME=RANKS", v[0]);
  if (eq == std::string::npos) {
    r.segment.set = name;
    return {};
  }
  std::vector<unsigned> listed;
  if (!expand_ranks(ranks, &listed))
    return not_a_value("--pset " + brief(name), "a list of ranks such as 0-3,8-14:2", ranks);
  r.options->sets.emplace_back(name, ranks);
  return {};
}

/// A number of seconds, or a duration as parameters have them.
Status take_stall(Reading& r, const OptionValues& v) {
  const bool plain = !v[0].empty() && v[0].find_first_not_of("0123456789.") == std::string::npos;
  r.options->stall = plain ? v[0] + "s" : v[0];
  return {};
}

Status take_timeout(Reading& r, const OptionValues& v) {
  char* end = nullptr;
  const double seconds = std::strtod(v[0].c_str(), &end);
  if (v[0].empty() || *end || !(seconds > 0) || !std::isfinite(seconds))
    return not_a_value("--timeout", "a number of seconds above 0", v[0]);
  r.options->timeout_s = seconds;
  return {};
}

/// Open MPI 5 has words here; a folder of such a name is written with a slash.
Status take_output(Reading& r, const OptionValues& v) {
  const char* const kWords[] = {"merge", "tag-detail", "tag-fullname", "rank", "xml"};
  if (take_line_start(v[0], r.options)) return {};
  for (const char* word : kWords)
    if (v[0] == word) return fail(kErrArg, "option.output_word", {{"value", word}});
  const bool named = v[0].starts_with("dir=") || v[0].starts_with("file=");
  r.options->output = named ? v[0].substr(v[0].find('=') + 1) : v[0];
  return check_output(r.options->output);
}

Status take_ranks_per_node(Reading& r, const OptionValues& v) {
  long n = 0;
  if (!to_number(v[0], 1, kMostRanks, &n))
    return not_a_value("-N", text("a number of ranks per machine from 1 to %ld", kMostRanks), v[0]);
  r.segment.per_node = static_cast<unsigned>(n);
  return {};
}

Status take_env(const OptionValues& v, std::vector<EnvChange>* to) {
  if (v[0].empty() || v[0].find('=') != std::string::npos)
    return fail(kErrArg, "option.two_words", {{"assignment", brief(v[0])}});
  to->emplace_back(v[0], v[1]);
  return {};
}

Status take_stdin(Reading& r, const OptionValues& v) {
  long rank = 0;
  if (v[0] == "none") {
    r.options->stdin_rank = -1;
    return {};
  }
  if (!to_number(v[0], 0, INT_MAX, &rank)) return not_a_value("--stdin", "a rank or none", v[0]);
  r.options->stdin_rank = static_cast<int>(rank);
  return {};
}

}  // namespace ashlar::mpiexec
