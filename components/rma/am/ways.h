#pragma once
#include "framework/rma/way.h"

namespace ashlar::rma::am {

/// Every operation is a message, or several, which the target executes and answers.
extern const Way asked;

}  // namespace ashlar::rma::am
