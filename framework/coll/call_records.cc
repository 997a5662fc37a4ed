#include "framework/coll/call_records.h"

#include <mpi.h>

#include <cstdarg>
#include <cstdio>

#include "framework/coll/check.h"

namespace ashlar::coll {
namespace {

/// A value of a record that ranks must agree on.
struct Aspect {
  std::int64_t (*of)(const CallRecord&);
  int mpi_class;
  const char* says;  // "root %lld"
};
using Among = bool (*)(const CallRecord&);
bool everyone(const CallRecord&) { return true; }

void name_of_call(const CallRecord& r, char* out, std::size_t room) {
  coll::name_of_call(static_cast<Collective>(r.what), static_cast<CallForm>(r.form), out, room);
}

struct Name {
  char text[64];
};
Name name_of_rank(const CallTable& all, int i) {
  Name name;
  const CallRecord& r = all[i];
  std::snprintf(name.text, sizeof name.text, "rank %d%s", r.rank,
                !all.inter()   ? ""
                : r.group == 0 ? " of the first group"
                               : " of the second group");
  return name;
}

/// The first rank with the most frequent value.
int usual(const CallTable& all, std::int64_t (*of)(const CallRecord&), Among among) {
  int best = -1, most = 0;
  for (int i = 0; i < all.count(); ++i) {
    if (!among(all[i])) continue;
    int same = 0;
    for (int other = i; other < all.count(); ++other) same += among(all[other]) && of(all[other]) == of(all[i]) ? 1 : 0;
    if (same > most) {
      most = same;
      best = i;
    }
    if (most * 2 > all.count()) break;
  }
  return best;
}

[[gnu::format(printf, 3, 4)]] void say(Mismatch* mismatch, int mpi_class, const char* format, ...) {
  mismatch->mpi_class = mpi_class;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(mismatch->text, sizeof mismatch->text, format, arguments);
  va_end(arguments);
}

/// The first rank that differs from the most frequent value, and how many do. False: none.
bool differing(const CallTable& all, std::int64_t (*of)(const CallRecord&), Among among, int* first, int* base,
               int* others) {
  *base = usual(all, of, among);
  *first = -1;
  *others = 0;
  for (int i = 0; i < all.count() && *base >= 0; ++i) {
    if (!among(all[i]) || of(all[i]) == of(all[*base])) continue;
    if (*first < 0) *first = i;
    ++*others;
  }
  return *first >= 0;
}

/// Whether the ranks `among` all have the same value; otherwise fills `mismatch`.
bool agree(const CallTable& all, const Aspect& aspect, Mismatch* mismatch, Among among = everyone) {
  int first, base, others;
  if (!differing(all, aspect.of, among, &first, &base, &others)) return true;
  char call[64], theirs[100], ours[100];
  name_of_call(all[first], call, sizeof call);
  std::snprintf(theirs, sizeof theirs, aspect.says, static_cast<long long>(aspect.of(all[first])));
  std::snprintf(ours, sizeof ours, aspect.says, static_cast<long long>(aspect.of(all[base])));
  say(mismatch, aspect.mpi_class,
      "the ranks do not agree in %s: %s passed %s, but %s passed %s (%d of %d ranks differ from it)", call,
      name_of_rank(all, first).text, theirs, name_of_rank(all, base).text, ours, others, all.count());
  return false;
}

bool same_call(const CallTable& all, Mismatch* mismatch) {
  const auto key = [](const CallRecord& r) { return std::int64_t{r.what} * 4 + r.form; };
  int first, base, others;
  if (!differing(all, key, everyone, &first, &base, &others)) return true;
  char theirs[64], ours[64];
  name_of_call(all[first], theirs, sizeof theirs);
  name_of_call(all[base], ours, sizeof ours);
  say(mismatch, MPI_ERR_OTHER,
      "the ranks are in different collectives: %s called %s, but %s called %s (%d of %d ranks differ from it). "
      "Collectives are called in the same order, and in the same form, by all ranks of a communicator",
      name_of_rank(all, first).text, theirs, name_of_rank(all, base).text, ours, others, all.count());
  return false;
}

/// Whether `to` expects what `from` sends.
bool meet(const CallTable& all, int from, std::int64_t sent, int to, std::int64_t expected, Mismatch* mismatch) {
  if (sent < 0 || expected < 0 || sent == expected) return true;  // below 0: in place, or not significant
  char call[64];
  name_of_call(all[from], call, sizeof call);
  say(mismatch, MPI_ERR_COUNT, "the ranks do not agree in %s: %s sends %lld bytes to %s, which expects %lld", call,
      name_of_rank(all, from).text, static_cast<long long>(sent), name_of_rank(all, to).text,
      static_cast<long long>(expected));
  return false;
}

/// The root; of an intercommunicator the rank that passed MPI_ROOT, -1: there is none.
int root_of(const CallTable& all) {
  if (!all.inter()) return all[0].root;
  for (int i = 0; i < all.count(); ++i) {
    if (all[i].root == MPI_ROOT) return i;
  }
  return -1;
}

/// On an intercommunicator: whether there is one root, and the other group names it.
bool one_root(const CallTable& all, Mismatch* mismatch) {
  const int root = root_of(all);
  char call[64];
  name_of_call(all[0], call, sizeof call);
  for (int i = 0; i < all.count(); ++i) {
    const int passed = all[i].root;
    if (root < 0) {
      if (passed == MPI_PROC_NULL) continue;
      say(mismatch, MPI_ERR_ROOT, "the ranks do not agree in %s: %s passed root %d, but no rank passed MPI_ROOT", call,
          name_of_rank(all, i).text, passed);
    } else if (all[i].group == all[root].group) {
      if (i == root || passed == MPI_PROC_NULL) continue;
      say(mismatch, MPI_ERR_ROOT,
          "the ranks do not agree in %s: %s passed MPI_ROOT, but %s of the same group did not pass "
          "MPI_PROC_NULL as its root",
          call, name_of_rank(all, root).text, name_of_rank(all, i).text);
    } else {
      if (passed == all[root].rank) continue;
      say(mismatch, MPI_ERR_ROOT, "the ranks do not agree in %s: %s passed root %d, but %s passed MPI_ROOT", call,
          name_of_rank(all, i).text, passed, name_of_rank(all, root).text);
    }
    return false;
  }
  return true;
}

/// Whether the sizes of all blocks to or from the root match.
bool rooted_sizes_meet(const CallTable& all, Collective what, Mismatch* mismatch) {
  const int root = root_of(all);
  if (root < 0) return true;
  const bool listed = what == Collective::kGatherv || what == Collective::kScatterv;
  const bool to_root = what == Collective::kGather || what == Collective::kGatherv;
  for (int which = 0; which < all.partners(root); ++which) {
    const int i = all.partner(root, which);
    const CallRecord& r = all[i];
    const std::int64_t at_root = listed ? all.pieces(root)[which] : to_root ? all[root].gets : all[root].sends;
    const bool fits =
        to_root ? meet(all, i, r.sends, root, at_root, mismatch) : meet(all, root, at_root, i, r.gets, mismatch);
    if (!fits) return false;
  }
  return true;
}

/// Whether the sizes of all blocks between all ranks match.
bool all_sizes_meet(const CallTable& all, Collective what, Mismatch* mismatch) {
  const bool pairs = what == Collective::kAlltoallv || what == Collective::kAlltoallw;
  for (int from = 0; from < all.count(); ++from) {
    for (int which = 0; which < all.partners(from); ++which) {
      const int to = all.partner(from, which);
      const int self = all[from].rank;
      const std::int64_t sent = pairs ? all.pieces(from)[which] : all[from].sends;
      const std::int64_t expected = pairs                             ? all.pieces(to)[all.partners(to) + self]
                                    : what == Collective::kAllgatherv ? all.pieces(to)[self]
                                                                      : all[to].gets;
      if (!meet(all, from, sent, to, expected, mismatch)) return false;
    }
  }
  return true;
}

constexpr Aspect kRoot{[](const CallRecord& r) { return std::int64_t{r.root}; }, MPI_ERR_ROOT, "root %lld"};
constexpr Aspect kOp{[](const CallRecord& r) { return std::int64_t{r.op / 2}; }, MPI_ERR_OP,
                     "another operation (number %lld)"};
constexpr Aspect kCommute{[](const CallRecord& r) { return std::int64_t{r.op % 2}; }, MPI_ERR_OP,
                          "an operation with commute %lld"};
constexpr Aspect kSent{[](const CallRecord& r) { return r.sends; }, MPI_ERR_COUNT, "%lld bytes"};
constexpr Aspect kPieces{[](const CallRecord& r) { return static_cast<std::int64_t>(r.counts); }, MPI_ERR_COUNT,
                         "other counts (fingerprint %llx)"};
bool has_operand(const CallRecord& r) { return r.sends >= 0; }
bool in_first_group(const CallRecord& r) { return r.group == 0; }
bool in_second_group(const CallRecord& r) { return r.group == 1; }

bool reductions_fit(const CallTable& all, Collective what, Mismatch* mismatch) {
  if (what == Collective::kReduce && all.inter() && root_of(all) < 0) return true;
  const auto takes_part = [](const CallRecord& r) { return r.op >= 0; };
  if (!agree(all, kOp, mismatch, takes_part) || !agree(all, kCommute, mismatch, takes_part) ||
      !agree(all, kSent, mismatch, has_operand))
    return false;
  if (what == Collective::kReduceScatter)  // the lists of counts
    return agree(all, kPieces, mismatch, in_first_group) && agree(all, kPieces, mismatch, in_second_group);
  if (what == Collective::kReduce && all.inter()) {
    const int root = root_of(all);
    return meet(all, all.partner(root, 0), all[all.partner(root, 0)].sends, root, all[root].gets, mismatch);
  }
  return true;
}

}  // namespace

Mismatch find_mismatch(const CallTable& all) {
  Mismatch mismatch{.mpi_class = 0, .text = ""};
  if (!same_call(all, &mismatch)) return mismatch;
  const auto what = static_cast<Collective>(all[0].what);
  if (what == Collective::kBarrier || among_neighbours(what)) return mismatch;
  if (!all.inter() && !agree(all, kRoot, &mismatch)) return mismatch;
  switch (what) {
    case Collective::kBcast:
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kGatherv:
    case Collective::kScatter:
    case Collective::kScatterv:
      if (all.inter() && !one_root(all, &mismatch)) return mismatch;
      break;
    default:
      break;
  }
  if (reduces(what)) {
    reductions_fit(all, what, &mismatch);
  } else if (what == Collective::kBcast && !all.inter()) {
    // Every rank has the buffer: the most frequent size is taken as right, even when the root's differs.
    agree(all, kSent, &mismatch);
  } else if (what == Collective::kBcast || what == Collective::kGather || what == Collective::kGatherv ||
             what == Collective::kScatter || what == Collective::kScatterv) {
    rooted_sizes_meet(all, what, &mismatch);
  } else {
    all_sizes_meet(all, what, &mismatch);
  }
  return mismatch;
}

}  // namespace ashlar::coll
