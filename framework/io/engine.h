#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "framework/base/status.h"
#include "framework/io/collective_request.h"
#include "framework/io/file.h"
#include "framework/io/params.h"
#include "framework/io/request.h"
#include "framework/object/pool.h"
#include "framework/param/live.h"

namespace ashlar::plugin {
class Component;
struct Decision;
class Registry;
}  // namespace ashlar::plugin
namespace ashlar::io {

/// A component that opens files.
struct Driver {
  ashlar_io_driver* module = nullptr;
  const char* name = "";
  Meter* meter = nullptr;  // as long as the engine lives
};

/// The state of this room in one process. The process owns it and makes it current() from its start to its stop. Files
/// are open only in between.
class Engine {
 public:
  Engine(plugin::Registry& registry, const Config& parameters);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  static Engine& current() { return *current_; }

  /// The component for the file system that holds, or is to hold, the file. Any thread.
  Status driver_for(const char* path, Driver* out);

  /// Of a file that is open, or is about to be closed. The engine closes those that are open at its end.
  void add(OpenFile& file);
  void remove(OpenFile& file);

  param::Live<Config> config;
  const bool checks, verifies;  // check.files, io.verify: they do not change
  Datareps datareps;
  Pool<OpenFile> files{PoolName::kFiles};
  Pool<IoRequest> requests{PoolName::kIoRequests};
  Pool<CollectiveRequest> collectives{PoolName::kIoRequests};
  Worker worker{static_cast<unsigned>(config.get().threads)};
  Count mapped_bytes;                       // of all files; it falls, too
  std::atomic<bool> copies_refused{false};  // the system forbids the calls by which mappings are used
  Counts closed;                            // of files that are closed
  /// Of these and of open files.
  std::uint64_t total(Count Counts::*of);

 private:
  static Engine* current_;
  plugin::Registry& registry_;
  std::mutex loading_;                       // guards the rest
  std::map<std::uint64_t, Driver> drivers_;  // by the type of the file system
  std::map<std::uint64_t, Meter> meters_;    // the same
  struct Made {
    plugin::Component* component;
    ashlar_io_driver* module;
  };
  std::vector<Made> made_;  // these drivers and those behind them, which are made first
  std::set<OpenFile*> open_;
};

/// Gives up what an open file has, without a word to the other processes.
void unmake(OpenFile* file);

}  // namespace ashlar::io
