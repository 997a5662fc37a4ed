// Measures every algorithm of the collectives on the ranks it is run with, and writes a tuning file:
//   mpiexec -n 16 ashlar_tune > site.yaml;   mpiexec --set coll.tuning_file=site.yaml -n 16 ./program
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/printable.h"
#include "framework/coll/comm_state.h"
#include "framework/object/handle.h"
#include "framework/param/suggest.h"
#include "mpiexec/text.h"
#include "mpiexec/tune/measure.h"
#include "mpiexec/tune/rules.h"

namespace {

using ashlar::fail;
using ashlar::coll::Collective;
using ashlar::mpiexec::brief;
using ashlar::tune::Point;

constexpr const char* kUsage =
    "Usage: mpiexec -n N ashlar_tune [--verify | --list] [--output FILE] [--seconds S] [--max BYTES] [COLLECTIVE...]\n"
    "Times every algorithm of the collectives (all, unless some are named) with N ranks, and writes a tuning file for\n"
    "coll.tuning_file to FILE, or to standard output.\n"
    "  --verify       write no file: name the rules in force that are no longer best (exit status 1 when there are "
    "any)\n"
    "  --list         measure nothing: list the algorithms, the component each belongs to, and what it does\n"
    "  --output FILE  what to write instead of standard output\n"
    "  --seconds S    time for each algorithm at each size, about (0.1)\n"
    "  --max BYTES    largest size (1048576)\n";

struct Options {
  bool verify = false;
  bool list = false;
  std::string output;
  double seconds = 0.1;
  long largest = 1 << 20;
  std::vector<Collective> collectives;
};

ashlar::Status unknown(const std::string& word) {
  ashlar::param::Suggestion suggestion(word);
  for (const char* option : {"--verify", "--list", "--output", "--seconds", "--max", "--help"})
    suggestion.consider(option);
  for (int i = 0; i < ashlar::coll::kCollectives; ++i)
    suggestion.consider(ashlar::coll::name_of(static_cast<Collective>(i)));
  const std::string meant(suggestion.best());
  if (word[0] == '-')
    return fail(ashlar::kErrArg, "option.unknown",
                {{"suggestion", meant}, {"tool", "ashlar_tune"}, {"option", brief(word)}});
  return fail(ashlar::kErrArg, "tune.no_collective", {{"suggestion", meant}, {"value", brief(word)}});
}

ashlar::Status not_a_value(const char* option, const char* wanted, const char* value) {
  return fail(ashlar::kErrArg, "option.value", {{"option", option}, {"wanted", wanted}, {"value", brief(value)}});
}

ashlar::Status parse(int argc, char** argv, Options* out) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* given = "";
    const auto value = [&] { return given = i + 1 < argc ? argv[++i] : ""; };
    char* end = nullptr;
    Collective what;
    if (word == "--verify") {
      out->verify = true;
    } else if (word == "--list") {
      out->list = true;
    } else if (word == "--output") {
      out->output = value();
      if (out->output.empty()) return not_a_value("--output", "the name of a file", given);
    } else if (word == "--seconds") {
      out->seconds = std::strtod(value(), &end);
      if (!(out->seconds > 0) || *end) return not_a_value("--seconds", "a number of seconds above 0", given);
    } else if (word == "--max") {
      out->largest = std::strtol(value(), &end, 10);
      if (out->largest < 8 || *end) return not_a_value("--max", "a number of bytes from 8 on", given);
    } else if (ashlar::coll::parse_collective(word.c_str(), &what)) {
      out->collectives.push_back(what);
    } else {
      return unknown(word);
    }
  }
  if (!out->collectives.empty()) return {};
  if (!out->list) out->collectives = ashlar::tune::measured_collectives();
  for (int i = 0; out->list && i < ashlar::coll::kCollectives; ++i)
    out->collectives.push_back(static_cast<Collective>(i));
  return {};
}

void list_algorithms(const std::vector<Collective>& collectives) {
  for (const Collective what : collectives) {
    std::printf("%s\n", ashlar::coll::name_of(what));
    for (const ashlar::coll::CatalogueEntry& entry : ashlar::tune::catalogue().entries()) {
      const ashlar::coll::Algorithm& a = *entry.algorithm;
      if (a.collective == what) std::printf("  %-19s %-6s %s\n", a.name, a.component, a.summary);
    }
  }
}

std::string origin(int ranks) {
  char host[256] = "", when[32] = "";
  gethostname(host, sizeof host - 1);
  const std::time_t now = std::time(nullptr);
  std::strftime(when, sizeof when, "%Y-%m-%d", std::localtime(&now));
  return "ashlar_tune on " + std::string(host) + " with " + std::to_string(ranks) + " ranks, " + when;
}

/// Prints what was found; 1: rules are outdated, 2: no file could be written.
int report(const Options& options, const std::vector<Point>& points, const ashlar::coll::Shape& shape) {
  constexpr double kTolerance = 0.1;
  if (options.verify) {
    const std::vector<std::string> lines = ashlar::tune::outdated(points, kTolerance);
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
    if (lines.empty()) std::printf("Every rule in force is within 10 %% of the best at %zu points.\n", points.size());
    return lines.empty() ? 0 : 1;
  }
  const std::string text = ashlar::tune::tuning_file(points, shape, origin(shape.ranks), kTolerance);
  if (options.output.empty()) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  std::FILE* const file = std::fopen(options.output.c_str(), "we");
  const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if (file == nullptr || std::fclose(file) != 0 || !written) {
    // What was measured may have taken hours.
    std::fprintf(stderr, "ashlar_tune: %s cannot be written (%s); here it is:\n", options.output.c_str(),
                 std::strerror(errno));
    std::fputs(text.c_str(), stdout);
    return 2;
  }
  return 0;
}

/// Of several ranks one answers.
bool is_first_rank() {
  const char* const rank = std::getenv("ASHLAR__RANK");
  return rank == nullptr || std::strcmp(rank, "0") == 0;
}

}  // namespace

int main(int argc, char** argv) {
  // The text needs no job, and is wanted where MPI cannot be initialised too: the build makes the manual of it.
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") != 0 && std::strcmp(argv[i], "-h") != 0) continue;
    if (is_first_rank()) std::fputs(kUsage, stdout);
    return 0;
  }
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1, code = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Options options;
  const ashlar::Status parsed = parse(argc, argv, &options);
  if (!parsed.ok()) {
    if (rank == 0)
      std::fprintf(stderr, "ashlar_tune: %s\n",
                   ashlar::printable(ashlar::mpiexec::in_words(parsed, "\n  - "), ashlar::Newlines::keep).c_str());
    MPI_Finalize();
    return 2;
  }
  if (options.list) {
    if (rank == 0) list_algorithms(options.collectives);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<Point> points;
  for (const Collective what : options.collectives) {
    for (long bytes = 8; bytes <= options.largest; bytes *= 8) {
      points.push_back(ashlar::tune::measure(comm, what, bytes, options.seconds));
      if (what == Collective::kBarrier) break;
      if (bytes < options.largest && bytes * 8 > options.largest) bytes = options.largest / 8;
    }
  }
  ashlar::coll::CommState* state = nullptr;
  if (rank == 0 && ashlar::coll::state_of(*ashlar::resolve(comm), &state).ok())
    code = report(options, points, state->plan->shape);
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return code;
}
