#pragma once
#include <cstdint>

#include "framework/io/facts.h"

namespace ashlar::io {

struct Together;

/// What the processes of a collective access do, the same on all of them.
struct Plan {
  Way way = Way::kList;
  bool stopped = false;              // one of them cannot take part: none moves data
  std::uint64_t first = 0, end = 0;  // of the data of all
  std::uint64_t window = 0;          // bytes; window i begins at `first` + i windows
  std::uint32_t aggregators = 0;     // window i is moved by number i % aggregators
  std::uint64_t rounds = 0;          // of one window for each aggregator
};

/// Chooses how a collective access moves its data: by the facts of all its processes, which all of them have, so that
/// all choose alike. Keeps a decision record of each choice that differs from the one before it.
void make_plan(Together& access);

}  // namespace ashlar::io
