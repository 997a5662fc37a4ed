#include "mpiexec/info/running.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/in_force.h"
#include "mpiexec/status_query.h"
#include "mpiexec/text.h"
#include "mpiexec/waits_json.h"

namespace ashlar::info {
namespace {

using mpiexec::text;

int open_writable(const std::string& path) { return open(path.c_str(), O_RDWR | O_CLOEXEC); }

/// A board is a memfd of that name, or a file without any where there are no memfds.
bool may_be_board(const char* target) {
  return std::strncmp(target, "/memfd:ashlar-board", 19) == 0 || std::strstr(target, " (deleted)") != nullptr;
}

bool begins_as_board(int fd) {
  std::uint64_t magic = 0;
  return pread(fd, &magic, sizeof magic, 0) == sizeof magic && magic == launch::kBoardMagic;
}

/// "process 12 (sleep)"
std::string called(int pid) {
  std::ifstream file(text("/proc/%d/comm", pid));
  std::string name;
  std::getline(file, name);
  return name.empty() ? text("process %d", pid) : text("process %d (%s)", pid, mpiexec::brief(name).c_str());
}

/// Why the process may not be inspected: its user and root may.
Status closed_to_us(int pid, int error) {
  struct stat facts;
  const bool known = stat(text("/proc/%d", pid).c_str(), &facts) == 0;
  if (known && geteuid() != 0 && facts.st_uid != geteuid())
    return fail(kErrOther, "running.other_user", {{"process", called(pid)}, {"user", facts.st_uid}});
  return fail(kErrOther, "running.closed", {{"process", called(pid)}, {"lower", std::strerror(error)}});
}

/// mpiexec holds the board's descriptor, a rank closes it when it has joined. -1: this process does not hold one.
int board_of_launcher(int pid) {
  const std::string folder = text("/proc/%d/fd", pid);
  DIR* const list = opendir(folder.c_str());
  if (list == nullptr) return -1;
  int fd = -1;
  while (const dirent* entry = readdir(list)) {
    const std::string path = folder + "/" + entry->d_name;
    char target[512] = {};
    if (readlink(path.c_str(), target, sizeof target - 1) <= 0 || !may_be_board(target)) continue;
    fd = open_writable(path);
    if (fd < 0 || begins_as_board(fd)) break;
    close(fd);
    fd = -1;
  }
  closedir(list);
  return fd;
}

/// Through the variable that a rank's environment was started with.
int board_of_rank(int pid) {
  std::ifstream file(text("/proc/%d/environ", pid), std::ios::binary);
  const std::string environment{std::istreambuf_iterator<char>(file), {}};
  const std::string name = std::string(launch::kJobVariable) + "=";
  for (std::size_t at = 0; at < environment.size(); at = environment.find('\0', at) + 1) {
    if (environment.compare(at, name.size(), name) != 0) {
      if (environment.find('\0', at) == std::string::npos) break;
      continue;
    }
    int board_fd = -1;
    unsigned launcher = 0;
    if (std::sscanf(environment.c_str() + at + name.size(), "1:%d:%*d:%*d:%*u:%u:", &board_fd, &launcher) != 2) break;
    return open_writable(text("/proc/%u/fd/%d", launcher, board_fd));
  }
  return -1;
}

}  // namespace

RunningJob::~RunningJob() {
  if (board_) munmap(static_cast<void*>(board_), bytes_);
}

bool RunningJob::map(int fd) {
  struct stat facts;
  if (fstat(fd, &facts) != 0 || static_cast<std::size_t>(facts.st_size) < sizeof(launch::BoardHeader)) return false;
  bytes_ = static_cast<std::size_t>(facts.st_size);
  void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return false;
  board_ = static_cast<launch::BoardHeader*>(at);
  return board_->magic == launch::kBoardMagic && board_->version == launch::kBoardVersion && board_->bytes == bytes_;
}

Status RunningJob::find(int pid) {
  if (access(text("/proc/%d", pid).c_str(), F_OK) != 0) return fail(kErrArg, "running.no_process", {{"pid", pid}});
  if (access(text("/proc/%d/fd", pid).c_str(), R_OK) != 0) return closed_to_us(pid, errno);
  int fd = board_of_launcher(pid);
  if (fd < 0) fd = board_of_rank(pid);
  const bool right = fd >= 0 && map(fd);
  if (fd >= 0) close(fd);
  if (!right) return fail(kErrArg, "running.no_job", {{"process", called(pid)}});
  for (std::uint32_t r = 0; r < board_->ranks; ++r)
    if (launch::board_slot(board_, r).pid.load() == static_cast<std::uint32_t>(pid)) {
      rank_ = r;
      one_rank_ = true;
    }
  return {};
}

void RunningJob::adjustments(param::Store* store) const {
  using launch::BoardRecord;
  const std::string_view prefix = launch::kAdjustedPrefix;
  const std::uint32_t attach = launch::board_slot(board_, rank_).attaches.load();
  // The newest comes first. Ranks are running: what is read may be no record, and then nothing is said.
  for (std::uint64_t at = launch::board_slot(board_, rank_).newest.load(), before = bytes_; at != 0 && at < before;) {
    const auto* const record = launch::board_at<BoardRecord>(board_, at);
    const std::uint64_t room = bytes_ - at;
    if (room < sizeof *record || record->attach != attach || record->blob_offset > room ||
        record->blob_bytes > room - record->blob_offset || record->key_bytes == 0 ||
        sizeof *record + record->key_bytes > record->blob_offset)
      return;
    const auto* const bytes = reinterpret_cast<const char*>(record);
    const std::string_view key(bytes + sizeof *record, record->key_bytes - 1);
    const std::string_view blob(bytes + record->blob_offset, record->blob_bytes);
    const std::size_t zero = blob.find('\0');
    if (key.starts_with(prefix) && zero != blob.npos) {
      const std::string_view parameter = key.substr(prefix.size());
      if (!store->adjustment(parameter)) store->adjusted(parameter, blob.substr(0, zero), blob.substr(zero + 1));
    }
    before = at;
    at = record->older;
  }
}

std::string RunningJob::parameters() const {
  if (board_->params == 0) return {};
  return {launch::board_at<char>(board_, board_->params), board_->params_bytes};
}

std::string RunningJob::waits(bool json) {
  mpiexec::StatusQuery query(board_);
  query.start();
  while (!query.finished()) usleep(10'000);
  const std::vector<mpiexec::RankStatus> statuses = query.statuses();
  if (json) {
    const std::string_view host = board_->host == 0 ? "" : launch::board_at<char>(board_, board_->host);
    const mpiexec::WaitsOf job = {
        .job_id = board_->job_id, .host = std::string(host), .launcher_pid = board_->launcher_pid};
    return mpiexec::waits_json(statuses, job, mpiexec::WaitsReason::kQuery);
  }
  const std::string words = mpiexec::waits_in_words(statuses);
  return words.empty() ? "no rank of the job is inside MPI.\n" : words + "\n";
}

namespace {

/// Why a rank gives no answer, in words that follow "rank 3 does not answer: ".
std::string silence(const mpiexec::RankStatus& status) {
  if (status.ended) return "it has ended";
  if (status.state == launch::RankState::kAbsent) return "it has not called MPI_Init";
  if (status.state == launch::RankState::kAttached) return "it is inside MPI_Init";
  if (status.state == launch::RankState::kFinalized) return "it has finalized MPI";
  return "it is not inside MPI" + (status.process.empty() ? "" : " and " + status.process);
}

}  // namespace

std::vector<RunningJob::RankVariables> RunningJob::variables() {
  mpiexec::StatusQuery query(board_, mpiexec::StatusQuery::About::kVariables);
  query.start();
  while (!query.finished() && !(one_rank_ && query.has_answered(rank_))) usleep(10'000);
  const std::vector<mpiexec::RankStatus> statuses = query.statuses();
  std::vector<RankVariables> out;
  for (std::uint32_t r = one_rank_ ? rank_ : 0; r < (one_rank_ ? rank_ + 1 : board_->ranks); ++r) {
    RankVariables& of_rank = out.emplace_back();
    of_rank.rank = r;
    of_rank.pid = statuses[r].pid;
    of_rank.answered = query.has_answered(r);
    if (of_rank.answered)
      of_rank.variables = query.variables(r);
    else
      of_rank.silence = silence(statuses[r]);
  }
  return out;
}

Status RunningJob::program_settings(param::Store* store) {
  const bool of_job = !one_rank_;
  one_rank_ = true;
  const RankVariables of_rank = variables()[0];
  one_rank_ = !of_job;
  if (!of_rank.answered)
    return fail(kErrOther, "running.rank_silent", {{"rank", of_rank.rank}, {"lower", of_rank.silence}});
  // The text was a value of the rank's own; a component that is not installed here has no row for it.
  for (const auto& [key, value] : of_rank.variables.program_settings)
    if (store->schema().find(key)) (void)store->set(key, value, plugin::InForce::kOrigin).ok();
  return {};
}

}  // namespace ashlar::info
