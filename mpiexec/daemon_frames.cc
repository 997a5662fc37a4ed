// What mpiexec sends to its daemon.
#include <signal.h>

#include <algorithm>

#include "framework/base/clock.h"
#include "mpiexec/daemon.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kFresh = 100'000'000;  // until ranks have seen that they are to record the time

}  // namespace

/// What cannot be read was written by another idea of the job, or by another program on the way: the ranks would miss
/// what it was to say. They end, and mpiexec is told why.
void Daemon::take_frames() {
  for (Frame frame; !over_ && !leaving_ && link_.take(&frame);) {
    const FrameKind kind = frame.kind;
    const std::size_t bytes = frame.body.size();
    const char* const step = step_words();
    if (!handle(frame))
      give_up(text("mpiexec there was sent %s, which cannot be read, %s", frame_words(kind, bytes).c_str(), step));
  }
  if (link_.broken() && !leaving_)
    give_up(text("mpiexec there was sent %s, %s", link_.broken_words().c_str(), step_words()));
}

const char* Daemon::step_words() const {
  if (!ranks_) return "before it was told of the job";
  return started_ ? "while the job ran" : "before its ranks were to start";
}

/// The ranks end now; mpiexec hears why.
void Daemon::give_up(const std::string& sentence) {
  refuse(sentence);
  kill_all();
  leaving_ = true;
}

/// False: the frame cannot be read, or has no place at this step.
bool Daemon::handle(const Frame& frame) {
  Unpacker from(frame.body);
  switch (frame.kind) {
    case FrameKind::kOrder:
      if (ranks_ || prober_ || !from(order_).done()) return false;
      order_.nodes.node = node_;
      if (!order_.fits()) return false;
      if (const Status status = prepare(); !status.ok()) refuse(in_words(status));
      return true;
    case FrameKind::kCheck: {
      CheckOrder order;
      if (ranks_ || prober_ || !from(order).done()) return false;
      check(order);
      return true;
    }
    case FrameKind::kTryWays: {
      std::vector<WayTarget> targets;
      if (!prober_ || prober_->asked() || !from(targets).done()) return false;
      prober_->try_ways(targets, now_ns());
      tell_ways();
      return true;
    }
    case FrameKind::kBeat:
      link_.send(FrameKind::kBeatBack);
      return from.done();
    case FrameKind::kLeave:
      leaving_ = true;
      return from.done();
    case FrameKind::kNode:
      return !ranks_ && from(node_).done();
    case FrameKind::kToAll: {
      FrameKind kind{};
      if (!from(kind).good() || kind == FrameKind::kToAll) return false;
      // First, for one that leaves passes on no more.
      relays_.pass_on(frame);
      return handle({kind, from.rest()});
    }
    case FrameKind::kLead:
    case FrameKind::kDown:
    case FrameKind::kForget:
      return relays_.take(frame);
    case FrameKind::kSignal:
      return handle_signal(from);
    case FrameKind::kStop:
      if (ranks_) ranks_->stop();
      return from.done();
    default:
      return ranks_ && handle_prepared(frame, from);
  }
}

/// One may come before there are ranks.
bool Daemon::handle_signal(Unpacker& from) {
  std::uint32_t rank = 0;
  std::int32_t number = 0;
  if (!from(rank, number).done() || number <= 0 || number > SIGRTMAX) return false;
  if (number == SIGTSTP) paused_ = true;
  if (!ranks_) return true;
  if (rank != kEveryRank && !is_here(rank)) return false;
  for (unsigned r = 0; r < order_.options.ranks(); ++r)
    if (rank == kEveryRank || rank == r) ranks_->signal(r, number);
  return true;
}

bool Daemon::handle_prepared(const Frame& frame, Unpacker& from) {
  switch (frame.kind) {
    case FrameKind::kStart:
      if (started_ || !from.done()) return false;
      started_ = true;
      if (const Status status = ranks_->start(); !status.ok()) refuse(in_words(status));
      input_.open(ranks_->take_input());
      return true;
    case FrameKind::kEnded:
      return take_end(from);
    case FrameKind::kClock: {
      std::uint64_t asked = 0;
      if (!from(asked).done()) return false;
      const Moment here = moment_now();
      link_.send(FrameKind::kClockBack, packed(asked, here.ticks, here.ns));
      link_.flush();
      return true;
    }
    case FrameKind::kTools: {
      bool whole = false;
      if (!from(whole).done() || !order_.settings.tools || (tools_ && tools_->left())) return false;
      if (!tools_) tools_ = std::make_unique<ToolPages>(ranks_->board(), order_.nodes.list_of(order_.nodes.node));
      tools_->begin(whole);
      return true;
    }
    case FrameKind::kFenceDone: {
      std::uint32_t generation = 0;
      if (!from(generation).done()) return false;
      ranks_->board().fence_complete(generation);
      return true;
    }
    case FrameKind::kLookUp:
      return look_up(from);
    case FrameKind::kRecord:
      return take_record(from);
    case FrameKind::kReply:
      return take_reply(from);
    case FrameKind::kInput:
      if (frame.body.empty())
        input_.end();
      else
        input_.add(frame.body);
      if (!input_.is_open()) link_.send(FrameKind::kInputClosed);
      return true;
    case FrameKind::kRoom: {
      std::uint64_t bytes = 0;
      if (!from(bytes).done() || bytes > unread_) return false;
      unread_ -= bytes;
      return true;
    }
    case FrameKind::kCloseStream: {
      std::uint32_t rank = 0;
      bool error_stream = false;
      if (!from(rank, error_stream).done() || !is_here(rank)) return false;
      ranks_->close_stream(rank, error_stream);
      return true;
    }
    case FrameKind::kAsk: {
      bool status = false, variables = false;
      if (!from(status, variables).done()) return false;
      ask(status, variables);
      return true;
    }
    case FrameKind::kRefresh:
      StatusQuery(ranks_->board().header()).refresh();
      states_at_ns_ = now_ns() + kFresh;
      return from.done();
    default:
      return false;
  }
}

/// A rank of any host has ended.
bool Daemon::take_end(Unpacker& from) {
  std::uint32_t rank = 0, fences = 0;
  std::int32_t status = 0;
  bool failed = false;
  if (!from(rank, status, failed, fences).done() || rank >= order_.options.ranks()) return false;
  if (!is_here(rank)) ranks_->board().slot(rank).fences.store(fences);
  ranks_->publish_end(rank, status, failed);
  return true;
}

void Daemon::ask(bool status, bool variables) {
  launch::BoardHeader* const board = ranks_->board().header();
  if (status) status_ = std::make_unique<StatusQuery>(board);
  if (variables) variables_ = std::make_unique<StatusQuery>(board, StatusQuery::About::kVariables);
  if (status_) status_->start();
  if (variables_) variables_->start();
  answering_ = true;
}

bool Daemon::look_up(Unpacker& from) {
  std::uint64_t ticket = 0;
  RecordAnswer answer;
  if (!from(ticket, answer.wanted).done() || !is_here(answer.wanted.rank)) return false;
  if (const launch::BoardRecord* const record = launch::board_record(ranks_->board().header(), answer.wanted.rank,
                                                                     answer.wanted.key.c_str(), answer.wanted.attach)) {
    answer.found = true;
    answer.blob.assign(launch::board_blob(record), record->blob_bytes);
  }
  link_.send(FrameKind::kFound, packed(ticket, answer));
  return true;
}

bool Daemon::take_reply(Unpacker& from) {
  std::uint64_t call = 0;
  if (!from(call).good() || call > calls_) return false;
  relayed_.take(call, from.rest());  // which may be over here
  return true;
}

bool Daemon::take_record(Unpacker& from) {
  RecordAnswer answer;
  if (!from(answer).done() || !is_here(answer.wanted.by)) return false;
  // A question may name a rank that there is not; the answer says so.
  if (answer.found && answer.wanted.rank >= order_.options.ranks()) return false;
  if (answer.found && !is_here(answer.wanted.rank))
    (void)launch::board_publish(ranks_->board().header(), answer.wanted.rank, answer.wanted.key.c_str(),
                                answer.wanted.attach, answer.blob.data(), answer.blob.size());
  ranks_->board().want_answered(answer.wanted.by, answer.wanted.question);
  return true;
}

}  // namespace ashlar::mpiexec
