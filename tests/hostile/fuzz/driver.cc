// A fuzzer's main for compilers without libFuzzer: mutates seeds, gives each input to LLVMFuzzerTestOneInput in this
// process, and leaves the input of a crash or hang in a file. The same runs, seed and seeds give the same inputs.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/hostile/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using ashlar::fuzz::Bytes;

struct Options {
  std::uint64_t runs = 5000, seed = 1, max_bytes = 65536, hang_seconds = 10, growth_mib = 64;
  std::string save = "fuzz-failure";
  std::vector<std::string> seeds;
  bool replay = false;
};

constexpr char kUsage[] =
    "usage: %s [--runs N] [--seed N] [--max-bytes N] [--hang-seconds N] [--growth-mib N] [--save FILE]\n"
    "       SEED_FILE_OR_FOLDER...\n"
    "       %s --replay FILE...          gives the files themselves, unchanged\n";

// What the handler of a crash needs: plain variables, and only calls that a handler may make.
const Bytes* in_flight = nullptr;
std::uint64_t in_flight_number = 0;
char save_as[512];

void save_input(const char* what) {
  char line[700];
  const int length =
      std::snprintf(line, sizeof line, "\n%s in input %llu (%zu bytes), saved as %s\n", what,
                    static_cast<unsigned long long>(in_flight_number), in_flight ? in_flight->size() : 0, save_as);
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  const int fd = open(save_as, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd >= 0 && in_flight) ignored = write(fd, in_flight->data(), in_flight->size());
  if (fd >= 0) close(fd);
}

void on_signal(int number) {
  save_input(number == SIGALRM ? "hang" : number == SIGABRT ? "abort" : "crash");
  std::signal(number == SIGALRM ? SIGABRT : number, SIG_DFL);
  raise(number == SIGALRM ? SIGABRT : number);
}

// Sanitizers report first and end the process themselves; they call this in between.
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));
void on_death() { save_input("sanitizer report"); }

// AddressSanitizer keeps 256 MiB of freed memory before it gives any back: cheap inputs would look like a leak.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=16"; }

void catch_failures() {
  // Endless recursion leaves no stack for the handler.
  static char stack[65536];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(on_death);
  else
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
  sigaction(SIGABRT, &action, nullptr);  // which sanitizers leave to the program
  std::signal(SIGALRM, on_signal);
}

void give(const Bytes& input, const Options& o) {
  in_flight = &input;
  ++in_flight_number;
  const itimerval limit{{0, 0}, {static_cast<time_t>(o.hang_seconds), 0}};
  setitimer(ITIMER_REAL, &limit, nullptr);
  // A copy of exactly this size, so that a sanitizer sees a byte read behind it.
  const Bytes exact(input);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

std::uint64_t resident_mib() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Bytes> read_seeds(const Options& o) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& given : o.seeds) {
    if (!std::filesystem::is_directory(given)) {
      paths.emplace_back(given);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(given)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());  // a folder has no order of its own
  std::vector<Bytes> seeds;
  for (const auto& path : paths) {
    seeds.push_back(read_file(path));
    if (seeds.back().empty()) std::fprintf(stderr, "the seed %s is empty or cannot be read\n", path.c_str());
  }
  return seeds;
}

bool read_options(int argc, char** argv, Options* o) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&](std::uint64_t* out) {
      char* end = nullptr;
      if (++i >= argc) return false;
      *out = std::strtoull(argv[i], &end, 10);
      return *argv[i] != '\0' && *end == '\0';
    };
    bool right = true;
    if (word == "--runs") {
      right = number(&o->runs);
    } else if (word == "--seed") {
      right = number(&o->seed);
    } else if (word == "--max-bytes") {
      right = number(&o->max_bytes);
    } else if (word == "--hang-seconds") {
      right = number(&o->hang_seconds);
    } else if (word == "--growth-mib") {
      right = number(&o->growth_mib);
    } else if (word == "--save") {
      right = ++i < argc;
      if (right) o->save = argv[i];
    } else if (word == "--replay") {
      o->replay = true;
    } else if (word.starts_with("-")) {
      right = false;
    } else {
      o->seeds.push_back(word);
    }
    if (!right) return false;
  }
  return !o->seeds.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  if (!read_options(argc, argv, &o)) {
    std::fprintf(stderr, kUsage, argv[0], argv[0]);
    return 2;
  }
  std::snprintf(save_as, sizeof save_as, "%s", o.save.c_str());
  const std::vector<Bytes> seeds = read_seeds(o);
  if (seeds.empty()) {
    std::fprintf(stderr, "there are no seeds\n");
    return 2;
  }
  catch_failures();
  const auto begin = std::chrono::steady_clock::now();
  for (const Bytes& seed : seeds) give(seed, o);
  // Caches of the code under test and of the allocator have to fill before growth means anything.
  const std::uint64_t warm_up = std::min<std::uint64_t>(o.runs / 4, 20000);
  std::uint64_t at_first = 0;
  ashlar::fuzz::Mutator mutator(seeds, o.seed, o.max_bytes);
  for (std::uint64_t i = 0; i < (o.replay ? 0 : o.runs); ++i) {
    if (i == warm_up) at_first = resident_mib();
    give(mutator.next(), o);
  }
  const std::uint64_t at_last = resident_mib();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%llu inputs from %zu seeds in %.1f s, resident %llu MiB after the warm-up, %llu MiB at the end\n",
              static_cast<unsigned long long>(in_flight_number), seeds.size(), seconds,
              static_cast<unsigned long long>(at_first), static_cast<unsigned long long>(at_last));
  if (at_first != 0 && at_last > at_first + o.growth_mib) {
    std::fprintf(stderr, "memory grows by more than %llu MiB\n", static_cast<unsigned long long>(o.growth_mib));
    return 1;
  }
  return 0;
}
