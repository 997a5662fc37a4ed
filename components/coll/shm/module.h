#pragma once
#include <array>
#include <cstdint>
#include <type_traits>

#include "components/coll/shm/choices.h"
#include "framework/base/shared_count.h"
#include "framework/coll/algorithm.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::shm {

/// Parameters coll.shm.*. Their rows, with the defaults, are in params.cc.
struct Config {
  std::uint64_t piece;
  bool single_copy;
  std::uint64_t small_block;
  std::uint64_t blocks;
  ChoiceConfig choices;
};

/// Performance variables coll.shm.*.
struct Counters {
  std::uint64_t copies = 0;       // system calls that copy from or to another rank's memory
  std::uint64_t late_starts = 0;  // collectives that could not begin when they were called
};

/// The component in this process: its only mutable object outside communicators. Set up by open(), before any
/// collective, and constant afterwards but for the counters. The kernel reads those as long as the process lives, and
/// Algorithm::excluded gets no context, so it is one static object.
struct Module {
  AlgorithmList algorithms;  // first: the framework's table of functions
  const ashlar_host* host = nullptr;
  Config config{};
  std::uint64_t piece_set = 0, blocks_set = 0;  // as the parameters say, before rounding
  Counters counters;
  std::array<ashlar_pvar, 4> pvars{};  // the kernel keeps a pointer to these rows

  /// Rounds sizes and registers the counters.
  void open(const ashlar_host& kernel, const Config& from);
  /// Largest payload of one rank that goes through the segment at once: less than coll.shm.piece where many ranks share
  /// a segment.
  std::uint64_t piece_bytes(std::uint32_t ranks) const;
  /// Size of one bounce buffer, which also holds the tables and blocks of an exchange; not less than a piece.
  std::uint64_t buffer_bytes(std::uint32_t ranks) const;
  /// Records a segment for so many ranks whose buffers are not as large as the parameters say.
  void record_buffers(std::uint32_t ranks) const;
};
static_assert(std::is_standard_layout_v<Module>);

Module& module();
inline constexpr std::uint32_t kParamCount = 9;
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::coll::shm
