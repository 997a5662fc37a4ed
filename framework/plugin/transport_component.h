#pragma once
#include <new>

#include "framework/plugin/transport.h"

// What every transport component of this tree has in common: the functions of its component table, and the tables of
// functions that lead from the C contract to the members of a class.
namespace ashlar::plugin {

/// Makes interfaces of the class `Interface`, which has
///   Interface::Config                       the config block
///   Interface::kWhat                        "the TCP transport", for a failed allocation
///   Interface(host, config, context)
///   ashlar_result open()                    optional: the part of its making that can fail
///   static void introduce(host)             optional: its performance variables, before there is an interface
///   static void take_leave()                optional: from here on there is no host
template <class Interface>
class InterfaceMaker {
 public:
  using Config = typename Interface::Config;

  static ashlar_result open(const ashlar_host* host, const void* config) {
    host_ = host;
    config_ = static_cast<const Config*>(config);
    if constexpr (requires { Interface::introduce(*host); }) Interface::introduce(*host);
    return ASHLAR_OK;
  }

  static ashlar_result create(const void* context, void** module) {
    auto* const made =
        new (std::nothrow) Interface(*host_, *config_, *static_cast<const ashlar_transport_context*>(context));
    if (made == nullptr) return ashlar_fail_no_memory(host_, Interface::kWhat, sizeof *made);
    if constexpr (requires { made->open(); }) {
      if (const ashlar_result opened = made->open(); opened != ASHLAR_OK) {
        delete made;
        return opened;
      }
    }
    *module = static_cast<ashlar_iface*>(made);
    return ASHLAR_OK;
  }

  static void destroy(void* module) { delete static_cast<Interface*>(static_cast<ashlar_iface*>(module)); }

  static void close() {
    if constexpr (requires { Interface::take_leave(); }) Interface::take_leave();
  }

  static const ashlar_host* host() { return host_; }

 private:
  static inline const ashlar_host* host_ = nullptr;
  static inline const Config* config_ = nullptr;
};

/// A transport component's own part of its table.
struct TransportFacts {
  const char* name;
  const char* version;
  const char* description;
  std::uint32_t param_count;
  const ashlar_param* params;
  std::uint64_t build_id;
  void (*query)(const void* context, ashlar_answer* answer);
};

template <class Interface>
constexpr ashlar_component transport_component(const TransportFacts& facts) {
  return {.size = sizeof(ashlar_component),
          .abi_major = ASHLAR_COMPONENT_MAJOR,
          .abi_minor = ASHLAR_COMPONENT_MINOR,
          .framework = "transport",
          .name = facts.name,
          .version = facts.version,
          .description = facts.description,
          .interface_version = ASHLAR_TRANSPORT_INTERFACE,
          .config_size = sizeof(typename Interface::Config),
          .param_count = facts.param_count,
          .params = facts.params,
          .build_id = facts.build_id,
          .open = InterfaceMaker<Interface>::open,
          .query = facts.query,
          .create = InterfaceMaker<Interface>::create,
          .destroy = InterfaceMaker<Interface>::destroy,
          .close = InterfaceMaker<Interface>::close};
}

/// The C functions of an interface, each one its member of the same name. A wake-up that the class does not have is not
/// offered; `rest`, `attributes`, `forget` and `ended` are the component's to add.
template <class Interface, class Endpoint>
constexpr ashlar_iface_ops interface_functions() {
  return {
      .size = sizeof(ashlar_iface_ops),
      .address = [](ashlar_iface* i, void* out,
                    std::uint32_t* length) { return static_cast<Interface*>(i)->write_address(out, length); },
      .connect = [](ashlar_iface* i, std::uint32_t peer, const void* address, std::uint32_t length,
                    ashlar_endpoint** out) { return static_cast<Interface*>(i)->connect(peer, address, length, out); },
      .disconnect = [](ashlar_iface* i,
                       ashlar_endpoint* e) { static_cast<Interface*>(i)->disconnect(*static_cast<Endpoint*>(e)); },
      .progress = [](ashlar_iface* i) { return static_cast<Interface*>(i)->progress(); },
      .expose = [](ashlar_iface* i, const void* address, std::uint64_t length, int kind,
                   ashlar_key* out) { return static_cast<Interface*>(i)->expose(address, length, kind, out); },
      .unexpose = [](ashlar_iface* i, const ashlar_key* key) { static_cast<Interface*>(i)->unexpose(*key); },
      .arm = [](ashlar_iface* i) -> ashlar_result { return static_cast<Interface*>(i)->arm(); },
      .disarm = [](ashlar_iface* i) { static_cast<Interface*>(i)->disarm(); },
      .wake_fd =
          [](ashlar_iface* i) {
            if constexpr (requires(Interface * self) { self->wake_fd(); })
              return static_cast<Interface*>(i)->wake_fd();
            else
              return -1;
          },
      .wake_word = [](ashlar_iface* i) -> std::uint32_t* {
        if constexpr (requires(Interface * self) { self->wake_word(); })
          return static_cast<Interface*>(i)->wake_word();
        else
          return nullptr;
      },
      .idle = [](ashlar_iface* i) { return static_cast<Interface*>(i)->idle() ? 1 : 0; },
      .rest = nullptr,
      .attributes = nullptr,
      .forget = nullptr,
      .ended = nullptr,
  };
}

/// Adds a block of counters to the variables of a transport; nullptr: these are only made known.
template <std::size_t count>
void show_block(const ashlar_host& host, const char* component, const ashlar_pvar_row (&rows)[count],
                const void* block) {
  if (ASHLAR_HAS(&host, add_pvar_block) && host.add_pvar_block != nullptr)
    host.add_pvar_block("transport", component, rows, static_cast<std::uint32_t>(count), block);
}

inline void hide_block(const ashlar_host& host, const ashlar_pvar_row* rows, const void* block) {
  if (ASHLAR_HAS(&host, remove_pvar_block) && host.remove_pvar_block != nullptr) host.remove_pvar_block(rows, block);
}

}  // namespace ashlar::plugin
