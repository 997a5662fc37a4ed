#include "mpiexec/board.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/shared_file.h"
#include "mpiexec/pipe.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr int kLowestFd = 100;

// Moves a descriptor up, when the limit on descriptors allows; it stays usable where it is otherwise.
int move_up(int fd) {
  if (fd < 0) return fd;
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kLowestFd);
  if (high < 0) return fd;
  close(fd);
  return high;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

std::uint64_t own_start_time() {
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char buffer[1024];
  const ssize_t n = read(fd, buffer, sizeof buffer - 1);
  close(fd);
  if (n <= 0) return 0;
  buffer[n] = 0;
  const char* at = std::strrchr(buffer, ')');
  unsigned long long start = 0;
  if (!at || std::sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                         &start) != 1)
    return 0;
  return start;
}

std::uint64_t draw_cookie() {
  std::uint64_t cookie = 0;
  if (getrandom(&cookie, sizeof cookie, GRND_NONBLOCK) != sizeof cookie || cookie == 0)
    cookie = own_start_time() ^ (static_cast<std::uint64_t>(getpid()) << 32);
  return cookie;
}

Board::~Board() {
  if (board_) munmap(static_cast<void*>(board_), bytes_);
  for (int fd : {board_fd_, bell_read_, bell_write_, shared_fd_})
    if (fd >= 0) close(fd);
}

Status Board::make(const BoardFacts& facts) {
  using launch::BoardHeader;
  using launch::BoardSlot;
  const std::uint64_t fixed = round_up(sizeof(BoardHeader), 64) + facts.ranks * sizeof(BoardSlot);
  const std::uint64_t for_nodes =
      facts.nodes.several() ? facts.nodes.hosts.size() * 320 + facts.ranks * (sizeof(launch::BoardFar) + 4) : 0;
  const std::uint64_t heap_end = round_up(fixed + facts.params.size() + (1u << 20) + for_nodes +
                                              facts.ranks * (facts.heap_per_rank + launch::kRankTextBytes),
                                          4096);
  const std::uint64_t tool_bytes = round_up(facts.tool_bytes, 4096);
  bytes_ = heap_end + facts.ranks * tool_bytes;
  char why[400];
  board_fd_ = move_up(make_shared_file("ashlar-board", /*sealable=*/true, why, sizeof why));
  if (board_fd_ >= 0) shared_fd_ = move_up(make_shared_file("ashlar-shared", /*sealable=*/false, why, sizeof why));
  if (board_fd_ < 0 || shared_fd_ < 0)
    return fail(kErrOther, "start.system", {{"what", "make the job's shared memory"}, {"lower", why}});
  int bell[2];
  if (!make_pipe(bell, O_NONBLOCK)) return cannot("make the job's pipe: pipe2", errno);
  bell_read_ = bell[0];
  bell_write_ = move_up(bell[1]);
  if (const int failed = size_whole_shared_file(board_fd_, bytes_); failed != 0)
    return cannot(text("size the job's board to %zu bytes", bytes_), failed);
  // Where it can be, sealed, so that no rank can shorten it under the others' feet.
  fcntl(board_fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, board_fd_, 0);
  if (at == MAP_FAILED) return cannot(text("map the job's board of %zu bytes", bytes_), errno);
  board_ = static_cast<BoardHeader*>(at);
  board_->version = launch::kBoardVersion;
  board_->ranks = facts.ranks;
  std::snprintf(board_->job_id, sizeof board_->job_id, "%s", facts.job_id.c_str());
  board_->cookie = facts.cookie != 0 ? facts.cookie : draw_cookie();
  board_->launcher_pid = static_cast<std::uint32_t>(getpid());
  board_->launcher_start = own_start_time();
  board_->universe_size = facts.universe;
  board_->bytes = bytes_;
  board_->heap_end = heap_end;
  if (tool_bytes > 0) {
    board_->tools = heap_end;
    board_->tool_bytes = tool_bytes;
  }
  board_->slots = round_up(sizeof(BoardHeader), 64);
  board_->heap_used.store(round_up(fixed, 16));
  board_->oversubscribed = facts.oversubscribed;
  board_->keep_going = facts.keep_going;
  board_->bell = bell_write_;
  board_->host = store(facts.host);
  store_nodes(facts);
  board_->launcher = store(facts.launcher);
  if (!facts.name.empty()) board_->name = store(facts.name);
  if (!facts.parent_port.empty()) board_->parent_port = store(facts.parent_port);
  board_->starts_elsewhere = facts.starts_elsewhere ? 1 : 0;
  if (!facts.params.empty()) {
    board_->params = store(facts.params);
    board_->params_bytes = facts.params.size();
  }
  // Pages that no process writes take no memory.
  for (unsigned r = 0; r < facts.ranks; ++r)
    slot(r).account = launch::board_allocate(board_, launch::kRankTextBytes, alignof(launch::BoardVariables));
  board_->magic = launch::kBoardMagic;
  return {};
}

/// A job whose ranks are all on this node has one node, and no table of them.
void Board::store_nodes(const BoardFacts& facts) {
  board_->nodes = 1;
  board_->local_ranks = facts.ranks;
  if (!facts.nodes.several()) return;
  const std::vector<std::string>& hosts = facts.nodes.hosts;
  board_->nodes = static_cast<std::uint32_t>(hosts.size());
  board_->node = facts.nodes.node;
  board_->partial = facts.partial ? 1 : 0;
  board_->node_of_rank = launch::board_allocate(board_, facts.ranks * sizeof(std::uint32_t));
  board_->host_of_node = launch::board_allocate(board_, hosts.size() * sizeof(std::uint64_t));
  board_->far = launch::board_allocate(board_, facts.ranks * sizeof(launch::BoardFar));
  board_->local_ranks = 0;
  for (unsigned r = 0; r < facts.ranks; ++r) {
    launch::board_at<std::uint32_t>(board_, board_->node_of_rank)[r] = facts.nodes.node_of_rank[r];
    if (facts.nodes.here(r)) ++board_->local_ranks;
  }
  for (std::size_t node = 0; node < hosts.size(); ++node)
    launch::board_at<std::uint64_t>(board_, board_->host_of_node)[node] = store(hosts[node].substr(0, 255));
}

std::uint64_t Board::store(const std::string& value) {
  const std::uint64_t at = launch::board_allocate(board_, value.size() + 1);
  if (at) std::memcpy(launch::board_at<char>(board_, at), value.c_str(), value.size() + 1);
  return at;
}

void Board::set_placement(unsigned rank, unsigned appnum, bool bound, const std::string& words) {
  slot(rank).appnum = appnum;
  slot(rank).bound = bound;
  slot(rank).placement = store(words);
}

void Board::note_abort(unsigned rank, int code, const std::string& words) {
  slot(rank).abort_text = words.empty() ? 0 : store(words);
  slot(rank).abort_code = code;
  slot(rank).aborted.store(1);
  ring('a');
}

void Board::ring(char what) {
  if (write(bell_write_, &what, 1) != 1) return;  // full: mpiexec is about to look anyway
}

std::string Board::abort_text(unsigned rank) {
  const std::uint64_t at = slot(rank).abort_text;
  if (at == 0 || at >= bytes_) return {};
  return {launch::board_at<char>(board_, at), strnlen(launch::board_at<char>(board_, at), bytes_ - at)};
}

std::string Board::variable(unsigned rank) const {
  return text("1:%d:%d:%d:%u:%u:%llu:%s", board_fd_, bell_write_, shared_fd_, rank, board_->launcher_pid,
              static_cast<unsigned long long>(board_->launcher_start), board_->job_id);
}

void Board::ended(unsigned rank, int wait_status, bool failed) {
  slot(rank).wait_status = wait_status;
  slot(rank).end.store(static_cast<std::uint32_t>(failed ? launch::RankEnd::kFailed : launch::RankEnd::kEnded));
  if (failed) board_->failures.fetch_add(1);
  // Ranks that go on look at the failures when their word changes.
  if (failed && board_->keep_going != 0)
    for (unsigned other = 0; other < board_->ranks; ++other)
      if (launch::board_has(board_, other)) slot(other).news.fetch_add(1);
  wake();
}

void Board::fence_complete(std::uint32_t generation) {
  launch::board_complete_fence(board_, generation);
  wake();
}

void Board::want_answered(unsigned rank, std::uint32_t question) {
  launch::board_want(board_, slot(rank)).answered.store(question, std::memory_order_release);
  wake();
}

void Board::wake() {
  board_->event.fetch_add(1);
  syscall(SYS_futex, &board_->event, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ashlar::mpiexec
