#pragma once
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "framework/base/types.h"

/// Thousands of virtual ranks in one thread, each a fiber that runs the library's own blocking calls. A seeded
/// scheduler decides which rank goes on and which event happens next; its seed repeats the run.
namespace ashlar::sim {

class Fibers {
 public:
  struct Options {
    Rank dies = -1;                // this rank goes no further ...
    std::uint64_t dies_after = 0;  // ... after so many steps of the scheduler
  };
  Fibers(int ranks, std::uint64_t seed, Options options);
  Fibers(int ranks, std::uint64_t seed) : Fibers(ranks, seed, Options{}) {}
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  /// The one that runs.
  static Fibers& current() { return *current_; }
  /// Whether it is a fiber that calls.
  static bool is_inside() { return current_ != nullptr && current_->running_ >= 0; }

  /// Every rank runs `part`. False when none can go on: `stuck()` names those that are not done.
  bool run(const std::function<void(Rank)>& part);
  std::string stuck() const;
  bool done(Rank rank) const { return fibers_[static_cast<std::size_t>(rank)]->done; }

  // For what runs in a fiber.
  Rank rank() const { return running_; }
  /// Others may run first.
  void yield();
  /// Until ready(rank()) is called.
  void block();

  // For all.
  void ready(Rank rank);
  std::uint64_t random(std::uint64_t below) { return below < 2 ? 0 : engine_() % below; }
  bool dead(Rank rank) const { return died_ && rank == options_.dies; }
  /// Whether the rank has heard of the death.
  bool knows(Rank rank) const { return knows_[static_cast<std::size_t>(rank)] != 0; }
  Rank who_dies() const { return options_.dies; }

  /// Things on their way: happens one of them, in an order of its own choice. False: there was none.
  std::function<bool()> event = [] { return false; };
  /// Whether the rank may hear of the death now; it hears.
  std::function<bool(Rank)> hears = [](Rank) { return true; };

 private:
  struct Fiber {
    ucontext_t context;
    void* stack = nullptr;
    void* shadow = nullptr;  // of the address sanitizer
    bool waiting = true, done = false, listed = false;
  };
  void resume(Rank rank);
  void leave(Fiber& fiber, bool last);
  bool spread_the_news();
  static void enter(unsigned high, unsigned low);

  static Fibers* current_;
  const Options options_;
  std::mt19937_64 engine_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Rank> ready_;
  std::vector<std::uint8_t> knows_;
  std::vector<Rank> unaware_;
  std::function<void(Rank)> part_;
  ucontext_t scheduler_;
  void* scheduler_shadow_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_bytes_ = 0;
  Rank running_ = -1;
  std::uint64_t steps_ = 0;
  bool died_ = false;
};

}  // namespace ashlar::sim
