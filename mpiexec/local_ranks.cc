#include "mpiexec/local_ranks.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ashlar::mpiexec {

void LocalRanks::signal(unsigned rank, int number) {
  const Rank& to = ranks_[rank];
  if (to.running) kill(own_groups_ ? -to.pid : to.pid, number);
}

void LocalRanks::stop() {
  stopping_ = true;
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    signal(r, SIGTERM);
    signal(r, SIGCONT);  // a stopped process does not see SIGTERM
  }
}

void LocalRanks::publish_end(unsigned rank, int wait_status, bool failed) {
  board_.ended(rank, wait_status, failed);
  if (pmix_ && failed) pmix_->failed(rank);
}

bool LocalRanks::take_end(pid_t pid, bool exited) {
  const auto found =
      std::find_if(ranks_.begin(), ranks_.end(), [pid](const Rank& r) { return r.running && r.pid == pid; });
  if (found == ranks_.end()) return false;
  if (own_groups_ && (stopping_ || !exited)) kill(-pid, SIGKILL);
  const auto rank = static_cast<unsigned>(found - ranks_.begin());
  RankEnding ending;
  waitpid(pid, &ending.wait_status, 0);
  if (own_groups_) guard_.forget(rank);
  if (pmix_) pmix_->ended(rank);
  found->running = false;
  --running_;
  const launch::BoardSlot& slot = board_.slot(rank);
  ending.state = board_.state(rank);
  ending.use = slot.use.load();
  ending.fences = slot.fences.load();
  if (slot.aborted.load()) {
    ending.aborted = true;
    ending.abort_code = slot.abort_code;
    ending.abort_text = board_.abort_text(rank);
  }
  events_.rank_ended(rank, ending);
  return true;
}

/// What the PMIx server wants of mpiexec.
void LocalRanks::pass_calls_on() {
  if (!pmix_) return;
  for (Descriptor& call : pmix_->take_calls()) events_.server_called(std::move(call));
}

void LocalRanks::look_at_board() {
  char rings[64];
  bool changed = false;
  for (ssize_t n; (n = read(board_.bell_read_fd(), rings, sizeof rings)) > 0;)
    changed = changed || std::find(rings, rings + n, 's') != rings + n;
  if (changed) events_.states_changed();
  if (running_ > 0) pass_calls_on();
  // A job whose ranks are all on one other host than mpiexec's has one node for them.
  if (board_.header()->nodes > 1) {
    look_for_fence();
    look_for_questions();
  }
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    if (!ranks_[r].running || ranks_[r].told_abort || !board_.slot(r).aborted.load()) continue;
    ranks_[r].told_abort = true;
    events_.rank_aborted(r, board_.slot(r).abort_code, board_.abort_text(r));
  }
}

/// A fence that all ranks of this node have entered.
void LocalRanks::look_for_fence() {
  if (board_.header()->local_ranks == 0) return;  // mpiexec's board, where it has no rank of its own
  const std::uint32_t complete = launch::board_fences_entered(board_.header());
  while (fences_told_ != complete) events_.fence_entered(nodes().node, ++fences_told_);
}

void LocalRanks::look_for_questions() {
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    if (!ranks_[r].running) continue;
    const launch::BoardWant& want = launch::board_want(board_.header(), board_.slot(r));
    const std::uint32_t question = want.asked.load(std::memory_order_acquire);
    if (question == questions_[r]) continue;
    questions_[r] = question;
    const std::size_t length = strnlen(want.key, sizeof want.key);
    // The rank may have written anything there.
    const RecordWanted wanted = {.by = r,
                                 .question = question,
                                 .rank = want.rank,
                                 .attach = want.attach,
                                 .key = std::string(want.key, std::min(length, sizeof want.key - 1))};
    if (wanted.rank < ranks_.size())
      events_.record_wanted(wanted);
    else
      board_.want_answered(r, question);
  }
}

void LocalRanks::close_stream(unsigned rank, bool error_stream) {
  int& fd = error_stream ? ranks_[rank].err : ranks_[rank].out;
  if (fd < 0) return;
  close(fd);
  fd = -1;
  events_.stream_ended(rank, error_stream);
}

void LocalRanks::read_stream(unsigned rank, bool error_stream) {
  static char buffer[1u << 16];
  const int fd = error_stream ? ranks_[rank].err : ranks_[rank].out;
  if (fd < 0) return;
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0)
    events_.rank_wrote(rank, error_stream, {buffer, static_cast<std::size_t>(n)});
  else if (n == 0 || (errno != EINTR && errno != EAGAIN))
    close_stream(rank, error_stream);
}

void LocalRanks::add_streams(std::vector<pollfd>* fds, const bool full[2]) {
  polled_.clear();
  for (unsigned r = 0; r < ranks_.size(); ++r)
    for (const bool error_stream : {false, true}) {
      const int fd = error_stream ? ranks_[r].err : ranks_[r].out;
      if (fd < 0 || full[error_stream ? 1 : 0]) continue;
      fds->push_back({fd, POLLIN, 0});
      polled_.emplace_back(r, error_stream);
    }
  if (pmix_) pmix_->add(fds);
}

void LocalRanks::read_streams(const std::vector<pollfd>& fds, std::size_t first) {
  for (std::size_t i = 0; i < polled_.size(); ++i)
    if (fds[first + i].revents) read_stream(polled_[i].first, polled_[i].second);
  if (pmix_) pmix_->handle(fds);
}

bool LocalRanks::streams_open() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.out >= 0 || r.err >= 0; });
}

}  // namespace ashlar::mpiexec
