#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "framework/base/catalogue.h"
#include "framework/base/status.h"
#include "framework/plugin/call_hooks.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/tool_memory.h"

namespace ashlar {
class Process;
}
namespace ashlar::runtime {

/// The tools that watch this process's calls: their modules, and the hooks of the wrappers that call them.
class ToolModules {
 public:
  /// Opens the tools that the parameter `tool` names and connects them with the wrappers. nullptr when it names none,
  /// or none can serve; what keeps a tool from its work is reported, and the program runs without it.
  static std::unique_ptr<ToolModules> open(Process& process, std::uint64_t buffer_bytes);
  /// Disconnects the wrappers; no call is in a tool any more.
  ~ToolModules();
  /// In a process that this one has forked: its calls are not watched, for what tools record is memory of both.
  void leave_alone();
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
  };
  explicit ToolModules(Process& process) : process_(process) {}
  static void enter(void* self, const ashlar_tool_call* call);
  static void leave(void* self, const ashlar_tool_call* call);
  bool find_wrappers();
  void take_memory(std::size_t tools, std::uint64_t buffer_bytes);
  bool make(const plugin::Chosen& chosen, std::size_t index, std::size_t tools);
  void ask();
  void connect_directly();
  void tell_end();
  ashlar_tool_context context() const;
  void warn(const catalogue::Message& message);

  Process& process_;
  const ashlar_call_wrappers* wrappers_ = nullptr;
  void* memory_ = nullptr;  // ToolMemory
  std::uint64_t memory_bytes_ = 0;
  bool own_memory_ = false;  // made here: nothing of it is left when the process is gone
  std::uint64_t began_ns_ = 0;
  std::vector<Module> modules_;
  std::vector<std::uint8_t> wanted_;  // per procedure, a bit per module
  ashlar_call_hooks hooks_{};
  Listener listeners_[plugin::kMostTools] = {};
};

}  // namespace ashlar::runtime
