#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::rma::shm {

/// Parameters rma.shm.*; the rows describe this block.
struct Config {
  std::int32_t barrier;  // Barrier
};

enum Barrier : std::int32_t { kByCores = 0, kCentral, kDissemination };

inline constexpr const char* kBarriers[] = {"auto", "central", "dissemination", nullptr};

inline constexpr ashlar_param kParams[] = {
    {.name = "barrier",
     .fallback = "auto",
     .help =
         "How the processes of a window wait for all others, in MPI_Win_fence and MPI_Win_free. central: the last one "
         "to come lets all go, so that each is scheduled once; dissemination: in rounds, of pairs; auto: central where "
         "ranks outnumber cores. That of rank 0 holds.",
     .type = ASHLAR_PARAM_ENUM,
     .scope = ASHLAR_SCOPE_ALL_EQ,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, barrier)),
     .choices = kBarriers},
};

}  // namespace ashlar::rma::shm
