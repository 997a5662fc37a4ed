#pragma once
#include <new>

#include "framework/plugin/component_table.h"
#include "framework/plugin/launch.h"

// What every launch component of this tree has in common: the functions of its component table, and the table of
// functions that leads from the C contract to the members of a class.
namespace ashlar::plugin {

/// The C functions of a module, each one its member of the same name. `Module` derives from ashlar_launch. It has
/// connect, put, fence, get, host_of, abort and finalize; what it does not have of the others is not offered, or does
/// nothing where the contract asks for it.
template <class Module>
class LaunchFunctions {
  using Launch = ashlar_launch;
  static Module& of(Launch* self) { return *static_cast<Module*>(self); }
  static ashlar_result nothing(Launch*) { return ASHLAR_OK; }
  static ashlar_result fence(Launch* self, std::int64_t timeout_ms) { return of(self).fence(timeout_ms); }

 public:
  static constexpr ashlar_launch_ops make() {
    ashlar_launch_ops ops = {};
    ops.size = sizeof ops;
    ops.connect = [](Launch* self, const ashlar_job** job) { return of(self).connect(job); };
    ops.put = [](Launch* self, const char* key, const void* blob, std::size_t bytes) {
      return of(self).put(key, blob, bytes);
    };
    ops.fence = ops.barrier = fence;
    ops.get = [](Launch* self, std::uint32_t rank, const char* key, void* buffer, std::size_t* bytes) {
      return of(self).get(rank, key, buffer, bytes);
    };
    ops.host_of = [](Launch* self, std::uint32_t rank) { return of(self).host_of(rank); };
    ops.abort = [](Launch* self, int code, const char* text) { of(self).abort(code, text); };
    ops.finalize = [](Launch* self) { return of(self).finalize(); };
    ops.report_timeout = ops.initialized = nothing;
    ops.on_peer_failure = [](Launch*, ashlar_launch_peer_failed*, void*) {};
    ops.poll = [](Launch*) {};
    add_waiting(&ops);
    add_questions(&ops);
    add_others(&ops);
    return ops;
  }

 private:
  static constexpr void add_waiting(ashlar_launch_ops* ops) {
    if constexpr (requires(Module & m) { m.barrier(0); })
      ops->barrier = [](Launch* self, std::int64_t timeout_ms) { return of(self).barrier(timeout_ms); };
    if constexpr (requires(Module & m) { m.report_timeout(); })
      ops->report_timeout = [](Launch* self) { return of(self).report_timeout(); };
    if constexpr (requires(Module & m) { m.initialized(); })
      ops->initialized = [](Launch* self) { return of(self).initialized(); };
    if constexpr (requires(Module & m) { m.on_peer_failure(nullptr, nullptr); })
      ops->on_peer_failure = [](Launch* self, ashlar_launch_peer_failed* listener, void* context) {
        of(self).on_peer_failure(listener, context);
      };
    if constexpr (requires(Module & m) { m.poll(); }) ops->poll = [](Launch* self) { of(self).poll(); };
    if constexpr (requires(Module & m, const void** b, std::size_t* n) { m.view(0, "", b, n); })
      ops->view = [](Launch* self, std::uint32_t rank, const char* key, const void** blob, std::size_t* bytes) {
        return of(self).view(rank, key, blob, bytes);
      };
  }

  static constexpr void add_questions(ashlar_launch_ops* ops) {
    if constexpr (requires(Module & m) { m.news(); }) {
      ops->news = [](Launch* self) { return of(self).news(); };
      ops->asked = [](Launch* self) { return of(self).asked() ? 1 : 0; };
      ops->answer = [](Launch* self, const char* account, std::size_t bytes, int settled) {
        of(self).answer(account, bytes, settled != 0);
      };
    }
    if constexpr (requires(Module & m) { m.moved(0, true); })
      ops->moved = [](Launch* self, std::uint64_t moved_ns, int waits) { of(self).moved(moved_ns, waits != 0); };
    if constexpr (requires(Module & m) { m.waits("", 0); })
      ops->waits = [](Launch* self, const char* account, std::size_t bytes) { of(self).waits(account, bytes); };
    if constexpr (requires(Module & m) { m.variables_asked(); }) {
      ops->variables_asked = [](Launch* self) { return of(self).variables_asked() ? 1 : 0; };
      ops->variables = [](Launch* self, const char* text, std::size_t bytes) { of(self).variables(text, bytes); };
    }
  }

  static constexpr void add_others(ashlar_launch_ops* ops) {
    if constexpr (requires(Module & m) { m.process_sets(); })
      ops->process_sets = [](Launch* self) { return of(self).process_sets(); };
    if constexpr (requires(Module & m) { m.in_use(true, true); })
      ops->in_use = [](Launch* self, int world, unsigned sessions) { of(self).in_use(world != 0, sessions > 0); };
    if constexpr (requires(Module & m) { m.parameters(nullptr, nullptr); })
      ops->parameters = [](Launch* self, void (*take)(void*, const char*), void* context) {
        return of(self).parameters(take, context) ? 1 : 0;
      };
    if constexpr (requires(Module & m, int* socket) { m.further_job(socket); })
      ops->further_job = [](Launch* self, int* socket) { return of(self).further_job(socket); };
    if constexpr (requires(Module & m) { m.connected(true); })
      ops->connected = [](Launch* self, int others) { of(self).connected(others != 0); };
    if constexpr (requires(Module & m, int* socket) { m.name_service(socket); })
      ops->name_service = [](Launch* self, int* socket) { return of(self).name_service(socket); };
  }
};

/// Makes modules of the class `Module`, which has
///   Module::Config                  the config block
///   Module::kWhat                   "launch/pmi", for a failed allocation
///   Module(host, config)            `config` may be nullptr
///   static void introduce(host)     optional: its performance variables, before there is a module
template <class Module>
class LaunchMaker : public ModuleMaker<Module> {
  using Base = ModuleMaker<Module>;

 public:
  static ashlar_result create(const void*, void** module) {
    auto* const made = new (std::nothrow) Module(*Base::host_, Base::config_);
    if (made == nullptr) return ashlar_fail_no_memory(Base::host_, Module::kWhat, sizeof *made);
    made->ops = &kFunctions;
    *module = static_cast<ashlar_launch*>(made);
    return ASHLAR_OK;
  }
  static void destroy(void* module) { delete static_cast<Module*>(static_cast<ashlar_launch*>(module)); }

  static constexpr void (*close)() = nullptr;

  /// For query(), which may come before there is a host.
  static bool elevated() { return Base::host_ != nullptr && Base::host_->elevated != 0; }

 private:
  static constexpr ashlar_launch_ops kFunctions = LaunchFunctions<Module>::make();
};

template <class Module>
constexpr ashlar_component launch_component(const ComponentFacts& facts) {
  return component_table<LaunchMaker<Module>>(ASHLAR_LAUNCH_FRAMEWORK, ASHLAR_LAUNCH_INTERFACE, facts);
}

}  // namespace ashlar::plugin
