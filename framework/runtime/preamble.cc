#include "framework/runtime/preamble.h"

#include <cstdio>
#include <cstring>

#include "framework/runtime/version.h"

namespace ashlar::runtime {
namespace {

/// Settings and lanes are compared apart: the former have sentences of their own, and one lane goes with any number.
bool same_kernel(const Preamble& own, Preamble theirs) {
  theirs.settings = own.settings;
  theirs.lanes = own.lanes;
  std::memcpy(theirs.lanes_from, own.lanes_from, sizeof theirs.lanes_from);
  return std::memcmp(&theirs, &own, sizeof own) == 0;
}

}  // namespace

Preamble make_preamble(std::uint64_t settings, std::size_t lanes, const char* lanes_from) {
  Preamble p;
  std::snprintf(p.version, sizeof p.version, "%s", kVersion);
  p.settings = settings;
  p.lanes = static_cast<std::uint32_t>(lanes);
  if (lanes > 1) std::snprintf(p.lanes_from, sizeof p.lanes_from, "%s", lanes_from ? lanes_from : "built in");
  return p;
}

std::string disagreement(const Preamble& own, PeerId self, const PeerPreamble& peer) {
  const Preamble& theirs = peer.preamble;
  char text[400];
  if (!peer.complete || !same_kernel(own, theirs)) {
    std::snprintf(text, sizeof text,
                  "rank %u on %s uses kernel %.23s with transport interface %u, this process %s with %u", peer.rank,
                  peer.host, theirs.version, theirs.interface, own.version, own.interface);
    return text;
  }
  if (own.lanes == theirs.lanes || own.lanes == 1 || theirs.lanes == 1) return {};
  std::snprintf(
      text, sizeof text,
      "rank %u on %s has threads.lanes %u (%.59s), this process, rank %u, has %u (%s): all ranks need the same",
      peer.rank, peer.host, theirs.lanes, theirs.lanes_from, self, own.lanes, own.lanes_from);
  return text;
}

}  // namespace ashlar::runtime
