#pragma once
#include "framework/coll/algorithm.h"

namespace ashlar::coll::shm {

/// Every algorithm of this component, with what it cannot serve.
extern const AlgorithmList kAlgorithmList;

}  // namespace ashlar::coll::shm
