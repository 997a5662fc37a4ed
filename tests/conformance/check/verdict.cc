#include "tests/conformance/check/verdict.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace ashlar::test {
namespace {

namespace fs = std::filesystem;

std::string file_of(const char* kind) { return place().folder + "/" + kind + "-" + std::to_string(getpid()); }

std::string whole_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

PlaceInJob& place() {
  static PlaceInJob the_place;
  return the_place;
}

void begin_rank(const std::string& folder) {
  place().folder = folder;
  const int fd = open(file_of("said").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0) _exit(127);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  close(fd);
}

void leave_verdict(Verdict::Kind kind, const std::string& said) {
  const std::string name = file_of("verdict");
  {
    std::ofstream out(name + ".new");
    out << place().rank << ' ' << place().ranks << ' ' << static_cast<int>(kind) << '\n' << said;
  }
  std::error_code none;
  fs::rename(name + ".new", name, none);  // whole or not at all
}

void mark(const std::string& name, std::uint32_t rank) {
  std::ofstream(place().folder + "/mark-" + name + "-" + std::to_string(rank)) << '\n';
}

bool marked(const std::string& name, std::uint32_t rank) {
  std::error_code none;
  return fs::exists(place().folder + "/mark-" + name + "-" + std::to_string(rank), none);
}

void wait_for_mark(const std::string& name, std::uint32_t rank) {
  while (!marked(name, rank)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::vector<Verdict> read_verdicts(const std::string& folder, std::string* of_others) {
  std::vector<Verdict> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("said-")) continue;
    const std::string printed = whole_file(entry.path());
    std::istringstream text(whole_file(folder + "/verdict-" + name.substr(5)));
    Verdict verdict;
    int kind = 0;
    if (!(text >> verdict.rank >> verdict.ranks >> kind)) {
      *of_others += printed;
      continue;
    }
    text.ignore();  // the end of the line
    verdict.kind = static_cast<Verdict::Kind>(kind);
    std::ostringstream rest;
    rest << text.rdbuf();
    verdict.said = verdict.kind == Verdict::Kind::kEnds ? rest.str() : printed;
    found.push_back(std::move(verdict));
  }
  std::sort(found.begin(), found.end(), [](const Verdict& a, const Verdict& b) { return a.rank < b.rank; });
  return found;
}

}  // namespace ashlar::test
