#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "framework/param/store.h"

namespace ashlar::plugin {

class Registry;

/// What tools see of the parameters and components of this process, and what the program has set through MPI_T before
/// there were any. One per process; it outlives Process. Any thread.
class InForce {
 public:
  /// Gets the key and the store of the tool. It may wait for lanes' locks. False: no part of the process goes by such a
  /// value while it runs.
  using Effect = bool (*)(std::string_view key, param::Store& store);

  /// The parameters are read, and these components known; until withdraw().
  void publish(const param::Store& store, const Registry& registry, Effect effect);
  void withdraw();
  /// Calls `look` with both, unless they are not there. They stay while it runs; it must not wait for anything.
  template <class Look>
  bool with(Look look) const {
    const std::lock_guard guard(mutex_);
    if (store_ == nullptr) return false;
    look(*store_, *registry_);
    return true;
  }

  /// Keeps a value that the program has set; the process takes it over when it reads its parameters. False while it
  /// does that: too late for this start, too early for the process.
  bool keep(std::string_view key, std::string_view text);
  /// What was kept for `key`, or `otherwise`.
  std::string kept(std::string_view key, std::string_view otherwise) const;
  /// Sets all that was kept in `store`, with the origin "the program". From then on nothing is kept, until publish() or
  /// withdraw().
  void apply(param::Store* store, const Registry& registry);
  /// Grows with every publish().
  unsigned published() const { return published_.load(std::memory_order_acquire); }

  /// Makes the value of `key` in `store`, of a row that is not frozen, take effect in the process, if it is there.
  /// False where nothing in the process goes by it.
  bool take_effect(std::string_view key, param::Store& store) {
    const std::lock_guard guard(mutex_);
    if (store_ == nullptr || effect_ == nullptr) return true;
    if (!effect_(key, store)) return false;
    note_of_program(key, store.find(key));
    return true;
  }
  /// Calls `visit(key, text)` with each value of this process that the program has set, and that took effect. Takes no
  /// lock under which a lane's lock is taken.
  template <class Visit>
  void each_of_program(Visit visit) const {
    const std::lock_guard guard(of_program_mutex_);
    for (const auto& [key, text] : of_program_) visit(key, text);
  }

  static constexpr const char* kOrigin = "the program";

 private:
  void note_of_program(std::string_view key, const param::Setting* setting);

  mutable std::mutex of_program_mutex_;
  std::map<std::string, std::string, std::less<>> of_program_;  // at most one of each parameter
  mutable std::mutex mutex_;
  const param::Store* store_ = nullptr;
  const Registry* registry_ = nullptr;
  bool starting_ = false;
  std::atomic<unsigned> published_{0};
  Effect effect_ = nullptr;
  std::vector<std::pair<std::string, std::string>> kept_;
};

InForce& in_force();

}  // namespace ashlar::plugin
