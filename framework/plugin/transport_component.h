#pragma once
#include <new>

#include "framework/plugin/component_table.h"
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
class InterfaceMaker : public ModuleMaker<Interface> {
  using Base = ModuleMaker<Interface>;

 public:
  static ashlar_result create(const void* context, void** module) {
    auto* const made = new (std::nothrow)
        Interface(*Base::host_, *Base::config_, *static_cast<const ashlar_transport_context*>(context));
    if (made == nullptr) return ashlar_fail_no_memory(Base::host_, Interface::kWhat, sizeof *made);
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
};

template <class Interface>
constexpr ashlar_component transport_component(const ComponentFacts& facts) {
  return component_table<InterfaceMaker<Interface>>("transport", ASHLAR_TRANSPORT_INTERFACE, facts);
}

/// The C functions of an interface, each one its member of the same name. A wake-up that the class does not have is not
/// offered; `rest`, `attributes`, `forget`, `ended` and `tags` are the component's to add.
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
      .tags = nullptr,
  };
}

}  // namespace ashlar::plugin
