#pragma once
#include <cstdint>

#include "framework/plugin/transport.h"

namespace ashlar::shm {

struct Endpoint;

inline constexpr std::uint32_t kMostPieces = 1024;

/// A put, or a get or put of several pieces, under way: copied by this side alone, a slice in each round of progress.
/// (A get of one piece may be shared with the owner: copies.h.)
struct VectorCopy {
  Endpoint* peer = nullptr;
  ashlar_completion* done = nullptr;
  std::uint64_t region = 0;               // address of the exposed memory in the peer
  const ashlar_piece* several = nullptr;  // of the caller; nullptr: `one`
  ashlar_piece one = {};
  std::uint32_t count = 1;
  bool writes = false;
  // How far it is: `into` bytes of piece `next`.
  std::uint32_t next = 0;
  std::uint64_t into = 0;

  const ashlar_piece& piece(std::uint32_t i) const { return several != nullptr ? several[i] : one; }
  bool over() const { return next == count; }
  /// Copies up to `*slice` bytes and takes them off it. Returns 0 or an errno.
  int advance(std::uint64_t* slice);
};

}  // namespace ashlar::shm
