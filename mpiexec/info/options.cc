#include "mpiexec/info/options.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/param_row.h"
#include "framework/param/parse.h"
#include "framework/param/suggest.h"
#include "mpiexec/text.h"

namespace ashlar::info {

const char kHelp[] =
    "usage: ashlar_info [OPTIONS] [QUESTION]\n"
    "\n"
    "  (none)                     version, folders, components, and what is wrong with the configuration\n"
    "  --components [FRAMEWORK]   components with version and file; refused ones with the reason\n"
    "  --params [PREFIX]          parameters with value and origin: --params transport.shm\n"
    "  --params --pid PID         the same for a job that is running: PID is its mpiexec or one of its ranks\n"
    "  --pvars [PREFIX]           performance variables of MPI_T: --pvars p2p\n"
    "  --pvars --pid PID [PREFIX] their values in the ranks of a running job, or in the one of that process\n"
    "  --events [PREFIX]          events of MPI_T\n"
    "  --categories [PREFIX]      categories of MPI_T, with how much is in each\n"
    "  explain KEY                where a parameter's value comes from, what lost and why, what it means\n"
    "  explain --pid PID KEY      the same for a job that is running: PID is its mpiexec or one of its ranks\n"
    "  waits --pid PID [--json]   what each rank of a running job waits for, and from whom\n"
    "  --messages [TEXT]          what a message means: TEXT is the sentence as printed, a part of one, or an id\n"
    "  --schema                   a JSON Schema of the parameter files, for editors; components on plugin.path "
    "included\n"
    "  --schema tuning            the same of tuning files, with the algorithms of the components\n"
    "  --coverage                 MPI functions this version does and does not do, by chapter\n"
    "  check FILE                 every mistake of a parameter file, a tuning file, the manifest of a component "
    "folder:\n"
    "                             line, key, value, what was probably meant; exit status 1 when there is one\n"
    "  check FILE.so              whether a component would be accepted, and why not; loads and questions it\n"
    "  --register [FOLDER|FILE]   writes the manifest of a component folder anew (default: the installed one)\n"
    "  --version                  the version of Ashlar MPI\n"
    "\n"
    "  --level LEVEL              with --params, --pvars, --events: user-basic, user-detail, user-all (default), "
    "tuner-..., "
    "developer-...\n"
    "  --set KEY=VALUE            as on mpiexec's command line, to see what it would do\n"
    "  --json                     the answer as JSON\n"
    "\n"
    "Listing opens no component, but for --pvars, --events and --categories, which start MPI in a job of one, and\n"
    "--schema tuning, which asks for algorithms.\n";

namespace {

using mpiexec::brief;

Status unknown(const char* word) {
  param::Suggestion suggestion(word);
  for (const char* known :
       {"--components", "--params", "--pvars", "--events", "--categories", "explain", "waits", "--pid", "--messages",
        "--schema", "--coverage", "--check", "--register", "--version", "--help", "--level", "--set", "--json"})
    suggestion.consider(known);
  const std::string meant(suggestion.best());
  return fail(kErrArg, "info.unknown", {{"suggestion", meant}, {"value", brief(word)}});
}

bool add_setting(const char* word, Options* o) {
  const char* equals = std::strchr(word, '=');
  if (!equals) return false;
  o->settings.push_back({std::string(word, equals), equals + 1, std::string("--set ") + word});
  return true;
}

/// The options as a whole.
Status check(const Options& o) {
  if (o.question == Question::explain && o.subject.empty())
    return fail(kErrArg, "option.incomplete", {{"option", "explain"}, {"wanted", "a key such as p2p.eager_limit"}});
  if (o.question == Question::waits && o.pid == 0)
    return fail(kErrArg, "option.incomplete", {{"option", "waits"}, {"wanted", "--pid and the number of a process"}});
  const bool of_a_job = o.question == Question::explain || o.question == Question::waits ||
                        o.question == Question::params || o.question == Question::pvars;
  if (o.pid != 0 && !of_a_job) return fail(kErrArg, "info.pid_alone");
  if (o.pid != 0 && o.question == Question::pvars && o.level != 0) return fail(kErrArg, "info.level_running");
  if (o.question == Question::schema && !o.subject.empty() && o.subject != "tuning")
    return fail(kErrArg, "info.no_schema", {{"value", brief(o.subject)}});
  if (o.pid != 0 && !o.settings.empty()) return fail(kErrArg, "info.set_running");
  return {};
}

/// The command line from left to right, up to the first mistake.
class Reader {
 public:
  Reader(int argc, char** argv, Options* options) : argc_(argc), argv_(argv), o_(*options) {}

  Status read() {
    for (at_ = 1; at_ < argc_ && status_.ok(); ++at_) {
      const std::string_view word = argv_[at_];
      if (!question(word) && !key_behind_pid() && !option(word)) status_ = unknown(argv_[at_]);
    }
    return status_;
  }

 private:
  bool more() const { return at_ + 1 < argc_ && argv_[at_ + 1][0] != '-'; }
  const char* argument_of_option(const char* what) {
    if (more()) return argv_[++at_];
    status_ = fail(kErrArg, "option.incomplete", {{"option", brief(argv_[at_])}, {"wanted", what}});
    return argv_[at_];
  }

  /// What follows the word of a question.
  enum class Subject { kNone, kOptional, kNeeded };
  struct Row {
    const char *word, *other_word;
    Question question;
    Subject subject;
  };
  static constexpr Row kQuestions[] = {{"--components", "", Question::components, Subject::kOptional},
                                       {"--params", "", Question::params, Subject::kOptional},
                                       {"--pvars", "", Question::pvars, Subject::kOptional},
                                       {"--events", "", Question::events, Subject::kOptional},
                                       {"--categories", "", Question::categories, Subject::kOptional},
                                       {"explain", "--explain", Question::explain, Subject::kOptional},
                                       {"waits", "--waits", Question::waits, Subject::kNone},
                                       {"--messages", "", Question::messages, Subject::kOptional},
                                       {"--schema", "", Question::schema, Subject::kOptional},
                                       {"--coverage", "", Question::coverage, Subject::kNone},
                                       {"check", "--check", Question::check, Subject::kNeeded},
                                       {"--register", "", Question::register_folder, Subject::kOptional},
                                       {"--version", "-V", Question::version, Subject::kNone},
                                       {"--help", "-h", Question::help, Subject::kNone}};

  bool question(std::string_view word) {
    for (const Row& row : kQuestions) {
      if (word.empty() || (word != row.word && word != row.other_word)) continue;
      if (o_.question != Question::overview && o_.question != row.question)
        status_ = fail(kErrArg, "info.two_questions", {{"option", word}});
      o_.question = row.question;
      if (row.subject == Subject::kNeeded)
        o_.subject = argument_of_option("a file");
      else if (row.subject == Subject::kOptional && more())
        o_.subject = argv_[++at_];
      return true;
    }
    return false;
  }

  /// explain --pid PID KEY
  bool key_behind_pid() {
    const bool has_subject =
        o_.question == Question::explain || o_.question == Question::params || o_.question == Question::pvars;
    if (!has_subject || o_.pid == 0 || !o_.subject.empty() || argv_[at_][0] == '-') return false;
    o_.subject = argv_[at_];
    return true;
  }

  bool option(std::string_view word) {
    if (word == "--pid") {
      read_pid();
    } else if (word == "--level") {
      read_level();
    } else if (word == "--set") {
      const char* const pair = argument_of_option("KEY=VALUE");
      if (!add_setting(pair, &o_)) not_a_value("--set", "KEY=VALUE", pair);
    } else if (word == "--json") {
      o_.json = true;
    } else {
      return false;
    }
    return true;
  }

  /// Unless the value was missing.
  void not_a_value(const char* option, const char* wanted, const char* value) {
    if (status_.ok())
      status_ = fail(kErrArg, "option.value", {{"option", option}, {"wanted", wanted}, {"value", brief(value)}});
  }

  void read_pid() {
    const char* const number = argument_of_option("the number of a process");
    char* end = nullptr;
    o_.pid = static_cast<int>(std::strtol(number, &end, 10));
    if (o_.pid <= 0 || *end != '\0') not_a_value("--pid", "the number of a process", number);
  }

  void read_level() {
    const char* const name = argument_of_option("a level, such as user-all");
    o_.level = param::level_from_name(name);
    if (o_.level == 0) not_a_value("--level", "user-, tuner- or developer- with basic, detail or all", name);
  }

  const int argc_;
  char** const argv_;
  Options& o_;
  Status status_;
  int at_ = 0;
};

}  // namespace

Status parse_options(int argc, char** argv, Options* options) {
  ASHLAR_TRY(Reader(argc, argv, options).read());
  ASHLAR_TRY(check(*options));
  // Few performance variables are for users; of parameters, the others are too many to begin with.
  const bool lists_tools = options->question == Question::pvars || options->question == Question::events;
  if (options->level == 0) options->level = lists_tools ? ASHLAR_DEV_ALL : ASHLAR_USER_ALL;
  return {};
}

}  // namespace ashlar::info
