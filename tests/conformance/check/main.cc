// ashlar_component_check: a component's file against the contract and against its framework's suite.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/printable.h"
#include "framework/plugin/manifest.h"
#include "mpiexec/info/check.h"
#include "tests/conformance/check/runner.h"
#include "tests/conformance/check/subject.h"
#include "tests/conformance/check/verdict.h"
#include "tests/conformance/transport/component.h"

namespace {

using namespace ashlar;
using namespace ashlar::test;

constexpr char kHelp[] =
    "Usage: ashlar_component_check [options] FILE.so...\n"
    "Takes components of Ashlar MPI through the contract, step by step, and through the\n"
    "tests of their frameworks: transport, topology, coll, launch, tool and io have a suite,\n"
    "report is tried with records. Every step and every test runs in a process of its own,\n"
    "so that a component that crashes, exits or hangs there is told in a sentence.\n"
    "\n"
    "  --only WORDS       only the tests whose names have these words; several of these: any\n"
    "  --set NAME=VALUE   a parameter of the components, by its name among their own\n"
    "  --list             print the names of the tests, and do not run them\n"
    "  --timeout SECONDS  the most that one test may take (60 unless given)\n"
    "  --launcher WORDS   the command that starts the ranks of a job, on this node, in which a\n"
    "                     launch component is tried: \"srun --mpi=pmix -n 4\". Without it there\n"
    "                     is one process, which nothing has launched\n"
    "  --version, --help\n"
    "\n"
    "A line begins with ok, note or WRONG. Exit status: 0 everything is right (notes are\n"
    "not faults), 1 something is wrong, 2 the command line is.\n";

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> only;
  std::vector<std::string> settings;  // NAME=VALUE
  bool list = false;
  unsigned seconds = 60;
  std::vector<std::string> launcher;  // its words
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

int usage(const std::string& what) {
  std::fprintf(stderr, "ashlar_component_check: %s; --help lists the options\n", what.c_str());
  return 2;
}

// -1: go on; otherwise the exit status.
int parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = word == "--only" || word == "--set" || word == "--timeout" || word == "--launcher";
    if (has_value && i + 1 == argc) return usage("option " + word + " needs a value");
    if (word == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (word == "--version") {
      std::puts("ashlar_component_check (Ashlar MPI) " ASHLAR_VERSION);
      return 0;
    }
    if (word == "--only") {
      options->only.push_back(argv[++i]);
    } else if (word == "--set") {
      options->settings.push_back(argv[++i]);
      if (options->settings.back().find('=') == std::string::npos)
        return usage("--set takes NAME=VALUE, not " + printable(options->settings.back()));
    } else if (word == "--timeout") {
      char* end = nullptr;
      const long value = std::strtol(argv[++i], &end, 10);
      if (*end || value < 1 || value > 86400)
        return usage(std::string("--timeout takes 1 to 86400 seconds, not ") + argv[i]);
      options->seconds = static_cast<unsigned>(value);
    } else if (word == "--launcher") {
      options->launcher = words_of(argv[++i]);
      if (options->launcher.empty()) return usage("--launcher takes a command");
    } else if (word == "--list") {
      options->list = true;
    } else if (word.starts_with('-')) {
      return usage("there is no option " + printable(word));
    } else {
      options->files.push_back(word);
    }
  }
  return options->files.empty() ? usage("it needs the file of a component") : -1;
}

void tell(const char* kind, const std::string& text) {
  std::string out = std::string("  ") + kind;
  for (const char c : printable(text, Newlines::keep)) {
    out += c;
    if (c == '\n') out += "          ";
  }
  while (out.ends_with(' ') || out.ends_with('\n')) out.pop_back();
  std::puts(out.c_str());
  std::fflush(stdout);
}

// Returns whether everything is right.
bool run_suite(const Options& options, const std::string& file, const plugin::Statement& statement) {
  const plugin::Framework* const framework = plugin::find_framework(statement.framework);
  if (framework && statement.interface_version <= framework->cxx) {
    tell("note    ", "it is written against the C++ headers of one build, whose own tests cover it");
    return true;
  }
  subject() = {.file = file, .framework = statement.framework, .name = statement.name};
  if (!options.launcher.empty() && subject().framework != "launch")
    tell("note    ", "--launcher is for components of launch");
  for (const std::string& setting : options.settings) {
    const std::string name = setting.substr(0, setting.find('='));
    if (std::none_of(statement.params.begin(), statement.params.end(),
                     [&](const ashlar_param& row) { return name == row.name; })) {
      tell("WRONG   ", "it has no parameter " + name + ", which --set names");
      return false;
    }
  }
  const Runner runner(file, options.seconds, options.launcher, options.settings);
  std::vector<CaseName> tests;
  std::string said;
  if (!options.launcher.empty() && !runner.can_launch(&said)) {
    tell("WRONG   ", "no process can be started with it: " + said);
    return false;
  }
  if (!runner.list(&tests, &said)) {
    tell("WRONG   ", "its suite does not begin: " + said);
    return false;
  }
  if (tests.empty())
    tell("note    ", std::string("there is no suite for a ") + statement.framework + " component of what it serves");
  unsigned wrong = 0, ran = 0;
  for (const CaseName& test : tests) {
    const bool wanted =
        options.only.empty() || std::any_of(options.only.begin(), options.only.end(), [&](const std::string& words) {
          return test.words().find(words) != std::string::npos;
        });
    if (!wanted) continue;
    if (options.list) {
      tell("test    ", test.words());
      continue;
    }
    const Outcome outcome = runner.run(test);
    ++ran;
    if (outcome.kind == Outcome::Kind::kSkipped && outcome.said.starts_with(kServesNone)) {
      tell(options.launcher.empty() ? "note    " : "WRONG   ", "its tests are not tried: " + outcome.said);
      return options.launcher.empty();
    }
    if (outcome.kind == Outcome::Kind::kRight) tell("ok      ", test.words());
    if (outcome.kind == Outcome::Kind::kSkipped) tell("note    ", test.words() + ": not tried: " + outcome.said);
    if (outcome.kind == Outcome::Kind::kWrong) tell("WRONG   ", test.words() + ": " + outcome.said);
    wrong += outcome.kind == Outcome::Kind::kWrong;
  }
  if (ran > 0) std::printf("  %u tests, %u wrong\n", ran, wrong);
  return wrong == 0;
}

bool check_file(const Options& options, const std::string& given) {
  char resolved[PATH_MAX];
  const std::string file = realpath(given.c_str(), resolved) ? resolved : given;
  std::string steps;
  const bool right = info::check_component(file, plugin::this_kernel(), &steps);
  std::fputs(steps.c_str(), stdout);
  std::fflush(stdout);
  if (!right) return false;
  param::TextPool pool;
  const plugin::Entry entry = plugin::examine(file, plugin::this_kernel(), &pool);
  return run_suite(options, file, entry.statement);
}

// A child of the runner: one part of GoogleTest's work over the file. As a rank of a job it leaves its verdict in a
// file: --in-child FILE OPTION [--set NAME=VALUE...] [--rank FOLDER]
int in_child(int argc, char** argv) {
  bool is_rank = false;
  for (int i = 4; i + 1 < argc; i += 2) {
    const std::string value = argv[i + 1];
    if (std::strcmp(argv[i], "--set") == 0) {
      settings_of_all_tests()[value.substr(0, value.find('='))] = value.substr(value.find('=') + 1);
    } else {
      is_rank = true;
      begin_rank(argv[i + 1]);
    }
  }
  param::TextPool pool;
  const plugin::Entry entry = plugin::examine(argv[2], plugin::this_kernel(), &pool);
  subject() = {.file = argv[2], .framework = entry.statement.framework, .name = entry.statement.name};
  argc = 2;
  testing::InitGoogleTest(&argc, argv + 2);
  const bool right = RUN_ALL_TESTS() == 0;
  if (!is_rank) return right ? kAllRight : kSomeWrong;
  const bool skipped = testing::UnitTest::GetInstance()->skipped_test_count() > 0;
  std::fflush(stdout);
  leave_verdict(!right ? Verdict::Kind::kWrong : skipped ? Verdict::Kind::kSkipped : Verdict::Kind::kRight, "");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4 && std::strcmp(argv[1], "--in-child") == 0) return in_child(argc, argv);
  Options options;
  if (const int status = parse(argc, argv, &options); status >= 0) return status;
  bool right = true;
  for (const std::string& file : options.files) right = check_file(options, file) && right;
  return right ? 0 : 1;
}
