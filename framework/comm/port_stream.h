#pragma once
#include <cstddef>
#include <string>
#include <utility>

#include "framework/base/descriptor.h"

namespace ashlar::comm {

/// A connection to a port, of either side, until it is a Channel. Never blocks.
struct PortStream {
  enum class Read { kAll, kSome, kEnd };

  explicit PortStream(Descriptor connected) : socket(std::move(connected)) {}

  /// Reads on until `in` has so many bytes.
  Read collect(std::size_t bytes);
  /// Reads so many bytes that mean nothing.
  Read drop(std::size_t bytes);
  /// Writes of `out` what there is room for. False: the other side has hung up.
  bool flush();

  Descriptor socket;
  std::string in = {}, out = {};
  std::size_t dropped = 0;
};

}  // namespace ashlar::comm
