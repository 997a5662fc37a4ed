#pragma once
#include <cstdint>

#include "framework/plugin/call_hooks.h"

/// What tools and the wrappers may ask of this process: functions of ashlar_tool_context and of ashlar_call_hooks,
/// where they are described.
namespace ashlar::runtime::tool_facts {

void both_clocks(ashlar_tool_clock* now);
int variable(const char* name, std::uint64_t* value);
std::uint32_t comm_name(const ashlar_tool_call* call, char* out, std::uint32_t room);
void each_variable(void (*take)(void*, const ashlar_tool_variable*), void* self);
void each_decision(void (*take)(void*, const ashlar_decision*), void* self);

int describe(const void* handle, ashlar_tool_call* call);
std::uint64_t type_bytes(const void* handle);
std::uint64_t status_bytes(const void* status);

}  // namespace ashlar::runtime::tool_facts
