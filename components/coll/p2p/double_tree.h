#pragma once

namespace ashlar::coll::p2p {

/// One of two binary trees over ranks 1 ... m below rank 0, numbered in order, such that a rank with children in one
/// has none in the other (but for one rank when m is odd).
struct OrderedTree {
  int parent;
  int children[2];  // -1: none

  /// As rank `me` sees it. The second tree is the first one mirrored, or shifted by one when m is odd.
  static OrderedTree of(int me, int m, bool second) {
    const bool shift = m % 2 == 1;
    const auto map = [=](int q) { return !second || q <= 0 ? q : shift ? (q == m ? 1 : q + 1) : m + 1 - q; };
    const auto back = [=](int q) { return !second || q <= 0 ? q : shift ? (q == 1 ? m : q - 1) : m + 1 - q; };
    OrderedTree tree{-1, {-1, -1}};
    const int q = map(me);
    if (q == 0) {
      int top = 1;
      while (top <= m / 2) top *= 2;
      if (m > 0) tree.children[0] = back(top);
      return tree;
    }
    const int level = q & -q;  // 2^l: q stands for the ranks less than 2^l away on either side
    const int up = (q ^ level) | (level << 1);
    tree.parent = back(up <= m ? up : q ^ level);
    if (level == 1) return tree;
    tree.children[0] = back(q - level / 2);
    int reach = level / 2;
    while (reach > 0 && q + reach > m) reach /= 2;
    if (reach > 0) tree.children[1] = back(q + reach);
    return tree;
  }
};

}  // namespace ashlar::coll::p2p
