#pragma once

namespace ashlar::mpiexec {

/// Through which host each other host of a job is reached. The hosts but mpiexec's own are numbered from 0 on, and one
/// comes behind that through which it is reached.
struct Tree {
  static constexpr unsigned kNone = ~0u;  // by mpiexec itself
  unsigned from = 0;                      // with so many hosts there is a tree; 0: never
  unsigned width = 1;                     // ways that lead on from one host, and from mpiexec

  unsigned above(unsigned host, unsigned hosts) const {
    return from == 0 || hosts < from || host < width ? kNone : host / width - 1;
  }
};

}  // namespace ashlar::mpiexec
