#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "framework/base/types.h"
#include "framework/plugin/transport.h"

namespace ashlar::runtime {

/// Goes in front of every published address: peers that do not agree on it must not talk.
struct Preamble {
  std::uint32_t magic = 0x41534c31;
  std::uint32_t interface = ASHLAR_TRANSPORT_INTERFACE;
  char version[24] = {};
  std::uint64_t settings = 0;  // hash of the values that all must have in common (param/job_settings.h)
  // Which lane a communicator is on follows from their number. A process with one lane is understood by all
  // (p2p/route.h).
  std::uint32_t lanes = 1;
  char lanes_from[60] = {};  // where it was set; cut where it is longer
};
static_assert(std::has_unique_object_representations_v<Preamble>, "it is compared as bytes");

/// The preamble of this process. `lanes_from`: the origin of threads.lanes, nullptr for the default.
Preamble make_preamble(std::uint64_t settings, std::size_t lanes, const char* lanes_from);

/// A published address of a peer, as far as the two agree about what is in front of it.
struct PeerPreamble {
  Preamble preamble;
  bool complete = false;  // whether all of it was there: an older kernel publishes less
  PeerId rank = 0;
  const char* host = "";
};

/// Why this process, `self`, and the peer cannot talk; empty: they can, as far as `settings` is equal, for which others
/// have the words.
std::string disagreement(const Preamble& own, PeerId self, const PeerPreamble& peer);

}  // namespace ashlar::runtime
