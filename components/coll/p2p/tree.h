#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/types.h"

/// Arithmetic of ranks that several algorithms share.
namespace ashlar::coll::p2p {

/// The largest power of two that is not above n (n >= 1).
inline int power_of_two_below(int n) {
  int power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

/// Ranks seen from the root: the root is 0.
inline int from_root(Rank rank, Rank root, int size) { return rank >= root ? rank - root : rank - root + size; }
inline Rank to_rank(int relative, Rank root, int size) {
  const int rank = relative + root;
  return rank >= size ? rank - size : rank;
}

/// How many ranks lie in the binomial subtree below `relative` (itself included): the block [relative, relative +
/// this).
inline int subtree_size(int relative, int size) {
  const int lowest = relative == 0 ? size : relative & -relative;
  return lowest < size - relative ? lowest : size - relative;
}

/// A rank's part of a tree in base `radix` over ranks seen from the root, where the ranks below each are a run: its
/// parent, the ranks of its run (itself included), and its children, each a digit times a power of the radix away.
struct Branch {
  int me, size, radix;
  int ranks;
  int parent;         // of the root: 0
  std::int64_t span;  // children are less than this away

  static Branch of(int me, int size, int radix) {
    std::int64_t span = 1;
    while (span < size && me % (span * radix) == 0) span *= radix;
    const std::int64_t rest = std::int64_t{size} - me;
    const int parent = me == 0 ? 0 : static_cast<int>(me - me % (span * radix));
    return Branch{me, size, radix, static_cast<int>(span < rest ? span : rest), parent, span};
  }

  struct Child {
    const Branch* of;
    int rank;           // -1: there is none
    std::int64_t step;  // a power of the radix
    int digit;

    bool exists() const { return rank >= 0; }
    int ranks() const { return static_cast<int>(step < of->size - rank ? step : of->size - rank); }
    Child next() const { return digit + 1 < of->radix ? of->child(step, digit + 1) : of->child(step * of->radix, 1); }
    /// The one before, in the order of next(), of those that exist.
    Child before() const {
      if (digit > 1) return of->child(step, digit - 1);
      return step > 1 ? of->child(step / of->radix, of->radix - 1) : Child{of, -1, 0, 0};
    }
  };
  Child child(std::int64_t step, int digit) const {
    const std::int64_t rank = me + digit * step;
    return Child{this, step < span && rank < size ? static_cast<int>(rank) : -1, step, digit};
  }
  Child first() const { return child(1, 1); }
  Child last() const {
    Child found{this, -1, 0, 0};
    for (Child at = first(); at.exists(); at = at.next()) found = at;
    return found;
  }
};

/// Folding of a group onto a power of two, neighbours first so that rank order is kept: the first 2 * `extra` ranks
/// form pairs (even, odd); the odd one stays in and stands for both.
struct Fold {
  int power;  // ranks that stay in
  int extra;  // pairs
  int place;  // of this rank among those that stay, or -1

  static Fold of(Rank rank, int size) {
    const int power = power_of_two_below(size);
    const int extra = size - power;
    if (rank >= 2 * extra) return Fold{power, extra, rank - extra};
    return Fold{power, extra, rank % 2 == 1 ? rank / 2 : -1};
  }
  Rank rank_at(int p) const { return p < extra ? 2 * p + 1 : p + extra; }
  bool paired(Rank rank) const { return rank < 2 * extra; }
};

/// Items of part `i` when `count` items are dealt to `parts`, and where it begins.
struct Split {
  MPI_Count count;
  int parts;
  MPI_Count begin(int i) const {
    const MPI_Count each = count / parts;
    const MPI_Count more = count % parts;
    return each * i + (i < more ? i : more);
  }
  MPI_Count size(int i) const { return begin(i + 1) - begin(i); }
  MPI_Count size(int first, int last) const { return begin(last) - begin(first); }  // parts [first, last)
};

}  // namespace ashlar::coll::p2p
