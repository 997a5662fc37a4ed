#pragma once
#include <string>
#include <vector>

#include "components/tool/common/figures.h"

namespace ashlar::recording {

/// What a figure shows, and what to try; `parameter` is the one to change.
struct Advice {
  double weight;  // the part of the job's time that it is about, or a guess at it: what weighs most comes first
  std::string finding;
  std::string parameter;
  std::string hint;  // what to do with it
};

/// Advice that follows from the figures, the weightiest first.
std::vector<Advice> advice_from(const Records& records, const Figures& figures);

/// What makes the records incomplete, or the job unusual: ranks that did not finalise MPI, calls that were lost.
std::vector<std::string> warnings_of(const Records& records, const Figures& figures);

}  // namespace ashlar::recording
