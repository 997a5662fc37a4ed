// The start of the ranks of a node; their lives are in local_ranks.cc.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/tool_memory.h"
#include "framework/plugin/tools.h"
#include "mpiexec/local_ranks.h"
#include "mpiexec/pipe.h"
#include "mpiexec/program_file.h"
#include "mpiexec/rank_files.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

/// A name that cannot be guessed, below the folder for temporary files.
std::string new_folder_name() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = now_ns() ^ (static_cast<std::uint64_t>(getpid()) << 40);
  const char* const tmp = getenv("TMPDIR");
  return text("%s/ashlar-%016llx", tmp && *tmp ? tmp : "/tmp", static_cast<unsigned long long>(random));
}

/// What a process finds in MPI_INFO_ENV (MPI-5.0, 11.2.1): the words of the command line about its own program.
std::string start_words(const Segment& segment) {
  const std::string soft = segment.soft.empty() ? text("%u", segment.asked) : segment.soft;
  return text("maxprocs=%u;soft=%s;", segment.asked, soft.c_str());
}

}  // namespace

std::string LocalRanks::variable_of(const Segment& segment, const std::string& name) const {
  return mpiexec::variable_of(environment_, options_, segment, name);
}

/// The library that shows the ranks' calls to the tools. LD_PRELOAD is a list whose names end at spaces and colons.
Status LocalRanks::check_wrappers() {
  wrappers_ = plugin::wrappers_file(own_prefix());
  if (access(wrappers_.c_str(), R_OK) != 0)
    return fail(kErrOther, "tool.wrappers_missing", {{"file", wrappers_}, {"lower", std::strerror(errno)}});
  if (wrappers_.find_first_of(" :") != std::string::npos)
    return fail(kErrOther, "tool.wrappers_name", {{"file", wrappers_}});
  return {};
}

LocalRanks::LocalRanks(const Options& options, const Settings& settings, const Inherited& inherited, RankEvents& events)
    : options_(options),
      settings_(settings),
      inherited_(inherited),
      events_(events),
      environment_(nullptr),
      ranks_(options.ranks()),
      questions_(options.ranks()) {
  unsigned rank = 0;
  for (unsigned s = 0; s < options_.segments.size(); ++s)
    for (unsigned i = 0; i < options_.segments[s].ranks; ++i) ranks_[rank++].segment = s;
}

LocalRanks::~LocalRanks() {
  if (pmix_) pmix_.release()->leave();
  std::error_code ignored;
  if (!pmix_folder_.empty()) std::filesystem::remove_all(pmix_folder_, ignored);
  for (const Rank& rank : ranks_)
    for (const int fd : {rank.out, rank.err})
      if (fd >= 0) close(fd);
  if (remote_input_ >= 0) close(remote_input_);
}

/// The programs that ranks of this node run.
Status LocalRanks::find_programs() {
  files_.resize(options_.segments.size());
  for (unsigned s = 0; s < files_.size(); ++s) {
    if (std::none_of(ranks_.begin(), ranks_.end(), [s](const Rank& r) { return r.here && r.segment == s; })) continue;
    ASHLAR_TRY(find_program_of(environment_, options_, options_.segments[s], &files_[s]));
  }
  return {};
}

Status LocalRanks::make_board() {
  BoardFacts& facts = facts_.board;
  facts.params = settings_.for_ranks;
  facts.heap_per_rank = settings_.board_per_rank;
  if (settings_.tools) {
    ASHLAR_TRY(check_wrappers());
    facts.tool_bytes = plugin::kToolPage + settings_.tool_buffer;
  }
  facts.ranks = static_cast<unsigned>(ranks_.size());
  facts.oversubscribed = placement_->oversubscribed;
  facts.keep_going = settings_.keep_going;
  ASHLAR_TRY(board_.make(facts));
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = ranks_[r];
    if (rank.here)
      board_.set_placement(r, rank.segment, !placement_->cpus[rank.local].empty(), placement_->words[rank.local]);
  }
  return {};
}

Status LocalRanks::prepare(LocalFacts facts, Environment environment, const Placement& placement) {
  facts_ = std::move(facts);
  environment_ = std::move(environment);
  placement_ = &placement;
  unsigned here = 0;
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    ranks_[r].here = nodes().here(r);
    if (ranks_[r].here) ranks_[r].local = here++;
  }
  ASHLAR_TRY(find_programs());
  // Two pipes per rank and a few more; ranks get the old limit back.
  rlimit files = inherited_.files;
  if (files.rlim_cur < 4 * here + 200) {
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4 * here + 200);
    setrlimit(RLIMIT_NOFILE, &files);
  }
  ASHLAR_TRY(make_board());
  // A single rank with our own streams behaves as if started without mpiexec: terminals, prompts and all bytes.
  through_ = !facts_.daemon && here == 1 && ranks_.size() == 1 && !options_.tag_output && !options_.timestamp_output &&
             options_.output.empty();
  // With the terminal as its input it must stay in the terminal's foreground group.
  own_groups_ = !(through_ && options_.stdin_rank == 0 && isatty(STDIN_FILENO));
  // The guard knows the folder's name before there is a folder, so that no moment is left in which it stays.
  if (wants_pmix()) pmix_folder_ = new_folder_name();
  if (own_groups_ || !pmix_folder_.empty())
    ASHLAR_TRY(guard_.start(static_cast<unsigned>(ranks_.size()), pmix_folder_));
  // Last, because it starts threads: they must find the signals blocked, and the guard must not be forked from them.
  return pmix_folder_.empty() ? Status() : start_pmix();
}

Status LocalRanks::start() {
  pass_calls_on();
  for (unsigned rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].here) ASHLAR_TRY(start_rank(rank));
  return {};
}

bool LocalRanks::wants_pmix() const {
  const bool any_here = std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.here; });
  return any_here && (settings_.pmix == "on" ||
                      (settings_.pmix == "auto" && std::any_of(files_.begin(), files_.end(), links_pmix)));
}

std::string LocalRanks::why_pmix() const {
  if (!pmix_) return {};
  if (settings_.pmix == "on") return "mpiexec.pmix is on";
  return "needed by " + brief(*std::find_if(files_.begin(), files_.end(), links_pmix));
}

Status LocalRanks::start_pmix() {
  if (mkdir(pmix_folder_.c_str(), 0700) != 0) {
    const Status status =
        fail(kErrOther, "pmix.no_folder", {{"lower", std::strerror(errno)}, {"file", brief(pmix_folder_)}});
    pmix_folder_.clear();
    return status;
  }
  PmixFacts facts;
  facts.job_id = facts_.board.job_id;
  facts.tmpdir = pmix_folder_;
  if (nodes().several()) {
    facts.hosts = nodes().hosts;
    facts.node_of_rank = nodes().node_of_rank;
    facts.node = nodes().node;
  } else {
    facts.hosts = {facts_.board.host};
    facts.node_of_rank.assign(ranks_.size(), 0);
  }
  if (const std::size_t colon = options_.pmix_parent.find(':'); colon != std::string::npos)
    facts.parent = {.space = options_.pmix_parent.substr(colon + 1),
                    .rank = static_cast<std::uint32_t>(std::strtoul(options_.pmix_parent.c_str(), nullptr, 10))};
  facts.universe = facts_.board.universe;
  for (const Rank& rank : ranks_) facts.appnum_of_rank.push_back(rank.segment);
  const std::string sets = options_.process_sets();
  for (std::size_t at = 0; at < sets.size();) {
    const std::size_t end = std::min(sets.find(';', at), sets.size()), equals = sets.rfind('=', end);
    std::vector<unsigned> ranks;
    if (expand_ranks(sets.substr(equals + 1, end - equals - 1), &ranks))
      facts.sets.emplace_back(sets.substr(at, equals - at), ranks);
    at = end + 1;
  }
  Status status = load_pmix_server(&pmix_);
  if (status.ok())
    if (const std::string problem = pmix_->start(facts, this); !problem.empty())
      status = fail(kErrOther, "pmix.cannot_run", {{"lower", problem}});
  return add_facts(status, {{"setting", settings_.pmix}});
}

// These three run in the server's thread, and do through the board what a rank of our own does.
void LocalRanks::connected(unsigned rank) {
  std::uint32_t absent = 0;
  if (rank >= ranks_.size()) return;
  board_.slot(rank).state.compare_exchange_strong(absent, static_cast<std::uint32_t>(launch::RankState::kInitialized));
  board_.ring('s');
}
void LocalRanks::finalized(unsigned rank) {
  // A rank with a pid has attached by itself and says by itself when it is done.
  if (rank >= ranks_.size() || board_.slot(rank).pid.load() != 0) return;
  board_.slot(rank).state.store(static_cast<std::uint32_t>(launch::RankState::kFinalized));
  board_.ring('s');
}
void LocalRanks::aborted(unsigned rank, int code, const char* message) {
  if (rank < ranks_.size()) board_.note_abort(rank, code, message ? message : "");
}
void LocalRanks::wake() { board_.ring('w'); }

Status LocalRanks::open_streams(unsigned rank, int streams[3], std::vector<int>* mine) {
  const bool reads = options_.stdin_rank == static_cast<int>(rank);
  auto keep = [&](int fd) {
    mine->push_back(fd);
    return fd;
  };
  if (!reads) {
    streams[0] = keep(open("/dev/null", O_RDONLY | O_CLOEXEC));
  } else if (!facts_.daemon && (through_ || !isatty(STDIN_FILENO))) {
    streams[0] = STDIN_FILENO;
  } else {
    int ends[2];
    if (make_pipe(ends)) {
      streams[0] = keep(ends[0]);
      if (facts_.daemon)
        remote_input_ = ends[1];
      else
        input_ = std::make_unique<InputForwarder>(STDIN_FILENO, ends[1]);
    }
  }
  if (!options_.output.empty() && !facts_.daemon) {
    const RankFileFacts facts{rank, static_cast<unsigned>(ranks_.size()), ranks_[rank].segment, facts_.board.host};
    ASHLAR_TRY(open_rank_files(options_.output, facts, &streams[1], &streams[2]));
    keep(streams[1]);
    if (streams[2] != streams[1]) keep(streams[2]);
  } else if (through_) {
    streams[1] = STDOUT_FILENO;
    streams[2] = STDERR_FILENO;
  } else {
    for (int i = 1; i <= 2; ++i) {
      int ends[2];
      if (!make_pipe(ends)) break;
      fcntl(ends[0], F_SETFL, O_NONBLOCK);
      (i == 1 ? ranks_[rank].out : ranks_[rank].err) = ends[0];
      streams[i] = keep(ends[1]);
    }
  }
  for (int i = 0; i < 3; ++i)
    if (streams[i] < 0) return cannot(text("open the streams of rank %u of %zu", rank, ranks_.size()), errno);
  return {};
}

Status LocalRanks::not_started(unsigned rank, const SpawnResult& result, const SpawnRequest& request) const {
  const auto failure = [&](const std::string& what, const std::string& reason) {
    return fail(kErrOther, "start.rank", {{"rank", rank}, {"ranks", ranks_.size()}, {"lower", reason}, {"what", what}});
  };
  if (std::strcmp(result.step, "execve") == 0) {
    // A relative name is meant from the rank's folder.
    const bool below = request.wdir && request.file[0] != '/';
    const std::string file = below ? text("%s/%s", request.wdir, request.file) : request.file;
    return failure(brief(file), exec_error_words(file, result.error));
  }
  const char* const what = std::strcmp(result.step, "chdir") == 0 ? request.wdir : request.file;
  return failure(text("%s of %s", result.step, brief(what).c_str()), error_words(result.error));
}

Environment LocalRanks::environment_of(unsigned rank) const {
  const Segment& segment = options_.segments[ranks_[rank].segment];
  Environment environment = environment_;
  for (const EnvChange& change : options_.env) environment.set(change.first, change.second);
  for (const EnvChange& change : segment.env) environment.set(change.first, change.second);
  if (pmix_)
    for (const EnvChange& change : pmix_->environment(rank)) environment.set(change.first, change.second);
  environment.set(launch::kJobVariable, board_.variable(rank));
  environment.set(launch::kInfoVariable, start_words(segment) + settings_.start_words);
  environment.set("ASHLAR__RANK", text("%u", rank));
  environment.set("ASHLAR__LOCAL_RANK", text("%u", ranks_[rank].local));
  environment.set("ASHLAR__SIZE", text("%zu", ranks_.size()));
  if (!wrappers_.empty()) {
    const std::string others = environment.get("LD_PRELOAD");
    environment.set("LD_PRELOAD", others.empty() ? wrappers_ : wrappers_ + ":" + others);
  }
  return environment;
}

Status LocalRanks::start_rank(unsigned rank) {
  Rank& mine = ranks_[rank];
  const Segment& segment = options_.segments[mine.segment];
  int streams[3] = {-1, -1, -1};
  std::vector<int> to_close;
  SpawnResult result;
  Status status = open_streams(rank, streams, &to_close);
  if (status.ok()) {
    Environment environment = environment_of(rank);
    std::vector<const char*> argv;
    for (const std::string& word : segment.argv) argv.push_back(word.c_str());
    argv.push_back(nullptr);
    SpawnRequest request;
    request.file = files_[mine.segment].c_str();
    request.argv = argv.data();
    request.envp = environment.pointers();
    request.wdir = segment.wdir.empty() ? nullptr : segment.wdir.c_str();
    request.in = streams[0];
    request.out = streams[1];
    request.err = streams[2];
    request.keep[0] = board_.board_fd();
    request.keep[1] = board_.bell_fd();
    request.keep[2] = board_.shared_fd();
    request.cpus = &placement_->cpus[mine.local];
    request.own_group = own_groups_;
    request.inherited = &inherited_;
    result = spawn(request);
    if (result.pid < 0) status = not_started(rank, result, request);
  }
  for (const int fd : to_close) close(fd);
  if (!status.ok()) return status;
  if (result.bind_error && (options_.report_bindings || options_.explain))
    say(text("rank %u could not be bound to %s (%s) and runs unbound", rank, placement_->words[mine.local].c_str(),
             std::strerror(result.bind_error)));
  if (own_groups_) guard_.watch(rank, result.pid);
  mine.pid = result.pid;
  mine.running = true;
  ++running_;
  events_.rank_started(rank, result.pid);
  return {};
}

}  // namespace ashlar::mpiexec
