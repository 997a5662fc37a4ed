// What daemons send, and the questions that go through mpiexec.
#include <algorithm>
#include <utility>

#include "framework/base/clock.h"
#include "mpiexec/rank_view.h"
#include "mpiexec/remote_nodes.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {

/// What cannot be read was written by a daemon that has another idea of the job than this mpiexec, or by another
/// program on its way. Whatever it was to say is missing from now on, so the host is.
void RemoteNodes::take_frames(RemoteNode& node, std::uint64_t now) {
  const bool needed = node.phase() < RemoteNode::Phase::kLeaving;
  for (Frame frame; node.trouble().empty() && node.open() && node.link().take(&frame);) {
    const FrameKind kind = frame.kind;
    const std::size_t bytes = frame.body.size();
    const char* const step = node.step_words();
    if (!handle_frame(node, frame, now) && needed)
      node.refuse(text("mpiexec there has sent %s, which cannot be read, %s", frame_words(kind, bytes).c_str(), step));
  }
  if (node.link().broken() && needed && node.trouble().empty())
    node.refuse(text("its agent has passed on %s, %s", node.link().broken_words().c_str(), node.step_words()));
}

bool RemoteNodes::handle_refused(RemoteNode& node, Unpacker& from) {
  std::string sentence;
  if (!from(sentence).done()) return false;
  node.refuse(sentence.empty() ? "it gives no reason" : sentence);
  return true;
}

bool RemoteNodes::handle_ready(RemoteNode& node, Unpacker& from) {
  NodeReady& ready = ready_[node.node()];
  if (!from(ready).done() || ready.words.size() != ranks_[node.node()].size()) return false;
  if (with_tools_)
    meet(node);
  else
    node.set_phase(RemoteNode::Phase::kReady);
  return true;
}

bool RemoteNodes::handle_frame(RemoteNode& node, const Frame& frame, std::uint64_t now) {
  Unpacker from(frame.body);
  if (frame.kind == FrameKind::kRefused) return handle_refused(node, from);
  if (frame.kind >= FrameKind::kUp && frame.kind <= FrameKind::kAgentOver) return handle_way(node, frame, now);
  if (frame.kind == FrameKind::kBeatBack) return from.done();  // that it came is all that it says
  if (frame.kind == FrameKind::kClockBack) return take_time(node, from);
  if (node.phase() == RemoteNode::Phase::kOrdered) return frame.kind == FrameKind::kReady && handle_ready(node, from);
  if (node.phase() < RemoteNode::Phase::kRunning) return false;
  switch (frame.kind) {
    case FrameKind::kStarted:
    case FrameKind::kOutput:
    case FrameKind::kStreamEnded:
    case FrameKind::kRankAborted:
    case FrameKind::kRankEnded:
      return handle_rank(node, frame.kind, from);
    case FrameKind::kFence: {
      std::uint32_t generation = 0;
      if (!from(generation).done()) return false;
      events_.fence_entered(node.node(), generation);
      return true;
    }
    case FrameKind::kWanted: {
      RecordWanted wanted;
      if (!from(wanted).done() || !is_of(node, wanted.by)) return false;
      found({.wanted = wanted, .found = false, .blob = {}}, node.node());
      return true;
    }
    case FrameKind::kFound: {
      std::uint64_t ticket = 0;
      RecordAnswer answered;
      if (!from(ticket, answered).done() || ticket >= tickets_.size() || !tickets_[ticket].open) return false;
      const Ticket asked = tickets_[ticket];
      answered.wanted = asked.wanted;
      answer(answered, asked.from);
      return true;
    }
    case FrameKind::kStates:
    case FrameKind::kAccounts:
      return take_views(node, from, frame.kind == FrameKind::kAccounts, now);
    case FrameKind::kInputRoom: {
      std::uint64_t bytes = 0;
      if (!from(bytes).done() || bytes > input_sent_) return false;
      input_sent_ -= bytes;
      return true;
    }
    case FrameKind::kCall:
    case FrameKind::kAsks:
      return handle_call(node, frame.kind, from);
    case FrameKind::kInputClosed:
      input_closed_ = true;
      return from.done();
    case FrameKind::kToolPages:
      return take_pages(node, from);
    case FrameKind::kToolsSent: {
      const bool was = std::exchange(facts_[node.node()].bringing, false);
      return was && from.done();
    }
    default:
      return false;
  }
}

/// Calls are numbered as they come.
bool RemoteNodes::handle_call(const RemoteNode& node, FrameKind kind, Unpacker& from) {
  std::uint64_t call = 0;
  std::uint32_t& calls = facts_[node.node()].calls;
  if (!from(call).good()) return false;
  if (kind == FrameKind::kCall) {
    if (!from.done() || call != std::uint64_t{calls} + 1) return false;
    events_.rank_called(node.node(), ++calls);
    return true;
  }
  if (call == 0 || call > calls) return false;
  events_.rank_asks(node.node(), static_cast<std::uint32_t>(call), from.rest());
  return true;
}

/// What a rank of the node does. The rank is the first value of each.
bool RemoteNodes::handle_rank(const RemoteNode& node, FrameKind kind, Unpacker& from) {
  std::uint32_t rank = 0;
  if (!from(rank).good() || !is_of(node, rank)) return false;
  bool error_stream = false;
  switch (kind) {
    case FrameKind::kStarted: {
      std::int32_t pid = 0;
      if (!from(pid).done()) return false;
      events_.rank_started(rank, pid);
      return true;
    }
    case FrameKind::kOutput:
      if (!from(error_stream).good()) return false;
      facts_[node.node()].output += from.rest().size();
      events_.rank_wrote(rank, error_stream, from.rest());
      return true;
    case FrameKind::kStreamEnded:
      if (!from(error_stream).done()) return false;
      events_.stream_ended(rank, error_stream);
      return true;
    case FrameKind::kRankAborted: {
      std::int32_t code = 0;
      std::string words;
      if (!from(code, words).done()) return false;
      events_.rank_aborted(rank, code, words);
      return true;
    }
    default: {
      RankEnding ending;
      if (!from(ending).done()) return false;
      events_.rank_ended(rank, ending);
      return true;
    }
  }
}

bool RemoteNodes::take_views(RemoteNode& node, Unpacker& from, bool answers, std::uint64_t now) {
  std::uint64_t then = 0;
  std::vector<RankView> views;
  const auto is_strange = [&](const RankView& view) { return !is_of(node, view.rank); };
  if (!from(then, views).done() || std::any_of(views.begin(), views.end(), is_strange)) return false;
  Facts& facts = facts_[node.node()];
  facts.clock = std::min(facts.clock, static_cast<std::int64_t>(now - then));
  for (const RankView& view : views) {
    show(*board_, view, now, answers ? facts.asked_ns : 0, facts.clock);
    if (!answers) continue;
    launch::BoardSlot& slot = board_->slot(view.rank);
    if (view.answered) slot.answered.store(asked_[view.rank]);
    if (view.variables_answered && slot.account != 0)
      launch::board_variables(board_->header(), slot).answered.store(variables_asked_[view.rank]);
  }
  if (!answers) return true;
  facts.asked = false;
  pass_queries_on(now);
  return true;
}

/// The board of mpiexec is asked, by mpiexec itself or from outside. The answers to two questions come one after the
/// other, or the older one would be taken for the newer one's.
void RemoteNodes::pass_queries_on(std::uint64_t now) {
  for (const auto& node : nodes_) {
    Facts& facts = facts_[node->node()];
    if (facts.asked || node->phase() != RemoteNode::Phase::kRunning) continue;
    bool status = false, of_variables = false;
    for (const unsigned r : ranks_[node->node()]) {
      launch::BoardSlot& slot = board_->slot(r);
      const std::uint32_t asked = slot.asked.load();
      const std::uint32_t variables =
          slot.account != 0 ? launch::board_variables(board_->header(), slot).asked.load() : 0;
      status = status || asked != asked_[r];
      of_variables = of_variables || variables != variables_asked_[r];
      asked_[r] = asked;
      variables_asked_[r] = variables;
    }
    if (!status && !of_variables) continue;
    facts.asked = true;
    facts.asked_ns = now;
    node->link().send(FrameKind::kAsk, packed(status, of_variables));
  }
}

void RemoteNodes::refresh() { to_all(FrameKind::kRefresh); }

void RemoteNodes::look_up(const RecordWanted& wanted) {
  found({.wanted = wanted, .found = false, .blob = {}}, map_.node);
}

/// A question of a rank of node `from`: the board of mpiexec has the record when the rank is of its own node, or when
/// it was asked for before; else its daemon has it.
void RemoteNodes::found(const RecordAnswer& question, unsigned from) {
  RecordAnswer known = question;
  const RecordWanted& wanted = known.wanted;
  if (wanted.rank >= map_.node_of_rank.size() || board_ == nullptr) return answer(known, from);
  if (const launch::BoardRecord* const record =
          launch::board_record(board_->header(), wanted.rank, wanted.key.c_str(), wanted.attach)) {
    known.found = true;
    known.blob.assign(launch::board_blob(record), record->blob_bytes);
    return answer(known, from);
  }
  RemoteNode* const owner = node_of(wanted.rank);
  if (owner == nullptr) return answer(known, from);
  // Tickets are numbers in a list; one whose question is answered serves the next.
  std::uint64_t ticket = 0;
  while (ticket < tickets_.size() && tickets_[ticket].open) ++ticket;
  if (ticket == tickets_.size()) tickets_.emplace_back();
  tickets_[ticket] = {.open = true, .from = from, .wanted = wanted};
  owner->link().send(FrameKind::kLookUp, packed(ticket, wanted));
}

void RemoteNodes::answer(const RecordAnswer& answered, unsigned to) {
  for (Ticket& ticket : tickets_)
    if (ticket.from == to && ticket.wanted.by == answered.wanted.by &&
        ticket.wanted.question == answered.wanted.question)
      ticket.open = false;
  const RecordWanted& wanted = answered.wanted;
  if (to == map_.node) {
    if (answered.found)
      (void)launch::board_publish(board_->header(), wanted.rank, wanted.key.c_str(), wanted.attach,
                                  answered.blob.data(), answered.blob.size());
    board_->want_answered(wanted.by, wanted.question);
    return;
  }
  for (const auto& node : nodes_)
    if (node->node() == to && node->open()) node->link().send(FrameKind::kRecord, packed(answered));
}

}  // namespace ashlar::mpiexec
