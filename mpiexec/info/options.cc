#include "mpiexec/info/options.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "framework/param/param_row.h"
#include "framework/param/parse.h"
#include "framework/param/suggest.h"

namespace ashlar::info {

const char kHelp[] =
    "usage: ashlar_info [OPTIONS] [QUESTION]\n"
    "\n"
    "  (none)                     version, folders, components, and what is wrong with the configuration\n"
    "  --components [FRAMEWORK]   components with version and file; refused ones with the reason\n"
    "  --params [PREFIX]          parameters with value and origin: --params transport.shm\n"
    "  explain KEY                where a parameter's value comes from, what lost and why, what it means\n"
    "  explain --pid PID KEY      the same for a job that is running: PID is its mpiexec or one of its ranks\n"
    "  waits --pid PID            what each rank of a running job waits for, and from whom\n"
    "  --messages [TEXT]          what a message means: TEXT is the sentence as printed, a part of one, or an id\n"
    "  --coverage                 MPI functions this version does and does not do, by chapter\n"
    "  --check FILE.so            whether a component would be accepted, and why not; loads and questions it\n"
    "  --register [FOLDER|FILE]   writes the manifest of a component folder anew (default: the installed one)\n"
    "  --version\n"
    "\n"
    "  --level LEVEL              with --params: user-basic, user-detail, user-all (default), tuner-..., "
    "developer-...\n"
    "  --set KEY=VALUE            as on mpiexec's command line, to see what it would do\n"
    "  --json                     the answer as JSON\n"
    "\n"
    "Listing opens no component.\n";

namespace {

std::string unknown(const char* word) {
  param::Suggestion suggestion(word);
  for (const char* known : {"--components", "--params", "explain", "waits", "--pid", "--messages", "--coverage",
                            "--check", "--register", "--version", "--help", "--level", "--set", "--json"})
    suggestion.consider(known);
  const std::string meant(suggestion.best());
  return std::string("unknown argument '") + word + "'" + (meant.empty() ? "" : "; did you mean " + meant + "?");
}

bool add_setting(const char* word, Options* o) {
  const char* equals = std::strchr(word, '=');
  if (!equals) return false;
  o->settings.push_back({std::string(word, equals), equals + 1, std::string("--set ") + word});
  return true;
}

/// What is wrong with the whole of it.
std::string mistake_of(const Options& o) {
  if (o.question == Question::explain && o.subject.empty()) return "explain needs a key, such as p2p.eager_limit";
  if (o.question == Question::waits && o.pid == 0) return "waits needs --pid and the number of a process";
  if (o.pid != 0 && o.question != Question::explain && o.question != Question::waits)
    return "--pid goes with explain and waits";
  if (o.pid != 0 && !o.settings.empty()) return "--set changes nothing in a running job";
  return "";
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options o;
  o.level = ASHLAR_USER_ALL;
  const auto ask = [&](Question q, const char* word) {
    if (o.question != Question::overview && o.question != q)
      o.mistake = std::string(word) + ": only one question at a time";
    o.question = q;
  };
  for (int i = 1; i < argc && o.mistake.empty(); ++i) {
    const std::string_view word = argv[i];
    const bool more = i + 1 < argc && argv[i + 1][0] != '-';
    const auto needed = [&](const char* what) {
      if (more) return argv[++i];
      o.mistake = std::string(word) + " needs " + what;
      return argv[i];
    };
    if (word == "--components") {
      ask(Question::components, argv[i]);
      if (more) o.subject = argv[++i];
    } else if (word == "--params") {
      ask(Question::params, argv[i]);
      if (more) o.subject = argv[++i];
    } else if (word == "explain" || word == "--explain") {
      ask(Question::explain, argv[i]);
      // The key may come after --pid PID.
      if (more) o.subject = argv[++i];
    } else if (word == "waits" || word == "--waits") {
      ask(Question::waits, argv[i]);
    } else if (word == "--pid") {
      const char* const number = needed("the number of a process");
      char* end = nullptr;
      o.pid = static_cast<int>(std::strtol(number, &end, 10));
      if (o.mistake.empty() && (o.pid <= 0 || *end != '\0'))
        o.mistake = std::string("--pid needs the number of a process, not '") + number + "'";
    } else if (o.question == Question::explain && o.subject.empty() && argv[i][0] != '-') {
      o.subject = argv[i];
    } else if (word == "--messages") {
      ask(Question::messages, argv[i]);
      if (more) o.subject = argv[++i];
    } else if (word == "--coverage") {
      ask(Question::coverage, argv[i]);
    } else if (word == "--check") {
      ask(Question::check, argv[i]);
      o.subject = needed("a file");
    } else if (word == "--register") {
      ask(Question::register_folder, argv[i]);
      if (more) o.subject = argv[++i];
    } else if (word == "--version" || word == "-V") {
      ask(Question::version, argv[i]);
    } else if (word == "--help" || word == "-h") {
      ask(Question::help, argv[i]);
    } else if (word == "--level") {
      const char* name = needed("a level, such as user-all");
      o.level = param::level_from_name(name);
      if (o.level == 0 && o.mistake.empty())
        o.mistake = std::string("--level knows no '") + name +
                    "'; there are user-, tuner- and developer- with basic, detail or all";
    } else if (word == "--set") {
      if (!add_setting(needed("KEY=VALUE"), &o) && o.mistake.empty()) o.mistake = "--set needs KEY=VALUE";
    } else if (word == "--json") {
      o.json = true;
    } else {
      o.mistake = unknown(argv[i]);
    }
  }
  if (o.mistake.empty()) o.mistake = mistake_of(o);
  return o;
}

}  // namespace ashlar::info
