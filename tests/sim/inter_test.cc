#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "components/coll/inter/algorithms.h"
#include "components/coll/inter/groups.h"
#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/engine.h"
#include "tests/sim/extent.h"
#include "tests/sim/world.h"

// The collectives of intercommunicators, on two groups of virtual ranks.
namespace ashlar::sim {
namespace {

using coll::Algorithm;
using coll::Call;
using coll::Collective;

/// What one call moves, on every rank: what it sends, and what it must get.
class InterCalls {
 public:
  InterCalls(Collective what, int first, int second, int count, Rank root)
      : what_(what),
        sizes_{first, second},
        count_(count),
        root_(root),
        ranks_(static_cast<std::size_t>(first + second)) {
    for (Rank r = 0; r < first + second; ++r) make(r);
  }

  Call of(Rank rank) {
    Of& mine = ranks_[static_cast<std::size_t>(rank)];
    Call call;
    call.what = what_;
    if (rooted()) call.root = group(rank) == 1 ? root_ : rank == root_ ? MPI_ROOT : MPI_PROC_NULL;
    if (call.root == MPI_PROC_NULL) return call;
    Datatype& type = datatype::predefined(MPI_INT);
    const bool w = what_ == Collective::kAlltoallw;
    if (mine.sends) call.send = DataView{mine.send.data(), mine.send_count, w ? nullptr : &type};
    if (mine.gets) call.recv = DataView{mine.recv.data(), mine.recv_count, w ? nullptr : &type};
    if (coll::reduces(what_)) call.op = &datatype::predefined_op(MPI_SUM);
    if (!mine.send_counts.empty()) {
      call.send_counts = IntArray(mine.send_counts.data());
      call.send_displs = IntArray(mine.send_places.data());
    }
    if (!mine.recv_counts.empty()) {
      call.recv_counts = IntArray(mine.recv_counts.data());
      if (what_ != Collective::kReduceScatter) call.recv_displs = IntArray(mine.recv_places.data());
    }
    if (w) call.send_types = call.recv_types = types_.data();
    call.bytes = call.quantity(sizes_[1 - group(rank)]);  // lists are of the other group
    return call;
  }
  bool right(Rank rank) const {
    const Of& mine = ranks_[static_cast<std::size_t>(rank)];
    return mine.recv == mine.expected;
  }

  /// Items that go from one rank to one of the other group.
  MPI_Count block(Rank from, Rank to) const {
    switch (what_) {
      case Collective::kAllgather:
      case Collective::kAlltoall:
        return count_ + group(from);  // each direction has a count of its own
      case Collective::kGatherv:
      case Collective::kAllgatherv:
        return from * 3 % (count_ + 1);
      case Collective::kScatterv:
        return to * 5 % (count_ + 1);
      case Collective::kAlltoallv:
      case Collective::kAlltoallw:
        return (from * 3 + to * 5) % (count_ + 1);
      default:
        return count_;
    }
  }
  /// Of a reduce_scatter: what a rank gets of a vector that both groups can deal out.
  MPI_Count piece(Rank rank) const {
    const int n = own_size(rank), local = rank - begin(group(rank));
    const MPI_Count each = vector() / n;
    if (what_ == Collective::kReduceScatterBlock || local == n - n % 2) return each;
    return each + (local % 2 == 0 ? 1 : -1);
  }
  MPI_Count vector() const { return MPI_Count{sizes_[0]} * sizes_[1] * count_; }
  int group(Rank rank) const { return rank < sizes_[0] ? 0 : 1; }
  int begin(int of) const { return of == 0 ? 0 : sizes_[0]; }
  int own_size(Rank rank) const { return sizes_[group(rank)]; }

 private:
  struct Of {
    bool sends = false, gets = false;
    MPI_Count send_count = 0, recv_count = 0;
    std::vector<int> send, recv, expected;
    std::vector<MPI_Count> send_counts, send_places, recv_counts, recv_places;
  };

  bool rooted() const {
    return what_ == Collective::kBcast || what_ == Collective::kReduce || what_ == Collective::kGather ||
           what_ == Collective::kGatherv || what_ == Collective::kScatter || what_ == Collective::kScatterv;
  }
  bool lists() const {
    return what_ == Collective::kGatherv || what_ == Collective::kScatterv || what_ == Collective::kAllgatherv ||
           what_ == Collective::kAlltoallv || what_ == Collective::kAlltoallw;
  }
  bool same_for_all() const {
    return what_ == Collective::kGather || what_ == Collective::kGatherv || what_ == Collective::kAllgather ||
           what_ == Collective::kAllgatherv;
  }
  static int value(Rank from, Rank to, MPI_Count i) {
    return static_cast<int>(from * 100003 + to * 1009 + i * 7 + 1) % 99991;
  }
  static std::vector<int> values(Rank from, Rank to, MPI_Count count) {
    std::vector<int> out;
    for (MPI_Count i = 0; i < count; ++i) out.push_back(value(from, to, i));
    return out;
  }
  /// The sum of the vectors of a group.
  const std::vector<int>& sum(int of, MPI_Count count) {
    std::vector<int>& out = sums_[of];
    if (!out.empty()) return out;
    out.assign(static_cast<std::size_t>(count), 0);
    for (Rank r = begin(of); r < begin(of) + sizes_[of]; ++r) {
      for (MPI_Count i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] += value(r, 0, i);
    }
    return out;
  }
  static void add(std::vector<int>& to, const std::vector<int>& more) { to.insert(to.end(), more.begin(), more.end()); }

  void make(Rank rank) {
    Of& mine = ranks_[static_cast<std::size_t>(rank)];
    const int here = group(rank), there = 1 - here;
    const bool has_root = here == 0;  // the root is in the first group
    const bool root = rank == root_;
    if (rooted() && has_root && !root) return;
    switch (what_) {
      case Collective::kBarrier:
        return;
      case Collective::kBcast:
        mine.gets = true;
        mine.recv_count = count_;
        mine.expected = values(root_, 0, count_);
        mine.recv = root ? mine.expected : std::vector<int>(mine.expected.size());
        return;
      case Collective::kReduce:
      case Collective::kAllreduce:
        mine.sends = !rooted() || !has_root;
        mine.gets = !rooted() || root;
        if (mine.sends) mine.send = values(rank, 0, count_);
        if (mine.gets) mine.expected = sum(there, count_);
        mine.send_count = mine.recv_count = count_;
        break;
      case Collective::kReduceScatter:
      case Collective::kReduceScatterBlock: {
        mine.sends = mine.gets = true;
        mine.send = values(rank, 0, vector());
        mine.send_count = vector();
        mine.recv_count = piece(rank);
        MPI_Count at = 0;
        for (Rank r = begin(here); r < rank; ++r) at += piece(r);
        const auto from = sum(there, vector()).begin() + at;
        mine.expected.assign(from, from + piece(rank));
        if (what_ == Collective::kReduceScatter) {
          for (Rank r = begin(here); r < begin(here) + sizes_[here]; ++r) mine.recv_counts.push_back(piece(r));
        }
        break;
      }
      default:
        make_blocks(rank, root);
    }
    mine.recv.assign(mine.expected.size(), -1);
  }
  void make_blocks(Rank rank, bool root) {
    Of& mine = ranks_[static_cast<std::size_t>(rank)];
    const bool scatters = what_ == Collective::kScatter || what_ == Collective::kScatterv;
    const bool gathers = what_ == Collective::kGather || what_ == Collective::kGatherv;
    const int there = 1 - group(rank);
    const MPI_Count unit = what_ == Collective::kAlltoallw ? MPI_Count{sizeof(int)} : 1;
    mine.sends = !rooted() || (scatters ? root : !root);
    mine.gets = !rooted() || (gathers ? root : !root);
    MPI_Count at = 0, to_at = 0;
    const Rank first = begin(there), last = first + sizes_[there];
    for (Rank r = first; r < last && mine.sends; ++r) {
      if (same_for_all() && r != (gathers ? root_ : first)) continue;
      const Rank to = same_for_all() ? 0 : r;
      mine.send_count = block(rank, to);
      add(mine.send, values(rank, to, mine.send_count));
      if (lists() && !same_for_all()) {
        mine.send_counts.push_back(mine.send_count);
        mine.send_places.push_back(at * unit);
        at += mine.send_count;
      }
    }
    for (Rank r = first; r < last && mine.gets; ++r) {
      if (scatters && r != root_) continue;
      const Rank to = same_for_all() ? 0 : rank;
      mine.recv_count = block(r, to);
      add(mine.expected, values(r, to, mine.recv_count));
      if (lists() && !scatters) {
        mine.recv_counts.push_back(mine.recv_count);
        mine.recv_places.push_back(to_at * unit);
        to_at += mine.recv_count;
      }
    }
    // In the forms with lists the count of a block is no argument, and must not be looked at.
    if (lists() && !scatters) mine.recv_count = 0;
    if (lists() && !same_for_all()) mine.send_count = 0;
  }

  const Collective what_;
  const int sizes_[2];
  const int count_;
  const Rank root_;
  std::vector<Of> ranks_;
  std::vector<int> sums_[2];
  std::vector<MPI_Datatype> types_ =
      std::vector<MPI_Datatype>(static_cast<std::size_t>(std::max(sizes_[0], sizes_[1])), MPI_INT);
};

struct Costs {
  std::int64_t rounds, messages, bytes;
  bool operator==(const Costs&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Costs& c) {
  return out << c.rounds << " rounds, " << c.messages << " messages, " << c.bytes << " bytes";
}

std::int64_t lg(std::int64_t n) {
  std::int64_t rounds = 0;
  while ((std::int64_t{1} << rounds) < n) ++rounds;
  return rounds;
}
/// The longest chain of a binomial tree of n ranks: the most set bits of one of them.
std::int64_t deepest(std::int64_t n) {
  std::int64_t most = 0;
  for (std::int64_t r = 0; r < n; ++r)
    most = std::max<std::int64_t>(most, __builtin_popcountll(static_cast<unsigned long long>(r)));
  return most;
}
std::int64_t tree_blocks(std::int64_t n) {
  std::int64_t blocks = 0;
  for (int r = 1; r < n; ++r) blocks += coll::p2p::subtree_size(r, static_cast<int>(n));
  return blocks;
}

class InterTest : public testing::TestWithParam<const Algorithm*> {
 protected:
  static constexpr int kWindow = 32;  // of the linear ones
  static constexpr int kInt = sizeof(int);

  void SetUp() override {
    datatype::register_predefined();
    const coll::AlgorithmList* const lists[] = {&coll::p2p::algorithm_list(), &coll::inter::algorithm_list()};
    ASSERT_TRUE(coll::Engine::open(lists, &engine_).ok());
  }

  /// A world of two groups, with the rules of the own group's shape for what happens inside.
  std::unique_ptr<World> world_of(int first, int second, std::uint64_t seed, World::Options options) {
    for (const int g : {0, 1}) {
      const int n = g == 0 ? first : second;
      inside_[g] = std::make_unique<coll::CommState>(
          comm_, engine_->plan_for(coll::Shape{.ranks = n, .nodes = 1, .node_ranks = n}));
    }
    options.first_group = first;
    options.slot_of = [this, first, second](Rank rank, coll::Wire& own) {
      const int g = rank < first ? 0 : 1;
      auto* const groups = new coll::inter::Groups{&own, inside_[g].get(), g == 0 ? second : first};
      return coll::Slot{groups, [](void* data) { delete static_cast<coll::inter::Groups*>(data); }};
    };
    return std::make_unique<World>(first + second, seed, options);
  }
  std::unique_ptr<World> run(InterCalls& calls, int first, int second, std::uint64_t seed, World::Options options) {
    const std::string what = std::string(coll::name_of(GetParam()->collective)) + ", " + std::to_string(first) +
                             " and " + std::to_string(second);
    std::unique_ptr<World> world = world_of(first, second, seed, options);
    EXPECT_TRUE(world->run(*GetParam(), [&calls](Rank r) { return calls.of(r); })) << what << ": " << world->stuck();
    for (Rank r = 0; r < first + second && !HasFailure(); ++r) {
      EXPECT_TRUE(world->outcome(r).ok()) << what << ", rank " << r << ": " << world->outcome(r).text();
      EXPECT_TRUE(calls.right(r)) << what << ", rank " << r;
    }
    return world;
  }

  Costs formula(const InterCalls& calls, std::int64_t a, std::int64_t b, std::int64_t count) const {
    const std::int64_t m = count * kInt;
    const std::int64_t deep = std::max(deepest(a), deepest(b));
    const std::int64_t inside = a - 1 + b - 1;
    switch (GetParam()->collective) {
      case Collective::kBarrier:
        return Costs{std::max(lg(a), lg(b)) + 1 + deep, a * lg(a) + b * lg(b) + 2 + inside, inside};
      case Collective::kBcast:
        return Costs{1 + deepest(b), b, b * m};
      case Collective::kReduce:
        return Costs{deepest(b) + 1, b, b * m};
      case Collective::kAllreduce:
        return Costs{deep + 1 + deep, 2 * inside + 2, (2 * inside + 2) * m};
      case Collective::kReduceScatterBlock: {
        const std::int64_t vector = calls.vector() * kInt;
        return Costs{deep + 1 + deep, 2 * inside + 2,
                     (inside + 2) * vector + tree_blocks(a) * (vector / a) + tree_blocks(b) * (vector / b)};
      }
      case Collective::kReduceScatter: {
        Costs costs{deep + 1, inside + 2, (inside + 2) * calls.vector() * kInt};
        std::int64_t dealing = 0;
        for (const int g : {0, 1}) {
          std::int64_t pieces = 0;
          for (Rank local = 1; local < (g == 0 ? a : b); ++local) {
            const MPI_Count piece = calls.piece(calls.begin(g) + local);
            costs.messages += piece > 0 ? 1 : 0;
            costs.bytes += piece * kInt;
            pieces += piece > 0 ? 1 : 0;
          }
          dealing = std::max(dealing, (pieces + kWindow - 1) / kWindow);
        }
        costs.rounds += dealing;
        return costs;
      }
      default:
        return blocks(calls, a, b);
    }
  }

 private:
  /// Each block that is not empty, once and directly.
  Costs blocks(const InterCalls& calls, std::int64_t a, std::int64_t b) const {
    const Collective what = GetParam()->collective;
    const bool gathers = what == Collective::kGather || what == Collective::kGatherv;
    const bool scatters = what == Collective::kScatter || what == Collective::kScatterv;
    const bool same = gathers || what == Collective::kAllgather || what == Collective::kAllgatherv;
    Costs costs{0, 0, 0};
    const auto count = [&](Rank from, Rank to, std::int64_t round) {
      const MPI_Count items = calls.block(from, same ? 0 : to);
      if (items == 0) return;
      ++costs.messages;
      costs.bytes += items * kInt;
      costs.rounds = std::max(costs.rounds, round);
    };
    const auto first = static_cast<Rank>(a), all = static_cast<Rank>(a + b);
    for (Rank far = first; far < all; ++far) {
      if (scatters) count(0, far, (far - first) / kWindow + 1);
      if (gathers) count(far, 0, 1);
      for (Rank near = 0; near < first && !scatters && !gathers; ++near) {
        count(near, far, 1);
        count(far, near, 1);
      }
    }
    return costs;
  }

  std::unique_ptr<coll::Engine> engine_;
  Comm comm_;
  std::unique_ptr<coll::CommState> inside_[2];
};

TEST_P(InterTest, EverySizeAgainstTheOracle) {
  std::mt19937_64 engine(61);
  for (int first = 1; first <= kEverySize; ++first) {
    const auto second = static_cast<int>(1 + engine() % (first <= 20 ? 40 : 12));
    const auto count = static_cast<int>(1 + engine() % 9);
    InterCalls calls(GetParam()->collective, first, second, count,
                     static_cast<Rank>(engine() % static_cast<unsigned>(first)));
    run(calls, first, second, engine(), {});
    if (HasFailure()) return;
  }
}

TEST_P(InterTest, OneRankBlocksWhileOthersSuspend) {
  std::mt19937_64 engine(7);
  for (int first = 1; first <= 12; ++first) {
    const int second = 13 - first;
    InterCalls calls(GetParam()->collective, first, second, 5, first / 2);
    run(calls, first, second, engine(), {.blocking_rank = static_cast<int>(engine() % 13)});
    if (HasFailure()) return;
  }
}

TEST_P(InterTest, RoundsMessagesAndBytes) {
  for (int first = 1; first <= kEverySize; ++first) {
    for (const int second : {1, 2, first, kEverySize + 1 - first, kEverySize}) {
      const int count = 3;
      InterCalls calls(GetParam()->collective, first, second, count, 0);
      const std::unique_ptr<World> world = run(calls, first, second, 1, {.shuffle = false});
      if (HasFailure()) return;
      const Costs measured{world->rounds(), static_cast<std::int64_t>(world->messages()),
                           static_cast<std::int64_t>(world->bytes())};
      ASSERT_EQ(measured, formula(calls, first, second, count)) << first << " and " << second;
    }
  }
}

TEST_P(InterTest, AtScale) {
  const Collective what = GetParam()->collective;
  const bool pairs = what >= Collective::kAllgather && what <= Collective::kAlltoallw;
  const bool pieces = what == Collective::kReduceScatter || what == Collective::kReduceScatterBlock;
  // Every pair has a message, or every rank a vector that grows with the product.
  const int first = at_scale(pairs ? 90 : pieces ? 40 : 1000), second = at_scale(pairs ? 110 : pieces ? 100 : 3096);
  InterCalls calls(what, first, second, 2, first / 3);
  run(calls, first, second, 5, {});
}

std::vector<const Algorithm*> all_algorithms() {
  const coll::AlgorithmList& list = coll::inter::algorithm_list();
  std::vector<const Algorithm*> out;
  for (std::uint32_t i = 0; i < list.count; ++i) out.push_back(&list.first[i]);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, InterTest, testing::ValuesIn(all_algorithms()),
                         [](const testing::TestParamInfo<const Algorithm*>& tested) {
                           return std::string(coll::name_of(tested.param->collective));
                         });

}  // namespace
}  // namespace ashlar::sim
