#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

// What components have in common whose modules are objects of a class behind a table of C functions: transports
// (transport_component.h) and launch components (launch_component.h).
namespace ashlar::plugin {

/// What the kernel gives to a component, kept for its modules. `Module` has
///   Module::Config                  the config block
///   static void introduce(host)     optional: its performance variables, before there is a module
template <class Module>
class ModuleMaker {
 public:
  using Config = typename Module::Config;

  static ashlar_result open(const ashlar_host* host, const void* config) {
    host_ = host;
    config_ = static_cast<const Config*>(config);
    if constexpr (requires { Module::introduce(*host); }) Module::introduce(*host);
    return ASHLAR_OK;
  }

  /// nullptr in a query() that comes before open().
  static const ashlar_host* host() { return host_; }
  static const Config* config() { return config_; }

 protected:
  static inline const ashlar_host* host_ = nullptr;
  static inline const Config* config_ = nullptr;
};

/// A component's own part of its table.
struct ComponentFacts {
  const char* name;
  const char* version;
  const char* description;
  std::uint32_t param_count;
  const ashlar_param* params;
  std::uint64_t build_id;
  void (*query)(const void* context, ashlar_answer* answer);
};

/// `Maker`: a ModuleMaker with create, destroy and close, which may be nullptr.
template <class Maker>
constexpr ashlar_component component_table(const char* framework, std::uint32_t interface_version,
                                           const ComponentFacts& facts) {
  return {.size = sizeof(ashlar_component),
          .abi_major = ASHLAR_COMPONENT_MAJOR,
          .abi_minor = ASHLAR_COMPONENT_MINOR,
          .framework = framework,
          .name = facts.name,
          .version = facts.version,
          .description = facts.description,
          .interface_version = interface_version,
          .config_size = sizeof(typename Maker::Config),
          .param_count = facts.param_count,
          .params = facts.params,
          .build_id = facts.build_id,
          .open = Maker::open,
          .query = facts.query,
          .create = Maker::create,
          .destroy = Maker::destroy,
          .close = Maker::close};
}

/// Adds a block of counters to the variables of a component; nullptr: these are only made known.
template <std::size_t count>
void show_block(const ashlar_host& host, const char* framework, const char* component,
                const ashlar_pvar_row (&rows)[count], const void* block) {
  if (ASHLAR_HAS(&host, add_pvar_block) && host.add_pvar_block != nullptr)
    host.add_pvar_block(framework, component, rows, static_cast<std::uint32_t>(count), block);
}

inline void hide_block(const ashlar_host& host, const ashlar_pvar_row* rows, const void* block) {
  if (ASHLAR_HAS(&host, remove_pvar_block) && host.remove_pvar_block != nullptr) host.remove_pvar_block(rows, block);
}

}  // namespace ashlar::plugin
