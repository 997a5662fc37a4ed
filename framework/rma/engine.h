#pragma once
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/base/list.h"
#include "framework/base/slab.h"
#include "framework/base/status.h"
#include "framework/object/pool.h"
#include "framework/param/live.h"
#include "framework/rma/component.h"
#include "framework/rma/neighbours.h"
#include "framework/rma/params.h"
#include "framework/rma/request.h"
#include "framework/rma/window.h"

namespace ashlar::plugin {
struct Decision;
class Registry;
}  // namespace ashlar::plugin
namespace ashlar::rma {

/// The state of this room in one process. The process owns it and makes it current() from its start to its stop.
/// Windows exist only in between.
class Engine {
 public:
  Engine(plugin::Registry& registry, const Config& parameters);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  static Engine& current() { return *current_; }

  /// The components, the preferred one first; loaded by the first window. Any thread. Fails when none can serve.
  Status components(std::span<const Component* const>* out);
  /// Leaves a decision record, unless the same has been decided for the same reasons before. Any thread.
  void record(plugin::Decision decision);
  /// The same of what is told each time, as far as there is room for records.
  void record_each(plugin::Decision decision);

  /// Of a window that was made, or is about to go. What is alive when the engine ends is released by it: the program
  /// did not free it before the end. Any thread.
  void add(RmaWindow& window);
  void remove(RmaWindow& window);
  /// The window whose own communicator is `own`; nullptr: there is none. Any thread; looks at all windows.
  RmaWindow* window_of(const Comm& own);

  /// Whether other processes can fence this one (register_for_barriers). Asked once: each call fences every process of
  /// the system, which would be most of what a window costs. A filter that forbids it later is found where it matters.
  bool fenced_by_others();

  param::Live<Config> config;
  Pool<RmaWindow> windows{PoolName::kWindows};
  Pool<RmaRequest> requests{PoolName::kRmaRequests};
  Neighbours neighbours;

 private:
  static Engine* current_;
  plugin::Registry& registry_;
  std::mutex loading_;  // guards the rest
  std::vector<const Component*> components_;
  std::set<std::string> recorded_;
  enum class Fenced : std::uint8_t { kUnknown, kByOthers, kByItself };
  Fenced fenced_ = Fenced::kUnknown;
  List<RmaWindow> alive_;
};

}  // namespace ashlar::rma
