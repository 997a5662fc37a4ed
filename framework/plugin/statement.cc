#include "framework/plugin/statement.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/parse.h"
#include "framework/plugin/coll.h"
#include "framework/plugin/coll_interface.h"
#include "framework/plugin/io.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/report.h"
#include "framework/plugin/rma_interface.h"
#include "framework/plugin/tool.h"
#include "framework/plugin/topology.h"
#include "framework/plugin/transport.h"

namespace ashlar::plugin {
namespace {

// Reads the constant object member by member, as the loader would have relocated it.
class Reader {
 public:
  Reader(const ElfImage& image, param::TextPool* pool) : image_(image), pool_(pool) {}

  // The text a pointer at `address` points to; "" for null.
  const char* text(std::uint64_t address) {
    const std::uint64_t to = image_.pointer(address);
    const char* from = to ? image_.text(to) : "";
    if (!from) bad_ = true;
    return from && *from ? pool_->keep(from) : "";
  }

  void params(std::uint64_t address, std::uint32_t count, std::vector<ashlar_param>* out) {
    if (count > 4096) bad_ = true;
    for (std::uint32_t i = 0; i < count && !bad_; ++i, address += sizeof(ashlar_param)) {
      ashlar_param raw;
      if (!image_.read(address, &raw)) {
        bad_ = true;
        return;
      }
      raw.name = text(address + offsetof(ashlar_param, name));
      raw.fallback = text(address + offsetof(ashlar_param, fallback));
      raw.help = text(address + offsetof(ashlar_param, help));
      raw.choices = choices(image_.pointer(address + offsetof(ashlar_param, choices)));
      out->push_back(raw);
    }
  }
  bool bad() const { return bad_; }

 private:
  const char* const* choices(std::uint64_t address) {
    if (!address) return nullptr;
    std::vector<const char*> words;
    for (; image_.pointer(address) && words.size() < 1000; address += 8) words.push_back(text(address));
    words.push_back(nullptr);
    // The pool gives characters; one pointer's size more lets the array start where pointers may.
    char* room = pool_->take((words.size() + 1) * sizeof(char*));
    room += (sizeof(char*) - reinterpret_cast<std::uintptr_t>(room) % sizeof(char*)) % sizeof(char*);
    std::memcpy(room, words.data(), words.size() * sizeof(char*));
    return reinterpret_cast<const char* const*>(room);
  }

  const ElfImage& image_;
  param::TextPool* pool_;
  bool bad_ = false;
};

// A framework without a macro has no interface header yet, and no component.
constexpr Framework kFrameworks[] = {{.name = "launch", .oldest = 2, .newest = ASHLAR_LAUNCH_INTERFACE},
                                     {.name = "transport", .oldest = 2, .newest = ASHLAR_TRANSPORT_INTERFACE},
                                     {.name = "coll",
                                      .oldest = ASHLAR_COLL_CXX_INTERFACE,
                                      .newest = ASHLAR_COLL_INTERFACE,
                                      .cxx = ASHLAR_COLL_CXX_INTERFACE},
                                     {.name = "rma",
                                      .oldest = ASHLAR_RMA_CXX_INTERFACE,
                                      .newest = ASHLAR_RMA_CXX_INTERFACE,
                                      .cxx = ASHLAR_RMA_CXX_INTERFACE},
                                     {.name = "io", .oldest = 1, .newest = ASHLAR_IO_INTERFACE},
                                     {.name = "topology", .oldest = 1, .newest = ASHLAR_TOPOLOGY_INTERFACE},
                                     {.name = "report", .oldest = 1, .newest = ASHLAR_REPORT_INTERFACE},
                                     {.name = "tool", .oldest = 1, .newest = ASHLAR_TOOL_INTERFACE}};

// Without these a structure is none of any version: all that is stated, and the functions that every component has.
constexpr std::uint32_t kLeastSize = offsetof(ashlar_component, create) + sizeof(ashlar_component::create);

Status read_present(const ElfImage& image, std::uint64_t at, param::TextPool* pool, Statement* out) {
  ashlar_component raw;
  std::memset(static_cast<void*>(&raw), 0, sizeof raw);
  std::uint32_t size = 0;
  if (!image.read(at, &size) || size == 0)
    return fail(kErrOther, "plugin.empty_statement", {{"symbol", ASHLAR_COMPONENT_SYMBOL}});
  const char* from = image.at(at, std::min<std::size_t>(size, sizeof raw));
  if (!from) return fail(kErrOther, "plugin.statement_past_end", {{"symbol", ASHLAR_COMPONENT_SYMBOL}});
  std::memcpy(static_cast<void*>(&raw), from, std::min<std::size_t>(size, sizeof raw));
  out->size = size;
  out->abi_major = raw.abi_major;
  out->abi_minor = raw.abi_minor;
  // Only what every major and minor has in this place is read before the sizes are known to be right.
  if (raw.abi_major != ASHLAR_COMPONENT_MAJOR || size < kLeastSize) return {};
  Reader reader(image, pool);
  out->framework = reader.text(at + offsetof(ashlar_component, framework));
  out->name = reader.text(at + offsetof(ashlar_component, name));
  out->version = reader.text(at + offsetof(ashlar_component, version));
  out->description = reader.text(at + offsetof(ashlar_component, description));
  out->interface_version = raw.interface_version;
  out->config_size = raw.config_size;
  out->build_id = raw.build_id;
  const std::uint64_t rows = image.pointer(at + offsetof(ashlar_component, params));
  if (raw.param_count && !rows) return fail(kErrOther, "plugin.no_parameter_table");
  reader.params(rows, raw.param_count, &out->params);
  if (reader.bad()) return fail(kErrOther, "plugin.unreadable_statement");
  return {};
}

}  // namespace

Status read_statement(const char* path, const Accepts& kernel, param::TextPool* pool, Statement* out) {
  ElfImage image;
  ASHLAR_TRY(image.open(path));
  if (const std::uint64_t at = image.symbol(ASHLAR_COMPONENT_SYMBOL)) return read_present(image, at, pool, out);
  for (const Adapter& adapter : kernel.adapters)
    if (const std::uint64_t at = image.symbol(adapter.symbol)) return adapter.read(image, at, pool, out);
  return fail(kErrOther, "plugin.no_statement", {{"symbol", ASHLAR_COMPONENT_SYMBOL}});
}

const Framework* frameworks(std::size_t* count) {
  *count = std::size(kFrameworks);
  return kFrameworks;
}

const Framework* find_framework(const char* name) {
  for (const Framework& f : kFrameworks) {
    if (std::strcmp(f.name, name) == 0) return &f;
  }
  return nullptr;
}

namespace {

// What Store::fill writes for a value of this type.
std::size_t bytes_of(ashlar_param_type type) {
  if (type == ASHLAR_PARAM_BOOL) return sizeof(bool);
  return type == ASHLAR_PARAM_ENUM ? sizeof(std::int32_t) : sizeof(std::uint64_t);
}

}  // namespace

// There is no older major version yet.
Accepts this_kernel() { return {.build_id = ASHLAR_BUILD_ID, .adapters = {}}; }

const Adapter* Accepts::adapter_of(std::uint16_t major) const {
  for (const Adapter& adapter : adapters)
    if (adapter.major == major) return &adapter;
  return nullptr;
}

std::uint32_t type_number(const ashlar_param& p) {
  std::uint32_t number = 0;
  static_assert(sizeof number == sizeof p.type);
  std::memcpy(&number, &p.type, sizeof number);
  return number;
}

Status acceptable(const Statement& s, const Accepts& kernel) {
  const bool present = s.abi_major == ASHLAR_COMPONENT_MAJOR;
  if (!present && !kernel.adapter_of(s.abi_major))
    return fail(kErrOther, "plugin.other_contract",
                {{"major", s.abi_major},
                 {"minor", s.abi_minor},
                 {"kernel_major", ASHLAR_COMPONENT_MAJOR},
                 {"kernel_minor", ASHLAR_COMPONENT_MINOR}});
  if (present && s.size < kLeastSize)
    return fail(kErrOther, "plugin.structure_size",
                {{"size", s.size}, {"kernel_major", ASHLAR_COMPONENT_MAJOR}, {"least", kLeastSize}});
  if (!*s.framework || !*s.name) return fail(kErrOther, "plugin.no_name");
  const Framework* framework = find_framework(s.framework);
  if (!framework) return fail(kErrOther, "plugin.no_framework", {{"framework", s.framework}});
  if (!framework->speaks(s.interface_version))
    return fail(kErrOther, "plugin.other_interface",
                {{"framework", s.framework},
                 {"interface", s.interface_version},
                 {"kernel_interfaces", framework->oldest == framework->newest
                                           ? std::to_string(framework->newest)
                                           : std::to_string(framework->oldest) + " to " + s.framework + "/" +
                                                 std::to_string(framework->newest)}});
  if (s.build_id == 0 && s.interface_version <= framework->cxx)
    return fail(kErrOther, "plugin.no_build", {{"framework", s.framework}, {"interface", s.interface_version}});
  if (s.build_id != 0 && s.build_id != kernel.build_id)
    return fail(kErrOther, "plugin.other_build",
                {{"build", reinterpret_cast<const void*>(s.build_id)},
                 {"kernel_build", reinterpret_cast<const void*>(kernel.build_id)}});
  for (const ashlar_param& p : s.params) {
    if (const std::uint32_t type = type_number(p); !*p.name || type < ASHLAR_PARAM_BOOL || type > ASHLAR_PARAM_DURATION)
      return fail(kErrOther, "plugin.parameter_type", {{"parameter", p.name}, {"value", type}});
    if (!(p.flags & ASHLAR_PARAM_SYNONYM) && std::uint64_t{p.offset} + bytes_of(p.type) > s.config_size)
      return fail(kErrOther, "plugin.parameter_outside", {{"parameter", p.name}});
    if (p.flags & ASHLAR_PARAM_SYNONYM) continue;
    if (const Status range = param::check_range(p); !range.ok())
      return fail(kErrOther, "plugin.parameter_range", {{"parameter", p.name}, {"reason", range.text()}});
    if (p.type == ASHLAR_PARAM_ENUM && !(p.flags & ASHLAR_PARAM_SYNONYM) && !p.choices)
      return fail(kErrOther, "plugin.parameter_choices", {{"parameter", p.name}});
  }
  return {};
}

}  // namespace ashlar::plugin
