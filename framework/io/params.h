#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::io {

/// Parameters io.*; the rows describe this block.
struct Config {
  std::uint64_t buffer_bytes = 4 * 1024 * 1024;
  std::uint64_t sieve_bytes = 512 * 1024;
  std::uint64_t sieve_piece = 8 * 1024;
};

inline constexpr const char* kBufferRange[] = {"4KiB", "1GiB", nullptr};
inline constexpr const char* kSieveRange[] = {"4KiB", "1GiB", nullptr};
inline constexpr const char* kPieceRange[] = {"0", "1GiB", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"buffer_bytes", "4MiB",
     "Bytes of a buffer through which data goes that is scattered in memory, or is converted; one for each access that "
     "is "
     "under way.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, buffer_bytes), kBufferRange},
    {"sieve_bytes", "512KiB",
     "Bytes of the file that a read of many small pieces takes in at once, with the gaps between them (key "
     "ind_rd_buffer_size).",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, sieve_bytes), kSieveRange},
    {"sieve_piece", "8KiB",
     "Pieces of a read that are smaller on average are taken in with the gaps between them, unless these are more than "
     "seven eighths. 0: each piece is read by itself.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, sieve_piece), kPieceRange},
};

}  // namespace ashlar::io
