#include "framework/comm/engine.h"

#include "framework/base/lane_lock.h"
#include "framework/comm/name_client.h"
#include "framework/comm/names.h"
#include "framework/comm/ports.h"
#include "framework/comm/pvars.h"
#include "framework/object/comm.h"

namespace ashlar::comm {

Engine* Engine::current_ = nullptr;

Engine::Engine(Services& process, bool checks_hints, Outside* others)
    : services(process),
      check_hints(checks_hints),
      outside(others),
      ports(std::make_unique<Ports>()),
      names(std::make_unique<Names>()),
      name_client(std::make_unique<NameClient>()) {
  current_ = this;
}

Engine::~Engine() { current_ = nullptr; }

void Engine::destroy_later(Comm* comm) {
  const std::lock_guard guard(mutex_);
  waiting_.push_back(comm);
  counters.freed_later.fetch_add(1, std::memory_order_relaxed);
}

void Engine::destroy_waiting() {
  if (!LaneLock::threads_on()) return;  // without threads a lane is never found locked
  std::vector<Comm*> now;
  {
    const std::lock_guard guard(mutex_);
    now.swap(waiting_);
  }
  for (Comm* comm : now) destroy(comm);
}

}  // namespace ashlar::comm
