#pragma once
#include <cstdint>

namespace ashlar::p2p {

/// p2p.matching, in the order of its words.
enum Matching : std::int32_t { kMatchingAuto, kMatchingKernel, kMatchingNative };

/// Parameters p2p.*; the rows in params.h describe this block.
struct Config {
  std::uint64_t eager_limit = 0;                      // bytes; 0: from the endpoint's cost model
  std::uint64_t unexpected_limit = 4u << 20;          // bytes of one peer's messages kept before it must ask first
  std::uint64_t unexpected_total_limit = 256u << 20;  // the same of all peers together
  std::uint64_t get_min = 0;                       // bytes from which a large message is read by the receiver; 0: model
  bool single_copy = true;                         // whether it may be read by the receiver at all
  bool shared_posts = true;                        // shared_post.h: whether receives are posted in shared memory
  std::uint64_t shared_post_min = 256u << 10;      // bytes of the smallest; 0: as get_min
  std::uint64_t shared_post_patience = 1'000'000;  // ns that a sender waits for an answer before it looks for them
  std::uint64_t request_limit = 16u << 20;         // sends, and receives, that there may be at a time on a lane
  std::int32_t matching = kMatchingAuto;           // who matches messages of other nodes
  bool check_datatypes = false;                    // check.datatypes: messages tell their type signatures
  bool check_ready = false;                        // check.ready: ready sends find out whether a receive is posted
};

}  // namespace ashlar::p2p
