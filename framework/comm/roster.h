#pragma once
#include <cstdint>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar::comm {

struct Span;

/// The processes of another group as long as no communicator has them yet.
class Introduced {
 public:
  Introduced() = default;
  ~Introduced();
  Introduced(const Introduced&) = delete;
  Introduced& operator=(const Introduced&) = delete;
  void add(PeerId peer) { peers_.push_back(peer); }

 private:
  std::vector<PeerId> peers_;
};

/// Makes the two groups known to each other: every member of one gets the cards of all members of the other, `theirs`
/// in words (words.h). Collective over both groups, and all members of both fail when one does.
Status introduce_groups(const Span& span, const std::vector<std::int64_t>& theirs, Introduced* guests);

}  // namespace ashlar::comm
