#pragma once
#include <atomic>
#include <cstdint>
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

  /// A value that the program sets. Where the process runs, it takes effect there; in any case it is kept, and the next
  /// process takes it over when it reads its parameters.
  enum class Written : std::uint8_t {
    kDone,
    kRefused,  // `store` does not take it
    kNotNow,   // the process is reading its parameters, or is another one than the tool has seen
    kNever     // the process runs, and no part of it goes by such a value
  };
  /// `store`: of the tool, which knows the process that was published as `seen`.
  Written write(std::string_view key, std::string_view text, param::Store& store, unsigned seen);
  /// What was kept for `key`, or `otherwise`.
  std::string kept(std::string_view key, std::string_view otherwise) const;
  /// Sets all that was kept in `store`, with the origin "the program". From then on nothing can be written, until
  /// publish() or withdraw().
  void apply(param::Store* store, const Registry& registry);
  /// Grows with every publish().
  unsigned published() const { return published_.load(std::memory_order_acquire); }

  /// Calls `visit(key, text)` with each value of this process that the program has set, and that took effect. Takes no
  /// lock under which a lane's lock is taken.
  template <class Visit>
  void each_of_program(Visit visit) const {
    const std::lock_guard guard(of_program_mutex_);
    for (const auto& [key, text] : of_program_) visit(key, text);
  }

  static constexpr const char* kOrigin = "the program";

 private:
  void keep(std::string_view key, std::string_view text);
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
