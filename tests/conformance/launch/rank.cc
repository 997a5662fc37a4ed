#include "tests/conformance/launch/rank.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "framework/plugin/host.h"
#include "framework/plugin/tables.h"
#include "tests/conformance/check/verdict.h"

namespace ashlar::test {
namespace {

// What the descriptors are open on: pipes and sockets have their number there, files their name.
std::set<std::string> open_descriptors() {
  std::set<std::string> found;
  DIR* const folder = opendir("/proc/self/fd");
  if (!folder) return found;
  for (const dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    std::error_code none;
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == dirfd(folder)) continue;
    found.insert(std::string(entry->d_name) + " " +
                 std::filesystem::read_symlink(std::string("/proc/self/fd/") + entry->d_name, none).string());
  }
  closedir(folder);
  return found;
}

std::string signal_handlers() {
  std::string out;
  for (int number = 1; number < SIGRTMIN; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL)
      out += std::to_string(number) + (action.sa_handler == SIG_IGN ? " ignored\n" : "\n");
  }
  return out;
}

}  // namespace

Surroundings Surroundings::now() {
  std::set<std::string> variables;
  for (char** at = environ; *at; ++at) variables.insert(*at);
  std::error_code none;
  return {.variables = variables,
          .folder = std::filesystem::current_path(none),
          .signals = signal_handlers(),
          .descriptors = open_descriptors()};
}

testing::AssertionResult Job::right(ashlar_result result) const {
  if (result == ASHLAR_OK) return testing::AssertionSuccess();
  if (result == ASHLAR_LAUNCH_NOT_FOUND) return testing::AssertionFailure() << "the answer is NOT_FOUND";
  if (result == ASHLAR_LAUNCH_TIMED_OUT) return testing::AssertionFailure() << "the answer is TIMED_OUT";
  return testing::AssertionFailure() << plugin::from(result, subject().name.c_str()).text();
}

testing::AssertionResult Job::fails(ashlar_result result, int mpi_class) const {
  if (result >= 0) return testing::AssertionFailure() << "the answer is " << result << ", which is no failure";
  const std::string words = plugin::own_words(plugin::from(result, subject().name.c_str()));
  if (result != -mpi_class)
    return testing::AssertionFailure() << "the failure's class is " << -result << ", not " << mpi_class << ": "
                                       << words;
  return words.empty() ? testing::AssertionFailure() << "the failure has no words" : testing::AssertionSuccess();
}

testing::AssertionResult Job::put(const std::string& key, const std::string& value) const {
  return right(ops().put(launch_, key.c_str(), value.data(), value.size()));
}

testing::AssertionResult Job::has(std::uint32_t rank, const std::string& key, const std::string& value) const {
  std::string found(value.size() + 1, '?');
  std::size_t bytes = found.size();
  if (auto got = right(ops().get(launch_, rank, key.c_str(), found.data(), &bytes)); !got)
    return got << " (get of " << key << ", rank " << rank << ")";
  if (bytes == value.size() && found.compare(0, bytes, value) == 0 && found[bytes] == '?')
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << key << " of rank " << rank << " is " << bytes << " bytes, and not the "
                                     << value.size() << " that it has put";
}

void Job::SetUp() {
  before_ = Surroundings::now();
  registry_ = std::make_unique<SubjectRegistry>(nullptr);
  if (!registry_->component()) GTEST_SKIP() << kServesNone << registry_->why();
  begin_step("create");
  ASSERT_TRUE(registry_->component()->create(nullptr, &launch_).ok());
  ASSERT_NE(launch_, nullptr);
  const Status complete = plugin::take_table(launch_, subject().name.c_str());
  ASSERT_TRUE(complete.ok()) << complete.text();
  begin_step("parameters");
  if (ops().parameters)
    ops().parameters(
        launch_, [](void* to, const char* text) { *static_cast<std::string*>(to) = text; }, &parameters_);
  begin_step("connect");
  const ashlar_job* theirs = nullptr;
  ASSERT_TRUE(right(ops().connect(launch_, &theirs)));
  ASSERT_NE(theirs, nullptr) << "connect succeeds and gives no job";
  static ashlar_job whole;
  whole = plugin::whole(*theirs);
  job_ = &whole;
  place().rank = job_->rank;
  place().ranks = job_->ranks;
  begin_step("");
}

void Job::leave() {
  if (job_) {
    begin_step("finalize");
    EXPECT_TRUE(right(ops().finalize(launch_)));
  }
  job_ = nullptr;
  begin_step("destroy");
  if (launch_) registry_->component()->destroy(launch_);
  launch_ = nullptr;
  begin_step("");
}

void Job::TearDown() { leave(); }

}  // namespace ashlar::test
