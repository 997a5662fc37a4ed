// A collective access whose processes share no memory. They exchange what the slots of the SharedBlock hold elsewhere,
// and come to the same plan; an aggregator gets what lies in its windows by messages.
#include "framework/io/far.h"

#include <algorithm>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/coll/op.h"
#include "framework/io/collective_request.h"
#include "framework/io/together.h"

namespace ashlar::io {
namespace {

using coll::Co;
using coll::Op;

/// All have one entry of `each` bytes, at their rank's place in `table`; afterwards all have all.
/// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient Algorithms for All-to-All Communications in
/// Multiport Message-Passing Systems", IEEE TPDS 8(11), 1997: log2(ranks) messages.
Co gather_all(Op& op, void* table, std::size_t each) {
  auto* const entries = static_cast<std::byte*>(table);
  const auto ranks = static_cast<std::size_t>(op.size()), own = static_cast<std::size_t>(op.rank());
  std::byte* const turned = op.scratch(static_cast<MPI_Count>(ranks * each));  // entry i is that of rank own + i
  Gate gate;
  if (turned != nullptr) std::memcpy(turned, entries + own * each, each);
  for (std::size_t have = 1; have < ranks; have *= 2) {
    const auto bytes = static_cast<MPI_Count>(std::min(have, ranks - have) * each);
    op.recv(static_cast<Rank>((own + have) % ranks), turned + have * each, bytes, gate);
    op.send(static_cast<Rank>((own + ranks - have) % ranks), turned, bytes, gate);
    const Status met = co_await gate;
    if (!met.ok()) co_return met;
  }
  if (turned == nullptr) co_return op.failure();
  for (std::size_t i = 0; i < ranks; ++i) std::memcpy(entries + (own + i) % ranks * each, turned + i * each, each);
  co_return Status();
}

Status bad_message(const Together& access, Rank from) {
  return fail(MPI_ERR_OTHER, "io.bad_message", {{"peer", from}, {"path", access.file().path}});
}

constexpr Parcel::Head kNothing;

/// Answers to reads have a tag of their own: a process gets parcels and answers of the same one.
constexpr Tag kAnswers = kMessages - 1;

void post_answer(Op& op, Rank from, std::byte* bytes, std::uint64_t length, Gate& gate) {
  if (!op.failure().ok()) return;
  op.fail(op.wire().recv(from, Op::view(bytes, static_cast<MPI_Count>(length)), kAnswers, gate));
}
void send_answer(Op& op, Rank to, const std::byte* bytes, std::uint64_t length, Gate& gate) {
  if (!op.failure().ok()) return;
  op.fail(op.wire().send(to, Op::view(bytes, static_cast<MPI_Count>(length)), kAnswers, gate));
}

/// Sends this process's part of the windows of a round, its own apart; of a read, posts what the answers come to.
void send_parcels(Op& op, Together& access, std::uint64_t round, Gate& gate) {
  Far& far = *access.far;
  for (std::uint32_t index = 0; index < access.plan.aggregators; ++index) {
    const Rank to = access.aggregator(index);
    const std::uint64_t begin = access.window_begin(round, index);
    if (to == op.rank() || !access.visits(op.rank(), begin)) continue;
    Parcel& parcel = far.parcels[index];
    std::uint64_t first = 0, last = 0;
    access.stream.between(begin, begin + access.plan.window, &first, &last);
    if (!far.pack(access.stream, begin, first, last, access.what.writes, message_room(access.plan), &parcel))
      access.note(no_memory_for_messages());
    if (parcel.messages.empty()) op.send(to, &kNothing, static_cast<MPI_Count>(sizeof kNothing), gate);
    for (const Parcel::Message& message : parcel.messages) {
      if (!access.what.writes)
        post_answer(op, to, parcel.answers.data() + message.answer, sizeof(std::uint64_t) + message.packed, gate);
      const std::byte* const bytes = parcel.bytes.data() + message.at;
      op.send(to, bytes, static_cast<MPI_Count>(sizeof(Parcel::Head)), gate);
      op.send(to, bytes + sizeof(Parcel::Head), static_cast<MPI_Count>(message.bytes - sizeof(Parcel::Head)), gate);
    }
  }
}

/// Takes the answers to a read to the program's buffer.
void take_answers(Together& access) {
  for (Parcel& parcel : access.far->parcels) {
    for (const Parcel::Message& message : parcel.messages) {
      std::uint64_t there = 0;
      const std::byte* const answer = parcel.answers.data() + message.answer;
      std::memcpy(&there, answer, sizeof there);
      there = std::min(there, message.packed);
      datatype::unpack(access.what.buffer, message.first - access.stream.from, answer + sizeof there, there);
      access.bytes_seen += there;
    }
    parcel = {};
  }
}

/// Answers the message in `got`. A process that gets none is told so by an empty one.
void answer(Op& op, Together& access, Rank to, Gate& gate) {
  Far& far = *access.far;
  const int outcome = far.answer_message();
  if (outcome == MPI_SUCCESS) {
    send_answer(op, to, far.answers.back().data(), far.answers.back().size(), gate);
    return;
  }
  access.note(outcome == MPI_ERR_NO_MEM ? no_memory_for_messages() : bad_message(access, to));
  send_answer(op, to, nullptr, 0, gate);
}

/// This process's own part of its window.
void move_own_part(Together& access) {
  const Far& far = *access.far;
  const std::uint64_t begin = far.window.begin, end = begin + far.window.bytes;
  if (access.what.writes)
    access.stream.put(begin, end, far.window.data, far.window.mask);
  else
    access.bytes_seen += access.stream.get(begin, end, begin + far.valid, far.window.data);
}

/// The first rank from `from` on that visits this process's window of the round; as many as there are: none does.
Rank next_visitor(const Op& op, const Together& access, Rank from) {
  while (from < op.size() && !access.visits(from, access.far->window.begin)) ++from;
  return from;
}

/// Whether this process moves a window in the round.
bool has_window(const Op& op, Together& access, std::uint64_t round) {
  const std::uint32_t own = access.own_index();
  if (own == access.plan.aggregators) return false;
  access.far->window.begin = access.window_begin(round, own);
  return next_visitor(op, access, 0) < op.size();
}

void take_head(Op& op, Far& far, Rank from, Gate& gate) {
  op.recv(from, far.got.data(), static_cast<MPI_Count>(sizeof(Parcel::Head)), gate);
}
void take_rest(Op& op, Far& far, Rank from, bool writes, Gate& gate) {
  const std::size_t rest = far.rest_of_message(writes);
  if (rest > 0) op.recv(from, far.got.data() + sizeof(Parcel::Head), static_cast<MPI_Count>(rest), gate);
}

// Sends wait for receives that a process posts behind its own sends; that ends, because it posts all of a round's
// before it waits, and takes those of others in the order of the ranks. In the next round it is when all took theirs of
// this one. Whatever fails, a round ends when nothing of it is under way any more: its memory is the access's.
Co write_far(Op& op, Together& access) {
  Far& far = *access.far;
  Gate sends, receives, moves;
  Status met;
  for (std::uint64_t round = 0; met.ok() && round < access.plan.rounds; ++round) {
    send_parcels(op, access, round, sends);
    const bool mine = has_window(op, access, round);
    Rank from = mine ? next_visitor(op, access, 0) : op.size();
    for (; met.ok() && from < op.size(); from = next_visitor(op, access, from + 1)) {
      if (from == op.rank()) {
        move_own_part(access);
        continue;
      }
      bool more = true;
      while (more && met.ok()) {
        take_head(op, far, from, receives);
        met = co_await receives;
        if (met.ok()) take_rest(op, far, from, true, receives);
        met = co_await receives;
        more = far.head().last == 0;
        if (met.ok() && !far.put_message()) access.note(bad_message(access, from));
      }
    }
    if (mine && met.ok()) {
      submit(op, access, MoveJob::Work::kWriteFar, round, moves);
      met = co_await moves;
    }
    const Status sent = co_await sends;
    if (met.ok()) met = sent;
  }
  co_return met;
}

// Answers leave side by side. Where processes read the same bytes they may be many times the window: then those under
// way are waited for.
Co read_far(Op& op, Together& access) {
  constexpr std::uint64_t kMostWindows = 4;
  Far& far = *access.far;
  Gate sends, receives, moves, answers;
  Status met;
  for (std::uint64_t round = 0; met.ok() && round < access.plan.rounds; ++round) {
    send_parcels(op, access, round, sends);
    const bool mine = has_window(op, access, round);
    if (mine) {
      submit(op, access, MoveJob::Work::kReadFar, round, moves);
      met = co_await moves;
    }
    Rank from = mine ? next_visitor(op, access, 0) : op.size();
    for (; met.ok() && from < op.size(); from = next_visitor(op, access, from + 1)) {
      if (from == op.rank()) {
        move_own_part(access);
        continue;
      }
      bool more = true;
      while (more && met.ok()) {
        take_head(op, far, from, receives);
        met = co_await receives;
        if (met.ok()) take_rest(op, far, from, false, receives);
        met = co_await receives;
        more = far.head().last == 0;
        if (!met.ok() || far.head().packed == 0) continue;  // who has nothing there waits for no answer
        answer(op, access, from, answers);
        if (far.answered <= kMostWindows * access.plan.window) continue;
        met = co_await answers;
        far.drop_answers();
      }
    }
    const Status answered = co_await answers;
    far.drop_answers();
    if (met.ok()) met = answered;
    const Status sent = co_await sends;
    if (met.ok()) met = sent;
    if (met.ok()) take_answers(access);
  }
  co_return met;
}

/// Where an aggregator has no memory for its window each process moves its own data.
Co move_far(Op& op, Together& access) {
  Far& far = *access.far;
  Gate gate;
  if (access.plan.way == Way::kTwoPhase) {
    const bool aggregates = access.own_index() != access.plan.aggregators;
    far.outcomes[static_cast<std::size_t>(op.rank())] =
        far.make_room(access.plan, aggregates, access.what.writes) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    Co talk = gather_all(op, far.outcomes.data(), sizeof far.outcomes[0]);
    op.join(talk, gate);
    const Status met = co_await gate;
    if (!met.ok()) co_return met;
    for (const std::int32_t outcome : far.outcomes)
      if (outcome != MPI_SUCCESS) access.plan.way = Way::kList;
  }
  if (access.plan.way == Way::kTwoPhase) {
    Co rounds = access.what.writes ? write_far(op, access) : read_far(op, access);
    op.join(rounds, gate);
    const Status met = co_await gate;
    co_return met;
  }
  submit(op, access, MoveJob::Work::kOwn, 0, gate);
  const Status moved = co_await gate;
  co_return moved;
}

}  // namespace

Status no_memory_for_messages() { return fail(MPI_ERR_NO_MEM, "io.no_room", {}); }

Co exchange_told(Op& op, Far& far) {
  Gate gate;
  Co talk = gather_all(op, far.told.data(), sizeof far.told[0]);
  op.join(talk, gate);
  const Status met = co_await gate;
  co_return met;
}

Co run_far(Op& op, Together& access) {
  Meeting turn(access, Meeting::Until::kTurn);
  Gate gate;
  Status met = co_await turn;
  if (!met.ok()) co_return met;
  if (!access.meet_far(true)) co_return no_memory_for_messages();
  Far& far = *access.far;
  Co talk = exchange_told(op, far);
  op.join(talk, gate);
  met = co_await gate;
  if (!met.ok()) co_return met;
  access.decide();
  if (access.calls_differ()) {  // the others do not go on
    access.file().together_over = access.number;
    co_return access.failure.give();
  }
  if (!access.plan.stopped) {
    Co moves = move_far(op, access);
    op.join(moves, gate);
    met = co_await gate;
    if (!met.ok()) co_return met;
  }
  if (access.verifies()) {  // when the data of all is in the file
    Co written = gather_all(op, far.outcomes.data(), sizeof far.outcomes[0]);
    op.join(written, gate);
    met = co_await gate;
    if (!met.ok()) co_return met;
    submit(op, access, MoveJob::Work::kVerify, 0, gate);
    met = co_await gate;
    if (!met.ok()) co_return met;
  }
  far.outcomes[static_cast<std::size_t>(op.rank())] = access.failure.mpi_class();
  Co over = gather_all(op, far.outcomes.data(), sizeof far.outcomes[0]);
  op.join(over, gate);
  met = co_await gate;
  if (!met.ok()) co_return met;
  met = access.result();
  access.file().together_over = access.number;
  co_return met;
}

}  // namespace ashlar::io
