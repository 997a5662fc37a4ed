#include "mpiexec/rank_view.h"

#include <algorithm>
#include <string>

namespace ashlar::mpiexec {
namespace {

using launch::BoardSlot;

std::int64_t age(std::uint64_t then, std::uint64_t now) {
  return then == 0 ? -1 : static_cast<std::int64_t>(now > then ? now - then : 0);
}

std::uint64_t time_of(std::int64_t age, std::uint64_t now) {
  return age < 0 || static_cast<std::uint64_t>(age) >= now ? 0 : now - static_cast<std::uint64_t>(age);
}

std::string text_of(const launch::BoardText& text) {
  std::string out(text.room, 0);
  std::size_t length = 0;
  if (!text.read(out.data(), &length)) return {};
  out.resize(length);
  return out;
}

void store(const launch::BoardText& to, const std::string& text) { to.write(text.data(), text.size()); }

}  // namespace

RankView view_of(Board& board, unsigned rank, std::uint64_t now) {
  const BoardSlot& slot = board.slot(rank);
  return {.rank = rank,
          .state = slot.state.load(),
          .pid = slot.pid.load(),
          .attaches = slot.attaches.load(),
          .fences = slot.fences.load(),
          .use = slot.use.load(),
          .waits = slot.waits.load(),
          .heard_age = age(slot.heard_ns.load(), now),
          .moved_age = age(slot.moved_ns.load(), now)};
}

void add_answers(Board& board, const StatusQuery& query, RankView* view) {
  BoardSlot& slot = board.slot(view->rank);
  const bool answered = query.has_answered(view->rank);
  if (query.about() == StatusQuery::About::kVariables) {
    view->variables_answered = answered;
    if (answered) view->variables = text_of(launch::variables_text(board.header(), slot));
    return;
  }
  view->answered = answered;
  view->process = static_cast<std::uint32_t>(query.process_of(view->rank));
  if (slot.account == 0) return;
  view->account = text_of(launch::account_text(board.header(), slot));
  view->newest_wait = text_of(launch::wait_text(board.header(), slot));
}

void show(Board& board, const RankView& view, std::uint64_t now, std::uint64_t asked_ns, std::int64_t clock) {
  if (view.rank >= board.header()->ranks || launch::board_has(board.header(), view.rank)) return;
  BoardSlot& slot = board.slot(view.rank);
  launch::BoardFar& far = launch::board_far(board.header(), view.rank);
  far.clock.store(clock);
  slot.pid.store(view.pid);
  slot.attaches.store(view.attaches);
  slot.fences.store(view.fences);
  slot.use.store(view.use);
  slot.waits.store(view.waits);
  slot.moved_ns.store(time_of(view.moved_age, now));
  std::uint64_t heard = time_of(view.heard_age, now);
  // On its way the view has become older: an old sign of life is not to look like an answer.
  if (asked_ns != 0 && !view.answered) heard = std::min(heard, asked_ns - 1);
  slot.heard_ns.store(heard);
  slot.state.store(view.state);
  if (asked_ns == 0 || slot.account == 0) return;
  far.process.store(view.process);
  if (!view.variables.empty()) store(launch::variables_text(board.header(), slot), view.variables);
  if (!view.account.empty()) store(launch::account_text(board.header(), slot), view.account);
  if (!view.newest_wait.empty()) store(launch::wait_text(board.header(), slot), view.newest_wait);
}

}  // namespace ashlar::mpiexec
