#pragma once
#include <mpi.h>

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
