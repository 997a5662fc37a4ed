#pragma once
#include <span>
#include <vector>

#include "framework/plugin/tool.h"

namespace ashlar::runtime {

/// The kernel's event types as rows of the tools' interface.
class ToolEventTypes {
 public:
  ToolEventTypes();
  ToolEventTypes(const ToolEventTypes&) = delete;
  ToolEventTypes& operator=(const ToolEventTypes&) = delete;
  std::span<const ashlar_tool_event_type> rows() const { return rows_; }

 private:
  std::vector<std::vector<const char*>> fields_;  // of each row
  std::vector<ashlar_tool_event_type> rows_;
};

}  // namespace ashlar::runtime
