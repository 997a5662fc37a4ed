#include "components/launch/native/client.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "framework/base/clock.h"

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

const char* Client::why() {
  if (late_fence_) blame_the_missing(late_fence_, ASHLAR_LAUNCH_TIMED_OUT, late_ms_);
  late_fence_ = 0;
  return why_;
}

ashlar_launch_result Client::fail(ashlar_launch_result result, const char* format, ...) {
  late_fence_ = 0;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(why_, sizeof why_, format, arguments);
  va_end(arguments);
  return result;
}

ashlar_launch_result Client::attach(const Trace& trace) {
  bool inherited = false;
  const int fd = open_board(trace, &inherited, why_, sizeof why_);
  if (fd < 0) return ASHLAR_LAUNCH_FAILED;
  struct stat facts;
  if (fstat(fd, &facts) != 0) {
    close(fd);
    return fail(ASHLAR_LAUNCH_FAILED, "fstat of the board: %s", strerror(errno));
  }
  mapped_ = static_cast<std::size_t>(facts.st_size);
  void* at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  const int mmap_errno = errno;
  close(fd);
  if (at == MAP_FAILED)
    return fail(ASHLAR_LAUNCH_FAILED, "cannot map the %zu bytes of the board: %s", mapped_, strerror(mmap_errno));
  board_ = static_cast<BoardHeader*>(at);

  BoardSlot& mine = slot(trace.rank);
  std::uint32_t state = mine.state.load();
  if (!mine.state.compare_exchange_strong(state, static_cast<std::uint32_t>(RankState::kAttached)))
    return fail(ASHLAR_LAUNCH_FAILED, "rank %u was taken by process %u a moment ago", trace.rank, mine.pid.load());
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

  host_ = board_at<char>(board_, board_->host);
  launcher_ = board_at<char>(board_, board_->launcher);
  if (mine.placement) placement_ = board_at<char>(board_, mine.placement);
  if (board_->params) params_.assign(board_at<char>(board_, board_->params), board_->params_bytes);
  job_.size = sizeof job_;
  std::memcpy(job_.job_id, board_->job_id, sizeof job_.job_id);
  job_.cookie = board_->cookie;
  job_.rank = job_.local_rank = trace.rank;
  job_.ranks = job_.local_size = board_->ranks;
  job_.node = 0;
  job_.nodes = 1;
  job_.appnum = mine.appnum;
  job_.universe_size = board_->universe_size;
  job_.oversubscribed = board_->oversubscribed;
  job_.bound = mine.bound;
  job_.shared_fd = shared_fd_;
  job_.params = board_->params ? params_.c_str() : nullptr;
  job_.params_bytes = params_.size();
  job_.launcher = launcher_.c_str();
  job_.placement = placement_.c_str();
  return ASHLAR_LAUNCH_OK;
}

ashlar_launch_result Client::put(const char* key, const void* blob, std::size_t bytes) {
  const std::size_t key_bytes = std::strlen(key) + 1;
  const std::size_t blob_offset = (sizeof(BoardRecord) + key_bytes + 15) & ~std::size_t{15};
  const std::uint64_t at = bytes < (std::size_t{1} << 40) ? board_allocate(board_, blob_offset + bytes) : 0;
  if (at == 0)
    return fail(ASHLAR_LAUNCH_NO_SPACE, "%zu bytes under key %s do not fit: %llu of the board's %llu bytes are used",
                bytes, key, static_cast<unsigned long long>(board_->heap_used.load()),
                static_cast<unsigned long long>(board_->bytes));
  BoardSlot& mine = slot(job_.rank);
  auto* record = board_at<BoardRecord>(board_, at);
  record->older = mine.newest.load(std::memory_order_relaxed);
  record->attach = my_attach_;
  record->key_hash = board_key_hash(key);
  record->key_bytes = static_cast<std::uint32_t>(key_bytes);
  record->blob_offset = static_cast<std::uint32_t>(blob_offset);
  record->blob_bytes = bytes;
  std::memcpy(reinterpret_cast<char*>(record) + sizeof *record, key, key_bytes);
  if (bytes) std::memcpy(reinterpret_cast<char*>(record) + blob_offset, blob, bytes);
  mine.newest.store(at, std::memory_order_release);
  return ASHLAR_LAUNCH_OK;
}

ashlar_launch_result Client::view(std::uint32_t rank, const char* key, const void** blob, std::size_t* bytes) {
  if (rank >= job_.ranks) return fail(ASHLAR_LAUNCH_FAILED, "rank %u is outside 0..%u", rank, job_.ranks - 1);
  const std::uint32_t hash = board_key_hash(key);
  for (std::uint64_t at = slot(rank).newest.load(std::memory_order_acquire); at != 0;) {
    const auto* record = board_at<BoardRecord>(board_, at);
    // What an earlier program of the same rank published is nothing to this one.
    if (record->attach != my_attach_) break;
    const auto* text = reinterpret_cast<const char*>(record) + sizeof *record;
    if (record->key_hash == hash && std::strcmp(text, key) == 0) {
      *blob = reinterpret_cast<const char*>(record) + record->blob_offset;
      *bytes = record->blob_bytes;
      return ASHLAR_LAUNCH_OK;
    }
    at = record->older;
  }
  return fail(ASHLAR_LAUNCH_NOT_FOUND, "rank %u published no %s", rank, key);
}

bool Client::someone_left(std::uint32_t generation) const {
  for (std::uint32_t r = 0; r < job_.ranks; ++r)
    if (slot(r).fences.load() < generation && slot(r).end.load() != static_cast<std::uint32_t>(RankEnd::kRuns))
      return true;
  return false;
}

void Client::blame_the_missing(std::uint32_t generation, ashlar_launch_result result, std::int64_t waited_ms) {
  char list[320] = {};
  std::size_t used = 0;
  unsigned missing = 0;
  for (std::uint32_t r = 0; r < job_.ranks; ++r) {
    BoardSlot& other = slot(r);
    if (other.fences.load() >= generation) continue;
    const bool ended = other.end.load() != static_cast<std::uint32_t>(RankEnd::kRuns);
    if (result == ASHLAR_LAUNCH_PEER_FAILED && !ended) continue;
    if (++missing > 4) continue;
    const char* state = other.state.load() == static_cast<std::uint32_t>(RankState::kAbsent)      ? "never joined"
                        : other.state.load() == static_cast<std::uint32_t>(RankState::kFinalized) ? "finalized"
                                                                                                  : "joined";
    char how[64] = "runs";
    if (ended && WIFSIGNALED(other.wait_status))
      std::snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(other.wait_status));
    else if (ended)
      std::snprintf(how, sizeof how, "ended with exit code %d", WEXITSTATUS(other.wait_status));
    const int n =
        std::snprintf(list + used, sizeof list - used, "%srank %u (%s, %s)", missing > 1 ? ", " : "", r, state, how);
    if (n > 0) used = used + static_cast<std::size_t>(n) < sizeof list ? used + static_cast<std::size_t>(n) : used;
  }
  if (missing > 4 && used + 32 < sizeof list)
    std::snprintf(list + used, sizeof list - used, " and %u more", missing - 4);
  if (result == ASHLAR_LAUNCH_TIMED_OUT)
    fail(result, "after %.1f s of waiting for all %u ranks, still missing: %s", static_cast<double>(waited_ms) / 1000.0,
         job_.ranks, list);
  else
    fail(result, "all %u ranks must take part, but %s", job_.ranks, list);
}

ashlar_launch_result Client::fence(std::int64_t timeout_ms) {
  BoardSlot& mine = slot(job_.rank);
  if (!in_fence_) {
    in_fence_ = true;
    mine.fences.fetch_add(1);
    // No rank enters a fence before the one before it is complete, so the sum of arrivals tells which is complete.
    const std::uint64_t arrived = board_->arrivals.fetch_add(1) + 1;
    if (arrived % job_.ranks == 0) {
      board_->generation.store(static_cast<std::uint32_t>(arrived / job_.ranks));
      board_->event.fetch_add(1);
      futex(&board_->event, FUTEX_WAKE, INT_MAX, nullptr);
    }
  }
  const std::uint32_t wanted = mine.fences.load();
  const std::uint64_t began = now_ns();
  for (;;) {
    const std::uint32_t event = board_->event.load();
    if (static_cast<std::int32_t>(board_->generation.load() - wanted) >= 0) break;
    if (someone_left(wanted)) {
      blame_the_missing(wanted, ASHLAR_LAUNCH_PEER_FAILED, 0);
      return ASHLAR_LAUNCH_PEER_FAILED;
    }
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
  return ASHLAR_LAUNCH_OK;
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

ashlar_launch_result Client::initialized() {
  slot(job_.rank).heard_ns.store(now_ns(), std::memory_order_relaxed);
  slot(job_.rank).state.store(static_cast<std::uint32_t>(RankState::kInitialized));
  return ASHLAR_LAUNCH_OK;
}

void Client::in_use(bool world, bool sessions) {
  BoardSlot& mine = slot(job_.rank);
  const std::uint32_t had = mine.use.load() & (kHadWorld | kHadSessions);
  const std::uint32_t now = (world ? kInWorld | kHadWorld : 0u) | (sessions ? kInSessions | kHadSessions : 0u);
  mine.use.store(had | now);
  mine.state.store(static_cast<std::uint32_t>(world || sessions ? RankState::kInitialized : RankState::kFinalized));
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

ashlar_launch_result Client::finalize() {
  slot(job_.rank).state.store(static_cast<std::uint32_t>(RankState::kFinalized));
  return ASHLAR_LAUNCH_OK;
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

void Client::answer(const char* account, std::size_t bytes, bool settled) {
  BoardSlot& mine = slot(job_.rank);
  if (mine.account == 0) return;
  // A question that comes while this is written is answered by the next account.
  const std::uint32_t question = mine.asked.load(std::memory_order_acquire);
  mine.writing.fetch_add(1, std::memory_order_acq_rel);
  std::atomic_thread_fence(std::memory_order_release);
  mine.account_bytes = static_cast<std::uint32_t>(bytes < kAccountBytes ? bytes : kAccountBytes);
  std::memcpy(board_at<char>(board_, mine.account), account, mine.account_bytes);
  mine.writing.fetch_add(1, std::memory_order_release);
  if (settled) mine.answered.store(question, std::memory_order_release);
}

}  // namespace ashlar::launch
