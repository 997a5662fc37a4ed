#pragma once
#include <cstdint>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar {
class Comm;
class Errhandler;
}  // namespace ashlar
namespace ashlar::comm {

class Channel;

/// Two groups and the way between them: what intercommunicators are made of, and what they are. Local rank `leader`
/// talks to the other group's leader, rank `remote_leader` of `bridge`, under `tag`, or where no communicator has both,
/// over `channel` (significant there only).
struct Span {
  Comm& local;
  Rank leader;
  Comm* bridge;
  Rank remote_leader;
  int tag;
  Channel* channel = nullptr;

  bool leads() const;
  /// Every member of a group gives the same `mine`; every member of the other gets it. Collective over both groups.
  Status trade(const std::vector<std::int64_t>& mine, std::vector<std::int64_t>* theirs) const;
  /// Replaces each value by the largest over both groups. Collective over both.
  Status max(std::int64_t* values, int count) const;
};

/// The leader tells its group whether it found its arguments fit. Collective over the local group.
Status agree_to_talk(const Span& span, Status fit);

/// The intercommunicator of the two groups. Collective over both.
Status make_spanning(const Span& span, Errhandler& handler, Comm** result);

/// The two groups of an intercommunicator.
Span span_of(Comm& inter);

/// Replaces each value by the largest over all members of `comm`, both groups of an intercommunicator. Collective.
Status max_over_all(Comm& comm, std::int64_t* values, int count);
/// `each` words of every member of `comm`, an intracommunicator, in the order of ranks.
Status gather_words(Comm& comm, const std::int64_t* mine, int each, std::vector<std::int64_t>* all);
Status broadcast_words(Comm& comm, Rank root, std::int64_t* words, std::size_t count);

}  // namespace ashlar::comm
