#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "framework/base/catalogue.h"
#include "framework/base/event.h"
#include "framework/base/status.h"
#include "framework/plugin/call_hooks.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/tool_memory.h"
#include "framework/runtime/tool_board.h"
#include "framework/runtime/tool_events.h"

namespace ashlar {
class Process;
}
namespace ashlar::runtime {

/// The tools that watch this process's calls: their modules, and the hooks of the wrappers that call them.
class ToolModules {
 public:
  /// Before the exchange of addresses. nullptr when the parameter `tool` names none.
  static std::unique_ptr<ToolModules> prepare(Process& process, std::uint64_t buffer_bytes);
  /// After it: opens the tools and connects them with the wrappers. False when none can serve; what keeps a tool from
  /// its work is reported, and the program runs without it.
  bool open();
  /// Disconnects the wrappers; no call is in a tool any more. Under launchers other than ours the last rank of the job
  /// lets the tools tell of it.
  ~ToolModules();
  /// In a process that this one has forked: its calls are not watched, for what tools record is memory of both.
  void leave_alone();
  /// tools.buffer and its like; the block is a ToolModules.
  static const std::span<const ashlar_pvar_row> pvar_rows;
  ToolModules(const ToolModules&) = delete;
  ToolModules& operator=(const ToolModules&) = delete;

 private:
  struct Module {
    plugin::Component* component;
    ashlar_tool* tool;
    std::unique_ptr<ashlar_tool_context> context;
  };
  /// A module's functions beside its address: each call passes here twice.
  struct Listener {
    ashlar_tool* tool;
    void (*enter)(ashlar_tool*, const ashlar_tool_call*);
    void (*leave)(ashlar_tool*, const ashlar_tool_call*);
    void (*event)(ashlar_tool*, const ashlar_tool_event*);
  };
  /// Calls `call` with each listener whose bit is in `mask`.
  template <class Call>
  void each_listener(unsigned mask, Call call) const {
    for (; mask != 0; mask &= mask - 1) call(listeners_[std::countr_zero(mask)]);
  }
  ToolModules(Process& process, std::uint64_t buffer_bytes)
      : process_(process), buffer_bytes_(buffer_bytes), board_(std::make_unique<ToolBoard>()) {}
  static void enter(void* self, const ashlar_tool_call* call);
  static void leave(void* self, const ashlar_tool_call* call);
  static void observe(void* self, const event::Type& type, std::span<const std::uint64_t> values) noexcept;
  bool find_wrappers();
  void take_memory(std::size_t tools);
  bool make(const plugin::Chosen& chosen, std::size_t index, std::size_t tools);
  void ask();
  void ask_for_events();
  void stop_events();
  void connect_directly();
  std::vector<ashlar_tool_rank> ranks_of(const char* tool) const;
  void tell_end();
  ashlar_tool_context context() const;
  static const ashlar_pvar_row kRows[];
  void warn(const catalogue::Message& message);

  Process& process_;
  const ashlar_call_wrappers* wrappers_ = nullptr;
  const std::uint64_t buffer_bytes_;  // with the page of ToolMemory
  plugin::ToolMemory* memory_ = nullptr;
  std::uint64_t memory_bytes_ = 0;
  std::unique_ptr<ToolBoard> board_;  // under launchers that have no memory for tools
  std::vector<Module> modules_;
  std::vector<std::uint8_t> wanted_;  // per procedure, a bit per module
  ToolEventTypes event_types_;
  std::vector<std::uint8_t> events_;  // per event type, a bit per module
  ashlar_call_hooks hooks_{};
  Listener listeners_[plugin::kMostTools] = {};
};

}  // namespace ashlar::runtime
