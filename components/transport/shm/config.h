#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::shm {

/// Values of transport.shm.*; the rows in params.cc say what each means.
struct Config {
  std::uint64_t ring_bytes;
  std::uint64_t node_budget;
  std::uint64_t extra_rings;
  std::uint64_t max_bcopy;
  std::uint64_t polled_rings;
  bool single_copy;
  std::uint64_t get_from;
  std::uint64_t both_sides_from;
  std::uint64_t copy_chunk;
  std::uint64_t copy_slice;
  std::int32_t yama;
  bool descriptor_passing;
  std::uint64_t death_check;
  std::uint64_t connect_timeout;
  std::uint64_t descriptor_clients;
};

enum Yama : std::int32_t { kYamaNever = 0, kYamaJob, kYamaAny };

inline constexpr std::uint32_t kParamCount = 15;  // a constant: the component is read from its file before it is loaded
extern const ashlar_param kParams[kParamCount];

}  // namespace ashlar::shm
