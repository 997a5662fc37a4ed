#pragma once
#include <string>
#include <vector>

#include "framework/coll/algorithm.h"
#include "mpiexec/tune/measure.h"

namespace ashlar::tune {

/// A tuning file (config/tuning/README.md) that chooses the fastest algorithm at every measured size, for communicators
/// of this shape. An algorithm goes on for larger sizes while it is within `tolerance` of the
/// fastest, so that noise makes no rows. `points`: of each collective in order of size.
std::string tuning_file(const std::vector<Point>& points, const coll::Shape& shape, const std::string& origin,
                        double tolerance);

/// A line for each point where the rules in force choose something slower than 1 + `tolerance` times the fastest.
std::vector<std::string> outdated(const std::vector<Point>& points, double tolerance);

}  // namespace ashlar::tune
