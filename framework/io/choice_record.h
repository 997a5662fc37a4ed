#pragma once
#include "framework/io/choice.h"

namespace ashlar::io {

class OpenFile;

/// Keeps a decision record of a choice that differs from the one before it (--explain=io). `not_together`: why
/// two_phase is not open, nullptr otherwise. Under the lane's lock.
void record_choice(OpenFile& file, const char* call, const Demand& demand, const Estimates& costs, const Rates& rates,
                   Way way, const char* not_together);

/// Whether anybody would see it.
bool records_choices(const OpenFile& file);

}  // namespace ashlar::io
