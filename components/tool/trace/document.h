#pragma once
#include <cstdint>
#include <string>

#include "components/tool/common/figures.h"

namespace ashlar::tool_trace {

struct Limits {
  std::size_t ranks;  // rows of the timeline and cells in a row of the matrix
  std::size_t bars;   // of the timeline
};

/// Everything that is known of the job as one JSON object, whose schema is trace.schema.json.
std::string document(const recording::Records& records, const recording::Figures& figures, const Limits& limits);

/// The metrics of the job in Prometheus' text form.
std::string prometheus(const recording::Records& records, const recording::Figures& figures);

/// The document in a page that shows it, without another file or any request.
std::string page(const std::string& document, const std::string& title);

}  // namespace ashlar::tool_trace
