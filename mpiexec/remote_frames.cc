// What daemons send, and the questions that go through mpiexec.
#include <algorithm>

#include "framework/base/clock.h"
#include "mpiexec/rank_view.h"
#include "mpiexec/remote_nodes.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {

void RemoteNodes::handle_ready(RemoteNode& node, const Frame& frame) {
  Unpacker from(frame.body);
  if (frame.kind == FrameKind::kRefused) {
    std::string sentence;
    from(sentence);
    node.refuse(sentence.empty() ? "it gives no reason" : sentence);
    return;
  }
  from(ready_[node.node()]);
  if (from.good() && ready_[node.node()].words.size() == map_.ranks_of(node.node()))
    node.set_phase(RemoteNode::Phase::kReady);
  else
    node.refuse("what it sends is not of mpiexec's protocol");
}

void RemoteNodes::handle_frame(RemoteNode& node, const Frame& frame, std::uint64_t now) {
  if (node.phase() < RemoteNode::Phase::kRunning) {
    if (frame.kind == FrameKind::kReady || frame.kind == FrameKind::kRefused) handle_ready(node, frame);
    return;
  }
  Unpacker from(frame.body);
  std::uint32_t rank = 0;
  switch (frame.kind) {
    case FrameKind::kRefused: {
      std::string sentence;
      from(sentence);
      node.refuse(sentence);
      return;
    }
    case FrameKind::kStarted: {
      std::int32_t pid = 0;
      if (from(rank, pid).good() && is_of(node, rank)) events_.rank_started(rank, pid);
      return;
    }
    case FrameKind::kOutput: {
      bool error_stream = false;
      if (!from(rank, error_stream).good() || !is_of(node, rank)) return;
      facts_[node.node()].output += from.rest().size();
      events_.rank_wrote(rank, error_stream, from.rest());
      return;
    }
    case FrameKind::kStreamEnded: {
      bool error_stream = false;
      if (from(rank, error_stream).good() && is_of(node, rank)) events_.stream_ended(rank, error_stream);
      return;
    }
    case FrameKind::kRankAborted: {
      std::int32_t code = 0;
      std::string words;
      if (from(rank, code, words).good() && is_of(node, rank)) events_.rank_aborted(rank, code, words);
      return;
    }
    case FrameKind::kRankEnded: {
      RankEnding ending;
      if (from(rank, ending).good() && is_of(node, rank)) events_.rank_ended(rank, ending);
      return;
    }
    case FrameKind::kFence: {
      std::uint32_t generation = 0;
      if (from(generation).good()) events_.fence_entered(node.node(), generation);
      return;
    }
    case FrameKind::kWanted: {
      RecordWanted wanted;
      if (from(wanted).good() && is_of(node, wanted.by))
        found({.wanted = wanted, .found = false, .blob = {}}, node.node());
      return;
    }
    case FrameKind::kFound: {
      std::uint64_t ticket = 0;
      RecordAnswer answered;
      if (!from(ticket, answered).good() || ticket >= tickets_.size()) return;
      const Ticket asked = tickets_[ticket];
      answered.wanted = asked.wanted;
      answer(answered, asked.from);
      return;
    }
    case FrameKind::kStates:
    case FrameKind::kAccounts:
      take_views(node, from, frame.kind == FrameKind::kAccounts, now);
      return;
    case FrameKind::kInputRoom: {
      std::uint64_t bytes = 0;
      if (from(bytes).good()) input_sent_ -= std::min<std::uint64_t>(bytes, input_sent_);
      return;
    }
    case FrameKind::kInputClosed:
      input_closed_ = true;
      return;
    default:
      return;  // kBeatBack: that it came is all that it says
  }
}

void RemoteNodes::take_views(RemoteNode& node, Unpacker& from, bool answers, std::uint64_t now) {
  std::uint64_t then = 0;
  std::vector<RankView> views;
  if (!from(then, views).good() || board_ == nullptr) return;
  Facts& facts = facts_[node.node()];
  facts.clock = std::min(facts.clock, static_cast<std::int64_t>(now - then));
  for (const RankView& view : views) {
    if (!is_of(node, view.rank)) continue;
    show(*board_, view, now, answers ? facts.asked_ns : 0, facts.clock);
    if (!answers) continue;
    launch::BoardSlot& slot = board_->slot(view.rank);
    if (view.answered) slot.answered.store(asked_[view.rank]);
    if (view.variables_answered && slot.account != 0)
      launch::board_variables(board_->header(), slot).answered.store(variables_asked_[view.rank]);
  }
  if (!answers) return;
  facts.asked = false;
  pass_queries_on(now);
}

/// The board of mpiexec is asked, by mpiexec itself or from outside. The answers to two questions come one after the
/// other, or the older one would be taken for the newer one's.
void RemoteNodes::pass_queries_on(std::uint64_t now) {
  for (const auto& node : nodes_) {
    Facts& facts = facts_[node->node()];
    if (facts.asked || node->phase() != RemoteNode::Phase::kRunning) continue;
    bool status = false, of_variables = false;
    for (unsigned r = 0; r < map_.node_of_rank.size(); ++r) {
      if (!is_of(*node, r)) continue;
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
  while (ticket < tickets_.size() && !tickets_[ticket].wanted.key.empty()) ++ticket;
  if (ticket == tickets_.size()) tickets_.emplace_back();
  tickets_[ticket] = {.from = from, .wanted = wanted};
  owner->link().send(FrameKind::kLookUp, packed(ticket, wanted));
}

void RemoteNodes::answer(const RecordAnswer& answered, unsigned to) {
  for (Ticket& ticket : tickets_)
    if (ticket.from == to && ticket.wanted.by == answered.wanted.by &&
        ticket.wanted.question == answered.wanted.question)
      ticket.wanted.key.clear();
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
