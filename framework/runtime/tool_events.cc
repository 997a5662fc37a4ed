// Events of the kernel as tool components get them (framework/plugin/tool.h).
#include <algorithm>
#include <string>
#include <vector>

#include "framework/runtime/tool_events.h"
#include "framework/runtime/tool_modules.h"

namespace ashlar::runtime {
ToolEventTypes::ToolEventTypes() {
  for (const event::Type* type : event::kernel_types()) {
    std::vector<const char*>& fields = fields_.emplace_back();
    std::uint32_t words = 0;
    for (const event::Field& field : type->fields) {
      // Ranks and tags are of this type too, in event types without words.
      if (field.type == event::FieldType::kInt && type->choices != nullptr) words |= 1u << fields.size();
      fields.push_back(field.name);
    }
    fields.push_back(nullptr);
    rows_.push_back({.name = type->name,
                     .help = type->help,
                     .fields = fields.data(),
                     .words = words != 0 ? type->choices : nullptr,
                     .word_fields = words});
  }
}

void ToolModules::observe(void* self, const event::Type& type, std::span<const std::uint64_t> values) noexcept {
  const ToolModules& t = *static_cast<ToolModules*>(self);
  const ashlar_tool_event event{.size = sizeof event,
                                .number = type.observed_as,
                                .values = values.data(),
                                .value_count = static_cast<std::uint32_t>(values.size())};
  t.each_listener(t.events_[event.number], [&](const Listener& l) { l.event(l.tool, &event); });
}

void ToolModules::ask_for_events() {
  const std::span<event::Type* const> types = event::kernel_types();
  events_.assign(types.size(), 0);
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const ashlar_tool_ops& ops = *modules_[i].tool->ops;
    if (!ops.event || !ops.wants_event) continue;
    for (std::uint32_t number = 0; number < types.size(); ++number)
      if (ops.wants_event(modules_[i].tool, number)) events_[number] |= static_cast<std::uint8_t>(1u << i);
  }
  event::observe(&ToolModules::observe, this);
  for (std::uint32_t number = 0; number < types.size(); ++number) {
    if (events_[number] == 0) continue;
    types[number]->observed_as = number;
    types[number]->listeners.fetch_or(event::Type::kObserved, std::memory_order_release);
  }
}

void ToolModules::stop_events() {
  for (event::Type* type : event::kernel_types())
    type->listeners.fetch_and(~event::Type::kObserved, std::memory_order_relaxed);
  event::observe(nullptr, nullptr);
}

}  // namespace ashlar::runtime
