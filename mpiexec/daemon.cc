#include "mpiexec/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "framework/base/clock.h"
#include "framework/base/processors.h"
#include "mpiexec/host_check.h"
#include "mpiexec/local_placement.h"
#include "mpiexec/program_file.h"
#include "mpiexec/rank_view.h"
#include "mpiexec/remote_node.h"
#include "mpiexec/signals.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/strangers.h"
#include "mpiexec/text.h"

extern char** environ;

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kMostUnread = 1u << 20;              // output under way to mpiexec
constexpr std::uint64_t kAnswers = 10 * kMillisecond;        // between looks for answers
constexpr std::uint64_t kUnordered = 60'000 * kMillisecond;  // the longest silence before it is told of the job
constexpr std::uint64_t kTickMs = 1000;                      // the longest time without a look at the board

/// Variables that say something of the host or the login they were set on, and not of the user's wishes.
bool is_of_a_host(std::string_view entry) {
  static constexpr std::string_view kNames[] = {"HOSTNAME=",        "HOST=",           "SSH_CLIENT=",
                                                "SSH_CONNECTION=",  "SSH_TTY=",        "SSH_AUTH_SOCK=",
                                                "XDG_RUNTIME_DIR=", "XDG_SESSION_ID=", "DBUS_SESSION_BUS_ADDRESS=",
                                                "HWLOC_SYNTHETIC=", "SLURMD_NODENAME="};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return entry.starts_with(name); });
}

/// The environment of mpiexec, with this host's own variables where they are about a host.
Environment environment_here(const std::vector<std::string>& from) {
  std::vector<const char*> entries;
  for (const std::string& entry : from)
    if (!is_of_a_host(entry)) entries.push_back(entry.c_str());
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (is_of_a_host(*entry)) entries.push_back(*entry);
  entries.push_back(nullptr);
  return Environment(entries.data());
}

}  // namespace

Daemon::Daemon(const Inherited& inherited) : inherited_(inherited) {}

Daemon::~Daemon() {
  ranks_.reset();
  if (signal_fd_ >= 0) close(signal_fd_);
}

/// Standard input and output are the link alone: what else is printed here goes to standard error.
Status Daemon::take_over_streams() {
  Descriptor in(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!in || !out || !nothing || dup2(nothing.get(), STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return cannot("take over the agent's streams", errno);
  link_ = Link(std::move(in), std::move(out));
  return {};
}

int Daemon::run() {
  if (const Status taken = take_over_streams(); !taken.ok()) {
    say(in_words(taken));
    return 1;
  }
  signal_fd_ = take_signals();
  heard_ns_ = looked_ns_ = now_ns();
  link_.send_raw("\n" + DaemonLine::of_this_process().text());
  link_.flush();
  while (!over_) {
    poll_once();
    reap();
    check_clock();
    link_.flush();
  }
  kill_all();
  return 0;
}

int Daemon::timeout_ms() const {
  if (link_.wants_write() < 0 && leaving_) return 0;
  std::uint64_t next = now_ns() + kTickMs * kMillisecond;
  if (answering_) next = std::min(next, now_ns() + kAnswers);
  if (states_at_ns_ != 0) next = std::min(next, states_at_ns_);
  if (prober_) next = std::min(next, prober_->next_ns());
  const std::uint64_t now = now_ns();
  return next <= now ? 0 : static_cast<int>((next - now) / kMillisecond + 1);
}

void Daemon::poll_once() {
  std::vector<pollfd> fds;
  fds.push_back({signal_fd_, POLLIN, 0});
  fds.push_back({link_.in(), POLLIN, 0});
  fds.push_back({link_.wants_write(), POLLOUT, 0});
  fds.push_back({input_.wants_write(), POLLOUT, 0});
  fds.push_back({ranks_ ? ranks_->board().bell_read_fd() : -1, POLLIN, 0});
  fds.push_back({control_.fd(), POLLIN, 0});
  const std::size_t first = fds.size();
  const bool full[2] = {unread_ > kMostUnread, unread_ > kMostUnread};
  if (ranks_) ranks_->add_streams(&fds, full);
  const std::size_t first_way = fds.size();
  if (prober_) prober_->add(&fds);
  const std::size_t first_relay = fds.size();
  relays_.add(&fds);
  relayed_.add(&fds);
  if (poll(fds.data(), fds.size(), timeout_ms()) < 0) return;
  if (ranks_) ranks_->read_streams(fds, first);
  if (prober_) prober_->handle(&fds[first_way], now_ns());
  relays_.handle(fds.data() + first_relay);
  tell_ways();
  if (fds[3].revents) {
    if (const std::size_t given = input_.write_some(); given > 0)
      link_.send(FrameKind::kInputRoom, packed(static_cast<std::uint64_t>(given)));
    if (!input_.is_open()) link_.send(FrameKind::kInputClosed);
  }
  if (fds[0].revents) handle_signals();
  // Ends before aborts, which may be the answer to an end.
  if (ranks_ && fds[4].revents) reap();
  if (ranks_) ranks_->look_at_board();
  open_control();
  relayed_.handle(fds, *this);
  if (fds[5].revents)
    while (Descriptor socket = control_.accept()) server_called(std::move(socket));
  if (fds[1].revents) {
    heard_ns_ = now_ns();
    paused_ = false;
    if (!link_.read_some()) over_ = true;
    take_frames();
  }
  send_tools();
  relays_.flush();
  if (!link_.flush()) over_ = true;
  if (leaving_ && link_.queued() == 0) over_ = true;
}

void Daemon::handle_signals() {
  signalfd_siginfo info;
  while (read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    if (asks_to_end(static_cast<int>(info.ssi_signo))) {
      ended_by_ = static_cast<int>(info.ssi_signo);
      link_.send(FrameKind::kRefused, packed(std::string("mpiexec there was ended by ") + signal_words(ended_by_)));
      link_.flush();
      over_ = true;
    }
}

void Daemon::reap() {
  for (;;) {
    // Look first, wait later: as long as the process is a zombie its group's number cannot be another's.
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (ranks_ && ranks_->take_end(info.si_pid, info.si_code == CLD_EXITED)) continue;
    int status = 0;
    const bool is_agent = relays_.has(info.si_pid);
    waitpid(info.si_pid, &status, 0);
    if (is_agent) relays_.ended(info.si_pid, status);
  }
}

void Daemon::kill_all() {
  if (!ranks_) return;
  ranks_->stop();
  for (unsigned r = 0; r < order_.options.ranks(); ++r) ranks_->signal(r, SIGKILL);
}

/// A connection can be cut without an end for either side. The ranks here would run for ever.
void Daemon::check_silence(std::uint64_t now) {
  // This process itself was stopped: nothing is known of the time between.
  if (now > looked_ns_ + 2 * kTickMs * kMillisecond) heard_ns_ = now;
  looked_ns_ = now;
  const std::uint64_t most = ranks_ ? order_.settings.silence_ns : kUnordered;
  if (!paused_ && most > 0 && now > heard_ns_ + most) over_ = true;
}

void Daemon::check_clock() {
  const std::uint64_t now = now_ns();
  check_silence(now);
  if (ranks_ && ranks_->has_pmix() && now >= strangers_at_ns_) {
    hang_up_on_strangers();
    strangers_at_ns_ = now + kTickMs * kMillisecond;
  }
  if (states_at_ns_ != 0 && now >= states_at_ns_) {
    states_at_ns_ = 0;
    send_states(FrameKind::kStates);
  }
  if (answering_ && (!status_ || status_->finished()) && (!variables_ || variables_->finished())) {
    answering_ = false;
    send_states(FrameKind::kAccounts);
    status_.reset();
    variables_.reset();
  }
}

void Daemon::send_states(FrameKind kind) {
  const std::uint64_t now = now_ns();
  std::vector<RankView> views;
  for (unsigned r = 0; r < order_.options.ranks(); ++r) {
    if (!order_.nodes.here(r)) continue;
    RankView& view = views.emplace_back(view_of(ranks_->board(), r, now));
    if (kind != FrameKind::kAccounts) continue;
    if (status_) add_answers(ranks_->board(), *status_, &view);
    if (variables_) add_answers(ranks_->board(), *variables_, &view);
  }
  link_.send(kind, packed(now, views));
}

/// As much as mpiexec takes: what waits for its pipe is memory of this process.
void Daemon::send_tools() {
  ToolPages::Piece piece;
  while (tools_ && tools_->left() && link_.queued() < kMostUnread) {
    if (tools_->next(&piece))
      link_.send(FrameKind::kToolPages, packed(piece.rank, piece.offset) + piece.bytes);
    else
      link_.send(FrameKind::kToolsSent);
    if (!link_.flush()) return;
  }
}

void Daemon::rank_started(unsigned rank, pid_t pid) {
  link_.send(FrameKind::kStarted, packed(static_cast<std::uint32_t>(rank), static_cast<std::int32_t>(pid)));
}

void Daemon::rank_wrote(unsigned rank, bool error_stream, std::string_view bytes) {
  unread_ += bytes.size();
  std::string body = packed(static_cast<std::uint32_t>(rank), error_stream);
  body.append(bytes);
  link_.send(FrameKind::kOutput, body);
}

void Daemon::stream_ended(unsigned rank, bool error_stream) {
  link_.send(FrameKind::kStreamEnded, packed(static_cast<std::uint32_t>(rank), error_stream));
}

void Daemon::rank_aborted(unsigned rank, int code, const std::string& words) {
  link_.send(FrameKind::kRankAborted, packed(static_cast<std::uint32_t>(rank), static_cast<std::int32_t>(code), words));
}

void Daemon::rank_ended(unsigned rank, const RankEnding& ending) {
  send_states(FrameKind::kStates);
  link_.send(FrameKind::kRankEnded, packed(static_cast<std::uint32_t>(rank), ending));
}

void Daemon::fence_entered(unsigned, std::uint32_t generation) {
  send_states(FrameKind::kStates);
  link_.send(FrameKind::kFence, packed(generation));
}

void Daemon::record_wanted(const RecordWanted& wanted) { link_.send(FrameKind::kWanted, packed(wanted)); }

void Daemon::server_called(Descriptor socket) {
  relayed_.open(++calls_, std::move(socket));
  link_.send(FrameKind::kCall, packed(calls_));
}

void Daemon::states_changed() { send_states(FrameKind::kStates); }

/// The first rank of this host that wants something of mpiexec.
void Daemon::open_control() {
  if (!ranks_ || control_.place() != 0) return;
  launch::BoardHeader& board = *ranks_->board().header();
  if (board.control_wanted.load() == 0 || board.control.load() != 0) return;
  control_.open();
  board.control.store(control_.place() != 0 ? control_.place() : launch::kNoControl);
}

void Daemon::relayed(std::uint64_t call, std::string_view bytes) {
  std::string body = packed(call);
  body.append(bytes);
  link_.send(FrameKind::kAsks, body);
}

/// No job: mpiexec wants to know what one would find here.
void Daemon::check(const CheckOrder& order) {
  prober_ = std::make_unique<WayProber>(order.ways);
  // It may stay away in the next step, so each is on its way before it begins.
  const auto tell = [this](const CheckStep& step) {
    link_.send(FrameKind::kStep, packed(step));
    link_.flush();
  };
  link_.send(FrameKind::kChecked,
             packed(look_at_host(order, environment_here(order.environment), prober_.get(), tell)));
}

void Daemon::tell_ways() {
  if (!prober_ || ways_told_ || !prober_->done()) return;
  ways_told_ = true;
  link_.send(FrameKind::kWays, packed(prober_->results()));
}

void Daemon::refuse(const std::string& sentence) { link_.send(FrameKind::kRefused, packed(sentence)); }

Status Daemon::prepare() {
  ASHLAR_TRY(enter_folder(order_.options, order_.folder));
  const unsigned ranks = order_.nodes.ranks_of(order_.nodes.node), taken = order_.taken[order_.nodes.node];
  placement_ = decide_placement(order_.options, order_.settings, ranks);
  placement_.oversubscribed =
      placement_.oversubscribed || (taken > 0 && ranks + taken > static_cast<unsigned>(own_processors().size()));
  RankEvents& events = *this;
  ranks_ = std::make_unique<LocalRanks>(order_.options, order_.settings, inherited_, events);
  LocalFacts facts;
  facts.daemon = true;
  facts.board.job_id = order_.job_id;
  facts.board.host = DaemonLine::of_this_process().host;
  facts.board.launcher = order_.launcher;
  facts.board.nodes = order_.nodes;
  facts.board.cookie = order_.cookie;
  facts.board.universe = order_.universe;
  facts.board.name = order_.name;
  facts.board.parent_port = order_.parent_port;
  facts.board.partial = facts.board.starts_elsewhere = true;
  ASHLAR_TRY(ranks_->prepare(std::move(facts), environment_here(order_.environment), placement_));
  link_.send(FrameKind::kReady, packed(NodeReady{.words = placement_.words,
                                                 .oversubscribed = placement_.oversubscribed,
                                                 .what = placement_.what,
                                                 .because = placement_.because,
                                                 .lost = placement_.lost,
                                                 .pmix = ranks_->why_pmix()}));
  return {};
}

}  // namespace ashlar::mpiexec
