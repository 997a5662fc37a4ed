#include "framework/coll/judge.h"

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
  coll::name_of_call(static_cast<Collective>(r.what), static_cast<Form>(r.form), out, room);
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

/// The one whose value most have; of two the lower one.
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

[[gnu::format(printf, 3, 4)]] void say(Verdict* verdict, int mpi_class, const char* format, ...) {
  verdict->mpi_class = mpi_class;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(verdict->text, sizeof verdict->text, format, arguments);
  va_end(arguments);
}

/// The first that differs from most, and how many do. False: nobody.
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

/// Whether those `among` all have the same value; else a sentence.
bool agree(const CallTable& all, const Aspect& aspect, Verdict* verdict, Among among = everyone) {
  int first, base, others;
  if (!differing(all, aspect.of, among, &first, &base, &others)) return true;
  char call[64], theirs[100], ours[100];
  name_of_call(all[first], call, sizeof call);
  std::snprintf(theirs, sizeof theirs, aspect.says, static_cast<long long>(aspect.of(all[first])));
  std::snprintf(ours, sizeof ours, aspect.says, static_cast<long long>(aspect.of(all[base])));
  say(verdict, aspect.mpi_class,
      "the ranks do not agree in %s: %s passed %s, but %s passed %s (%d of %d ranks differ from it)", call,
      name_of_rank(all, first).text, theirs, name_of_rank(all, base).text, ours, others, all.count());
  return false;
}

bool same_call(const CallTable& all, Verdict* verdict) {
  const auto key = [](const CallRecord& r) { return std::int64_t{r.what} * 4 + r.form; };
  int first, base, others;
  if (!differing(all, key, everyone, &first, &base, &others)) return true;
  char theirs[64], ours[64];
  name_of_call(all[first], theirs, sizeof theirs);
  name_of_call(all[base], ours, sizeof ours);
  say(verdict, MPI_ERR_OTHER,
      "the ranks are in different collectives: %s called %s, but %s called %s (%d of %d ranks differ from it). "
      "Collectives are called in the same order, and in the same form, by all ranks of a communicator",
      name_of_rank(all, first).text, theirs, name_of_rank(all, base).text, ours, others, all.count());
  return false;
}

/// What `from` hands over is what `to` expects of it.
bool meet(const CallTable& all, int from, std::int64_t sent, int to, std::int64_t expected, Verdict* verdict) {
  if (sent < 0 || expected < 0 || sent == expected) return true;  // in place, or nothing to do with it
  char call[64];
  name_of_call(all[from], call, sizeof call);
  say(verdict, MPI_ERR_COUNT, "the ranks do not agree in %s: %s sends %lld bytes to %s, which expects %lld", call,
      name_of_rank(all, from).text, static_cast<long long>(sent), name_of_rank(all, to).text,
      static_cast<long long>(expected));
  return false;
}

/// The rank that has the data, or gets it; of an intercommunicator who passed MPI_ROOT. -1: there is none.
int root_of(const CallTable& all) {
  if (!all.inter()) return all[0].root;
  for (int i = 0; i < all.count(); ++i) {
    if (all[i].root == MPI_ROOT) return i;
  }
  return -1;
}

/// On an intercommunicator: one root, and the other group names it.
bool one_root(const CallTable& all, Verdict* verdict) {
  const int root = root_of(all);
  char call[64];
  name_of_call(all[0], call, sizeof call);
  for (int i = 0; i < all.count(); ++i) {
    const int passed = all[i].root;
    if (root < 0) {
      if (passed == MPI_PROC_NULL) continue;
      say(verdict, MPI_ERR_ROOT, "the ranks do not agree in %s: %s passed root %d, but nobody passed MPI_ROOT", call,
          name_of_rank(all, i).text, passed);
    } else if (all[i].group == all[root].group) {
      if (i == root || passed == MPI_PROC_NULL) continue;
      say(verdict, MPI_ERR_ROOT,
          "the ranks do not agree in %s: %s passed MPI_ROOT, but %s of the same group did not pass "
          "MPI_PROC_NULL as its root",
          call, name_of_rank(all, root).text, name_of_rank(all, i).text);
    } else {
      if (passed == all[root].rank) continue;
      say(verdict, MPI_ERR_ROOT, "the ranks do not agree in %s: %s passed root %d, but %s passed MPI_ROOT", call,
          name_of_rank(all, i).text, passed, name_of_rank(all, root).text);
    }
    return false;
  }
  return true;
}

/// From the root, or to it.
bool rooted_sizes_meet(const CallTable& all, Collective what, Verdict* verdict) {
  const int root = root_of(all);
  if (root < 0) return true;
  const bool listed = what == Collective::kGatherv || what == Collective::kScatterv;
  const bool to_root = what == Collective::kGather || what == Collective::kGatherv;
  for (int which = 0; which < all.partners(root); ++which) {
    const int i = all.partner(root, which);
    const CallRecord& r = all[i];
    const std::int64_t at_root = listed ? all.pieces(root)[which] : to_root ? all[root].gets : all[root].sends;
    const bool fits =
        to_root ? meet(all, i, r.sends, root, at_root, verdict) : meet(all, root, at_root, i, r.gets, verdict);
    if (!fits) return false;
  }
  return true;
}

/// From everyone to everyone.
bool all_sizes_meet(const CallTable& all, Collective what, Verdict* verdict) {
  const bool pairs = what == Collective::kAlltoallv || what == Collective::kAlltoallw;
  for (int from = 0; from < all.count(); ++from) {
    for (int which = 0; which < all.partners(from); ++which) {
      const int to = all.partner(from, which);
      const int self = all[from].rank;
      const std::int64_t sent = pairs ? all.pieces(from)[which] : all[from].sends;
      const std::int64_t expected = pairs                             ? all.pieces(to)[all.partners(to) + self]
                                    : what == Collective::kAllgatherv ? all.pieces(to)[self]
                                                                      : all[to].gets;
      if (!meet(all, from, sent, to, expected, verdict)) return false;
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

bool reductions_fit(const CallTable& all, Collective what, Verdict* verdict) {
  if (what == Collective::kReduce && all.inter() && root_of(all) < 0) return true;
  const auto takes_part = [](const CallRecord& r) { return r.op >= 0; };
  if (!agree(all, kOp, verdict, takes_part) || !agree(all, kCommute, verdict, takes_part) ||
      !agree(all, kSent, verdict, has_operand))
    return false;
  if (what == Collective::kReduceScatter)  // the lists of counts
    return agree(all, kPieces, verdict, in_first_group) && agree(all, kPieces, verdict, in_second_group);
  if (what == Collective::kReduce && all.inter()) {
    const int root = root_of(all);
    return meet(all, all.partner(root, 0), all[all.partner(root, 0)].sends, root, all[root].gets, verdict);
  }
  return true;
}

}  // namespace

Verdict judge(const CallTable& all) {
  Verdict verdict{0, ""};
  if (!same_call(all, &verdict)) return verdict;
  const auto what = static_cast<Collective>(all[0].what);
  if (what == Collective::kBarrier || among_neighbours(what)) return verdict;
  if (!all.inter() && !agree(all, kRoot, &verdict)) return verdict;
  switch (what) {
    case Collective::kBcast:
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kGatherv:
    case Collective::kScatter:
    case Collective::kScatterv:
      if (all.inter() && !one_root(all, &verdict)) return verdict;
      break;
    default:
      break;
  }
  if (reduces(what)) {
    reductions_fit(all, what, &verdict);
  } else if (what == Collective::kBcast && !all.inter()) {
    // Most may differ from the root: all are held against each other.
    agree(all, kSent, &verdict);
  } else if (what == Collective::kBcast || what == Collective::kGather || what == Collective::kGatherv ||
             what == Collective::kScatter || what == Collective::kScatterv) {
    rooted_sizes_meet(all, what, &verdict);
  } else {
    all_sizes_meet(all, what, &verdict);
  }
  return verdict;
}

}  // namespace ashlar::coll
