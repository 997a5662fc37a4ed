#include "components/launch/native/client.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <mutex>
#include <string>

#include "framework/base/clock.h"
#include "framework/base/socket_peer.h"

namespace ashlar::launch {
namespace {

// Shared between processes, so not the private futex that std::atomic::wait uses.
long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, word, operation, value, timeout, nullptr, 0);
}

// Makes the inherited descriptor ours: children of this process shall not have it.
int adopt(int fd, mode_t kind) {
  struct stat facts;
  if (fd < 0 || fstat(fd, &facts) != 0 || (facts.st_mode & S_IFMT) != kind) return -1;
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

}  // namespace

Client::~Client() {
  if (board_) munmap(static_cast<void*>(board_), mapped_);
  if (bell_fd_ >= 0) close(bell_fd_);
  if (shared_fd_ >= 0) close(shared_fd_);
}

ashlar_result Client::fail_with_board(const char* reason) const {
  const ashlar_fact why = {.name = "lower", .text = reason, .number = 0};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "launch.board", &why, 1);
}

ashlar_result Client::attach(const Trace& trace) {
  bool inherited = false;
  char reason[300];
  const int fd = open_board(trace, &inherited, reason, sizeof reason);
  if (fd < 0) return fail_with_board(reason);
  struct stat facts;
  if (fstat(fd, &facts) != 0) {
    std::snprintf(reason, sizeof reason, "fstat: %s", strerror(errno));
    close(fd);
    return fail_with_board(reason);
  }
  mapped_ = static_cast<std::size_t>(facts.st_size);
  void* at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) std::snprintf(reason, sizeof reason, "mmap of %zu bytes: %s", mapped_, strerror(errno));
  close(fd);
  if (at == MAP_FAILED) return fail_with_board(reason);
  board_ = static_cast<BoardHeader*>(at);

  BoardSlot& mine = slot(trace.rank);
  std::uint32_t state = mine.state.load();
  if (!mine.state.compare_exchange_strong(state, static_cast<std::uint32_t>(RankState::kAttached))) {
    std::snprintf(reason, sizeof reason, "process %u became rank %u a moment ago", mine.pid.load(), trace.rank);
    return fail_with_board(reason);
  }
  mine.pid.store(static_cast<std::uint32_t>(getpid()));
  my_attach_ = mine.attaches.fetch_add(1) + 1;
  failures_seen_ = 0;
  told_.assign(board_->ranks, false);

  if (inherited) {
    close(trace.board_fd);
    bell_fd_ = adopt(trace.bell_fd, S_IFIFO);
    shared_fd_ = adopt(trace.shared_fd, S_IFREG);
  } else {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/%u/fd/%d", trace.launcher_pid, trace.bell_fd);
    bell_fd_ = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    std::snprintf(path, sizeof path, "/proc/%u/fd/%d", trace.launcher_pid, trace.shared_fd);
    shared_fd_ = open(path, O_RDWR | O_CLOEXEC);
  }

  launcher_ = board_at<char>(board_, board_->launcher);
  if (mine.placement) placement_ = board_at<char>(board_, mine.placement);
  if (board_->params) params_.assign(board_at<char>(board_, board_->params), board_->params_bytes);
  const auto text_at = [this](std::uint64_t offset) { return offset ? board_at<char>(board_, offset) : ""; };
  name_ = text_at(board_->name);
  parent_port_ = text_at(board_->parent_port);
  job_.name = name_.c_str();
  job_.parent_port = parent_port_.c_str();
  job_.starts_elsewhere = board_->starts_elsewhere;
  job_.size = sizeof job_;
  std::memcpy(job_.job_id, board_->job_id, sizeof job_.job_id);
  job_.cookie = board_->cookie;
  job_.rank = job_.local_rank = trace.rank;
  job_.ranks = job_.local_size = board_->ranks;
  job_.node = 0;
  job_.nodes = 1;
  if (board_->nodes > 1) know_nodes();
  job_.appnum = mine.appnum;
  job_.universe_size = board_->universe_size;
  job_.oversubscribed = board_->oversubscribed;
  job_.outlives_ranks = board_->keep_going;
  job_.bound = mine.bound;
  job_.shared_fd = shared_fd_;
  job_.params = board_->params ? params_.c_str() : nullptr;
  job_.params_bytes = params_.size();
  job_.launcher = launcher_.c_str();
  job_.placement = placement_.c_str();
  if (board_->tools) {
    job_.tool_memory = board_at<char>(board_, board_->tools + trace.rank * board_->tool_bytes);
    job_.tool_bytes = board_->tool_bytes;
  }
  tell_state();
  return ASHLAR_OK;
}

void Client::know_nodes() {
  job_.node = board_->node;
  job_.nodes = board_->nodes;
  job_.node_of_rank = board_at<std::uint32_t>(board_, board_->node_of_rank);
  local_peers_.reserve(board_->local_ranks);
  for (std::uint32_t r = 0; r < board_->ranks; ++r) {
    if (!board_has(board_, r)) continue;
    if (r == job_.rank) job_.local_rank = static_cast<std::uint32_t>(local_peers_.size());
    local_peers_.push_back(r);
  }
  job_.local_size = static_cast<std::uint32_t>(local_peers_.size());
  job_.local_peers = local_peers_.data();
}

ashlar_result Client::put(const char* key, const void* blob, std::size_t bytes) {
  if (board_publish(board_, job_.rank, key, my_attach_, blob, bytes)) return ASHLAR_OK;
  const ashlar_fact room[] = {
      {.name = "bytes_wanted",
       .text = nullptr,
       .number = static_cast<std::int64_t>(std::min<std::size_t>(bytes, INT64_MAX))},
      {.name = "key", .text = key, .number = 0},
      {.name = "used", .text = nullptr, .number = static_cast<std::int64_t>(board_->heap_used.load())},
      {.name = "size", .text = nullptr, .number = static_cast<std::int64_t>(board_->heap_end)}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_NO_MEM, "launch.board_full", room, std::size(room));
}

ashlar_result Client::view(std::uint32_t rank, const char* key, const void** blob, std::size_t* bytes) {
  if (rank >= job_.ranks) {
    const ashlar_fact ranks[] = {{.name = "rank", .text = nullptr, .number = rank},
                                 {.name = "last", .text = nullptr, .number = std::int64_t{job_.ranks} - 1}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_RANK, "launch.rank", ranks, std::size(ranks));
  }
  const BoardRecord* record = board_record(board_, rank, key, my_attach_);
  if (record == nullptr && !board_has(board_, rank)) {
    if (const ashlar_result asked = ask(rank, key); asked != ASHLAR_OK) return asked;
    record = board_record(board_, rank, key, my_attach_);
  }
  if (record == nullptr) return ASHLAR_LAUNCH_NOT_FOUND;
  *blob = board_blob(record);
  *bytes = record->blob_bytes;
  return ASHLAR_OK;
}

/// Lets the launcher look for the record on the board of the rank's own node, and waits for its answer.
ashlar_result Client::ask(std::uint32_t rank, const char* key) {
  const std::lock_guard guard(asking_);
  BoardWant& want = board_want(board_, slot(job_.rank));
  const std::size_t length = std::strlen(key) + 1;
  if (length > sizeof want.key) return fail_with_board("the key is longer than any of the library's");
  want.rank = rank;
  want.attach = my_attach_;
  std::memcpy(want.key, key, length);
  const std::uint32_t question = want.asked.fetch_add(1) + 1;
  ring('w');
  for (;;) {
    const std::uint32_t event = board_->event.load();
    if (want.answered.load(std::memory_order_acquire) == question) return ASHLAR_OK;
    const timespec wait = {1, 0};
    futex(&board_->event, FUTEX_WAIT, event, &wait);
  }
}

/// The launcher looks at the board. A bell that is full rings already.
void Client::ring(char why) const { (void)!write(bell_fd_, &why, 1); }

/// Where ranks are on another node than mpiexec, the launcher passes on what a rank has come to be.
void Client::tell_state() const {
  if (board_->node_of_rank != 0) ring('s');
}

/// Whether a rank that the fence waits for has ended. A job that goes on does not wait for those that have failed.
bool Client::any_ended(std::uint32_t generation) const {
  for (std::uint32_t r = 0; r < job_.ranks; ++r) {
    const auto end = static_cast<RankEnd>(slot(r).end.load());
    const bool left_behind = end == RankEnd::kFailed && board_->keep_going != 0;
    if (slot(r).fences.load() < generation && end != RankEnd::kRuns && !left_behind) return true;
  }
  return false;
}

/// "rank 1 (joined, runs), rank 3 (never joined, ended with exit code 2)": those that have not entered this fence, of
/// many the first few. `only_ended`: and never will.
std::string Client::missing_ranks(std::uint32_t generation, bool only_ended) const {
  constexpr unsigned kMost = 4;
  std::string list;
  unsigned missing = 0;
  for (std::uint32_t r = 0; r < job_.ranks; ++r) {
    const BoardSlot& other = slot(r);
    if (other.fences.load() >= generation) continue;
    const bool ended = other.end.load() != static_cast<std::uint32_t>(RankEnd::kRuns);
    if ((only_ended && !ended) || ++missing > kMost) continue;
    const char* state = other.state.load() == static_cast<std::uint32_t>(RankState::kAbsent)      ? "never joined"
                        : other.state.load() == static_cast<std::uint32_t>(RankState::kFinalized) ? "finalized"
                                                                                                  : "joined";
    list += (missing > 1 ? ", rank " : "rank ") + std::to_string(r) + " (" + state + ", ";
    if (ended && WIFSIGNALED(other.wait_status))
      list += "was killed by signal " + std::to_string(WTERMSIG(other.wait_status));
    else if (ended)
      list += "ended with exit code " + std::to_string(WEXITSTATUS(other.wait_status));
    else
      list += "runs";
    list += ")";
  }
  return missing > kMost ? list + " and " + std::to_string(missing - kMost) + " more" : list;
}

ashlar_result Client::report_timeout() const {
  char seconds[24];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(late_ms_) / 1000.0);
  const std::string missing = missing_ranks(late_fence_, false);
  const ashlar_fact late[] = {{.name = "seconds", .text = seconds, .number = 0},
                              {.name = "ranks", .text = nullptr, .number = job_.ranks},
                              {.name = "missing", .text = missing.c_str(), .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "launch.fence_late", late, std::size(late));
}

ashlar_result Client::fail_with_ended(std::uint32_t generation) const {
  const std::string missing = missing_ranks(generation, true);
  const ashlar_fact ended[] = {{.name = "ranks", .text = nullptr, .number = job_.ranks},
                               {.name = "missing", .text = missing.c_str(), .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_PROC_ABORTED, "launch.fence_ended", ended, std::size(ended));
}

/// Completes the fence when the ranks of this node have entered it. In a job on several nodes the launcher does that,
/// when the ranks of all nodes have.
void Client::pass_fence(std::uint32_t generation) const {
  if (static_cast<std::int32_t>(board_fences_entered(board_) - generation) < 0) return;
  if (job_.nodes > 1) {
    ring('f');
  } else {
    board_complete_fence(board_, generation);
    futex(&board_->event, FUTEX_WAKE, INT_MAX, nullptr);
  }
}

ashlar_result Client::fence(std::int64_t timeout_ms) {
  BoardSlot& mine = slot(job_.rank);
  if (!in_fence_) {
    in_fence_ = true;
    mine.fences.fetch_add(1);
    board_->arrivals.fetch_add(1);
    pass_fence(mine.fences.load());
  }
  const std::uint32_t wanted = mine.fences.load();
  const std::uint64_t began = now_ns();
  for (;;) {
    const std::uint32_t event = board_->event.load();
    if (board_->failures.load() != 0) pass_fence(wanted);  // the rank that was missing may be one that has failed
    if (static_cast<std::int32_t>(board_->generation.load() - wanted) >= 0) break;
    if (any_ended(wanted)) return fail_with_ended(wanted);
    timespec wait = {1, 0};
    if (timeout_ms >= 0) {
      const auto waited = static_cast<std::int64_t>((now_ns() - began) / 1'000'000);
      const std::int64_t left = timeout_ms - waited;
      if (left <= 0) {
        late_fence_ = wanted;
        late_ms_ = waited;
        return ASHLAR_LAUNCH_TIMED_OUT;
      }
      if (left < 1000) wait = {0, static_cast<long>(left) * 1'000'000};
    }
    futex(&board_->event, FUTEX_WAIT, event, &wait);
  }
  in_fence_ = false;
  return ASHLAR_OK;
}

void Client::on_peer_failure(ashlar_launch_peer_failed* listener, void* context) {
  listener_ = listener;
  listener_context_ = context;
}

void Client::poll() {
  if (board_->failures.load(std::memory_order_relaxed) == failures_seen_) [[likely]]
    return;
  failures_seen_ = board_->failures.load(std::memory_order_acquire);
  for (std::uint32_t r = 0; r < job_.ranks; ++r) {
    if (told_[r] || slot(r).end.load() != static_cast<std::uint32_t>(RankEnd::kFailed)) continue;
    told_[r] = true;
    char how[64];
    const int status = slot(r).wait_status;
    if (WIFSIGNALED(status))
      std::snprintf(how, sizeof how, "killed by signal %d", WTERMSIG(status));
    else
      std::snprintf(how, sizeof how, "ended with exit code %d", WEXITSTATUS(status));
    if (listener_) listener_(listener_context_, r, how);
  }
}

ashlar_result Client::initialized() {
  const std::uint64_t now = now_ns();
  slot(job_.rank).heard_ns.store(now, std::memory_order_relaxed);
  slot(job_.rank).moved_ns.store(now, std::memory_order_relaxed);
  slot(job_.rank).state.store(static_cast<std::uint32_t>(RankState::kInitialized));
  tell_state();
  return ASHLAR_OK;
}

void Client::in_use(bool world, bool sessions) {
  BoardSlot& mine = slot(job_.rank);
  const std::uint32_t had = mine.use.load() & (kHadWorld | kHadSessions | kConnected);
  const std::uint32_t now = (world ? kInWorld | kHadWorld : 0u) | (sessions ? kInSessions | kHadSessions : 0u);
  mine.use.store(had | now);
  mine.state.store(static_cast<std::uint32_t>(world || sessions ? RankState::kInitialized : RankState::kFinalized));
  tell_state();
}

void Client::connected(bool others) {
  const std::uint32_t before =
      others ? slot(job_.rank).use.fetch_or(kConnected) : slot(job_.rank).use.fetch_and(~std::uint32_t{kConnected});
  if (((before & kConnected) != 0) != others) tell_state();
}

/// mpiexec opens its socket when the first rank wants it. 0: not in time.
std::uint64_t Client::await_control() const {
  constexpr std::uint64_t kPatience = 10'000'000'000;
  if (const std::uint64_t place = board_->control.load(); place != 0) return place;
  board_->control_wanted.store(1);
  ring('c');
  const std::uint64_t began = now_ns();
  while (board_->control.load() == 0 && now_ns() - began < kPatience) {
    const timespec moment = {0, 100'000};
    nanosleep(&moment, nullptr);
  }
  return board_->control.load();
}

ashlar_result Client::call_launcher(char wish, int* out) const {
  const auto refused = [this](const char* reason) {
    const ashlar_fact why = {.name = "lower", .text = reason, .number = 0};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "launch.no_control", &why, 1);
  };
  const std::uint64_t place = await_control();
  if (place == 0 || place == kNoControl) return refused(place == 0 ? "it does not answer" : "it can take no requests");
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;  // sun_path[0] stays 0: the abstract name space
  const int n = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, kControlSocket,
                              static_cast<unsigned long long>(place));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  errno = 0;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // What follows is a secret that no process of another user gets.
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0 || !is_own_user(fd) ||
      send(fd, &wish, 1, MSG_NOSIGNAL) != 1) {
    const ashlar_result failed = refused(strerror(errno != 0 ? errno : EACCES));
    if (fd >= 0) close(fd);
    return failed;
  }
  *out = fd;
  return ASHLAR_OK;
}

void Client::abort(int code, const char* text) {
  BoardSlot& mine = slot(job_.rank);
  if (text) {
    const std::size_t bytes = std::strlen(text) + 1;
    const std::uint64_t at = board_allocate(board_, bytes);
    if (at) std::memcpy(board_at<char>(board_, at), text, bytes);
    mine.abort_text = at;
  }
  mine.abort_code = code;
  mine.aborted.store(1);
  const char ring = 'a';
  if (bell_fd_ >= 0 && write(bell_fd_, &ring, 1) == 1) {
    // mpiexec kills us; give it the time, so that it reports an abort and not an exit.
    for (int i = 0; i < 50; ++i) {
      const timespec tenth = {0, 100'000'000};
      nanosleep(&tenth, nullptr);
    }
  }
}

ashlar_result Client::finalize() {
  slot(job_.rank).state.store(static_cast<std::uint32_t>(RankState::kFinalized));
  tell_state();
  return ASHLAR_OK;
}

std::uint32_t* Client::news() {
  static_assert(sizeof(BoardSlot::news) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&slot(job_.rank).news);
}

bool Client::asked() {
  BoardSlot& mine = slot(job_.rank);
  mine.heard_ns.store(now_ns(), std::memory_order_relaxed);
  return mine.asked.load(std::memory_order_acquire) != mine.answered.load(std::memory_order_relaxed);
}

void Client::waits(const char* account, std::size_t bytes) {
  BoardSlot& mine = slot(job_.rank);
  if (mine.account != 0) wait_text(board_, mine).write(account, bytes);
}

void Client::moved(std::uint64_t moved_ns, bool waits) {
  BoardSlot& mine = slot(job_.rank);
  mine.moved_ns.store(moved_ns, std::memory_order_relaxed);
  mine.waits.store(waits ? 1 : 0, std::memory_order_relaxed);
}

bool Client::variables_asked() {
  const BoardSlot& mine = slot(job_.rank);
  if (mine.account == 0) return false;
  const BoardVariables& variables = board_variables(board_, mine);
  return variables.asked.load(std::memory_order_acquire) != variables.answered.load(std::memory_order_relaxed);
}

void Client::variables(const char* text, std::size_t bytes) {
  const BoardSlot& mine = slot(job_.rank);
  if (mine.account == 0) return;
  BoardVariables& variables = board_variables(board_, mine);
  const std::uint32_t question = variables.asked.load(std::memory_order_acquire);
  variables_text(board_, mine).write(text, bytes);
  variables.answered.store(question, std::memory_order_release);
}

void Client::answer(const char* account, std::size_t bytes, bool settled) {
  BoardSlot& mine = slot(job_.rank);
  if (mine.account == 0) return;
  // A question that comes while this is written is answered by the next account.
  const std::uint32_t question = mine.asked.load(std::memory_order_acquire);
  account_text(board_, mine).write(account, bytes);
  if (settled) mine.answered.store(question, std::memory_order_release);
}

}  // namespace ashlar::launch
