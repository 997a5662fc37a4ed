#pragma once
#include <mutex>

#include "framework/topo/params.h"

namespace ashlar::topo {

/// The state of this room in one process. The process owns it and makes it current() from its start to its stop.
class Engine {
 public:
  explicit Engine(const Config& parameters) : config(parameters) { current_ = this; }
  ~Engine() { current_ = nullptr; }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  static Engine& current() { return *current_; }

  const Config config;
  std::mutex matching;  // held around calls of the topology component that matches, which serves one thread at a time

 private:
  static Engine* current_;
};

}  // namespace ashlar::topo
