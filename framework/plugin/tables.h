#pragma once
#include <cstddef>
#include <cstring>
#include <span>

#include "framework/base/status.h"
#include "framework/plugin/coll.h"
#include "framework/plugin/io.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/report.h"
#include "framework/plugin/tool.h"
#include "framework/plugin/topology.h"
#include "framework/plugin/transport.h"

/// Structures of components that were compiled with older or newer headers. Each begins with its size; members are only
/// appended. The kernel takes a structure once, through these functions, and has it whole from then on: what a shorter
/// one lacks is zero, and what a longer one has more is not looked at. No other code compares sizes.
namespace ashlar::plugin {

/// A copy of `theirs` as this kernel knows the structure.
template <class T>
T whole(const T& theirs) {
  T copy;
  std::memset(static_cast<void*>(&copy), 0, sizeof copy);
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(&theirs),
              theirs.size < sizeof copy ? static_cast<std::size_t>(theirs.size) : sizeof copy);
  return copy;
}

/// A function that a table cannot be without.
struct Needed {
  const char* name;
  std::size_t offset;
};

/// What the tables of each framework have to have. The rest may be absent, or null.
template <class Ops>
struct NeededIn;
template <>
struct NeededIn<ashlar_iface_ops> {
  static constexpr Needed kAll[] = {{"address", offsetof(ashlar_iface_ops, address)},
                                    {"connect", offsetof(ashlar_iface_ops, connect)},
                                    {"disconnect", offsetof(ashlar_iface_ops, disconnect)},
                                    {"progress", offsetof(ashlar_iface_ops, progress)},
                                    {"arm", offsetof(ashlar_iface_ops, arm)},
                                    {"disarm", offsetof(ashlar_iface_ops, disarm)},
                                    {"idle", offsetof(ashlar_iface_ops, idle)}};
};
template <>
struct NeededIn<ashlar_endpoint_ops> {
  static constexpr Needed kAll[] = {{"am_short", offsetof(ashlar_endpoint_ops, am_short)},
                                    {"am_bcopy", offsetof(ashlar_endpoint_ops, am_bcopy)}};
};
template <>
struct NeededIn<ashlar_launch_ops> {
  static constexpr Needed kAll[] = {{"connect", offsetof(ashlar_launch_ops, connect)},
                                    {"put", offsetof(ashlar_launch_ops, put)},
                                    {"fence", offsetof(ashlar_launch_ops, fence)},
                                    {"get", offsetof(ashlar_launch_ops, get)},
                                    {"barrier", offsetof(ashlar_launch_ops, barrier)},
                                    {"report_timeout", offsetof(ashlar_launch_ops, report_timeout)},
                                    {"host_of", offsetof(ashlar_launch_ops, host_of)},
                                    {"on_peer_failure", offsetof(ashlar_launch_ops, on_peer_failure)},
                                    {"poll", offsetof(ashlar_launch_ops, poll)},
                                    {"initialized", offsetof(ashlar_launch_ops, initialized)},
                                    {"abort", offsetof(ashlar_launch_ops, abort)},
                                    {"finalize", offsetof(ashlar_launch_ops, finalize)}};
};
template <>
struct NeededIn<ashlar_report_ops> {
  static constexpr Needed kAll[] = {{"error", offsetof(ashlar_report_ops, error)},
                                    {"notice", offsetof(ashlar_report_ops, notice)}};
};
template <>
struct NeededIn<ashlar_topology_ops> {
  static constexpr std::span<const Needed> kAll{};
};
template <>
struct NeededIn<ashlar_coll_ops> {
  static constexpr Needed kAll[] = {{"rows", offsetof(ashlar_coll_ops, rows)}};
};
template <>
struct NeededIn<ashlar_io_driver_ops> {
  static constexpr Needed kAll[] = {{"open", offsetof(ashlar_io_driver_ops, open)},
                                    {"remove", offsetof(ashlar_io_driver_ops, remove)}};
};
template <>
struct NeededIn<ashlar_io_file_ops> {
  static constexpr Needed kAll[] = {
      {"close", offsetof(ashlar_io_file_ops, close)},       {"read", offsetof(ashlar_io_file_ops, read)},
      {"write", offsetof(ashlar_io_file_ops, write)},       {"stat", offsetof(ashlar_io_file_ops, stat)},
      {"truncate", offsetof(ashlar_io_file_ops, truncate)}, {"allocate", offsetof(ashlar_io_file_ops, allocate)},
      {"sync", offsetof(ashlar_io_file_ops, sync)}};
};
template <>
struct NeededIn<ashlar_tool_ops> {
  static constexpr std::span<const Needed> kAll{};
};

/// Whether `bytes` bytes of a table of `component` have all that is needed. Fails with MPI_ERR_OTHER.
Status check_table(const void* ops, std::size_t bytes, std::span<const Needed> needed, const char* component);
/// A table of `bytes` bytes as one of `wanted` bytes, the rest zero. The same table gives the same copy, which lives as
/// long as the process, as the component does. Any thread.
const void* lengthened(const void* ops, std::size_t bytes, std::size_t wanted);

/// Takes the table of a module, or of another object that begins with one. Afterwards module->ops is whole.
template <class Module>
Status take_table(Module* module, const char* component) {
  using Ops = std::remove_cvref_t<decltype(*module->ops)>;
  const Ops* const ops = module->ops;
  ASHLAR_TRY(check_table(ops, ops ? ops->size : 0, NeededIn<Ops>::kAll, component));
  if (ops->size < sizeof(Ops)) module->ops = static_cast<const Ops*>(lengthened(ops, ops->size, sizeof(Ops)));
  return {};
}

/// What remote operations of an interface mean, whose table is whole; all zero where it does not say.
inline ashlar_iface_attributes attributes_of(ashlar_iface& iface) {
  ashlar_iface_attributes out{};
  out.size = sizeof out;
  if (iface.ops->attributes != nullptr) iface.ops->attributes(&iface, &out);
  return out;
}

}  // namespace ashlar::plugin
