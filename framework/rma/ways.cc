#include "framework/rma/ways.h"

#include <mpi.h>

#include <string>
#include <utility>

#include "framework/base/failure.h"
#include "framework/plugin/records.h"
#include "framework/progress/user_call.h"
#include "framework/rma/check.h"
#include "framework/rma/component.h"
#include "framework/rma/engine.h"

namespace ashlar::rma {
namespace {

Status put_first(const Access& access) {
  ASHLAR_TRY(resolve_now(access.window, access.target));
  return access.target.copies->put(access);
}
Status get_first(const Access& access) {
  ASHLAR_TRY(resolve_now(access.window, access.target));
  return access.target.copies->get(access);
}
Status update_first(const Update& update) {
  ASHLAR_TRY(resolve_now(update.window, update.target));
  return update.target.updates->update(update);
}

void record(const RmaWindow& window, const Target& target, std::string lost) {
  const std::string copies = target.copies->name, updates = target.updates->name;
  Engine::current().record(
      {.topic = "rma",
       .subject =
           std::string("targets such as rank ") + std::to_string(target.rank) + " of window '" + window.label() + "'",
       .chosen = copies == updates ? copies : copies + " (put, get), " + updates + " (accumulate)",
       .because = target.memory != nullptr ? "their memory is mapped here" : "the first way that reaches their memory",
       .lost = std::move(lost),
       .setting = "rma"});
}

/// When this process makes what others ask of it: the first target that may be asked is the time to say so.
void record_progress(const RmaWindow& window) {
  const progress::Config& config = window.lane().config;
  Engine::current().record({.topic = "rma",
                            .subject = "operations that this process is asked for",
                            .chosen = config.thread ? "background" : "calls",
                            .because = config.dormant  ? "a thread serves them, woken when an origin waits"
                                       : config.thread ? "a thread serves them, woken by every message"
                                                       : "they are served in MPI calls",
                            .lost = "",
                            .setting = "rma.progress"});
}

}  // namespace

const Way unresolved = {
    .name = "unresolved", .put = put_first, .get = get_first, .update = update_first, .flush = nullptr};

Status resolve_now(RmaWindow& window, Target& target) {
  const LaneGuard guard(window.lane().lock);
  return resolve(window, target);
}

Status resolve(RmaWindow& window, Target& target) {
  window.lane().lock.held_by_caller();
  if (target.copies != &unresolved && target.updates != &unresolved) return {};  // another thread has
  Target found = target;
  found.copies = found.updates = nullptr;
  std::string lost;
  for (const Component* component : window.components) {
    if (found.copies != nullptr && found.updates != nullptr) break;
    const Status reached = component->reach(window, found);
    if (!reached.ok()) lost += (lost.empty() ? "" : "; ") + std::string(component->name) + ": " + reached.text();
  }
  if (found.copies == nullptr || found.updates == nullptr)
    return fail(MPI_ERR_OTHER, "rma.no_way", {{"peer", target.rank}, {"window", window.label()}, {"lower", lost}});
  target = found;
  record(window, target, std::move(lost));
  if (window.wire != nullptr) record_progress(window);
  if (window.check != nullptr) window.check->wrap(target);
  return {};
}

Status reach_by_later(RmaWindow& window, const Component& after, Target& target) {
  bool behind = false;
  Status reached = fail(MPI_ERR_OTHER, "rma.no_other_way", {{"component", after.name}});
  for (const Component* component : window.components) {
    if (behind && (target.copies == nullptr || target.updates == nullptr)) reached = component->reach(window, target);
    behind = behind || component == &after;
  }
  return target.copies != nullptr && target.updates != nullptr ? Status() : reached;
}

Status flush_outstanding(const char* call, RmaWindow& window, Target& target, bool remote) {
  const progress::UserCall user_call(call, &window);
  if (target.copies->flush != nullptr) ASHLAR_TRY(target.copies->flush(window, target, remote));
  if (target.updates->flush != nullptr && target.updates->flush != target.copies->flush)
    ASHLAR_TRY(target.updates->flush(window, target, remote));
  // Another thread may be waiting for the same operations, or have started further ones: it is not for this one to say.
  if (remote && !LaneLock::threads_on()) target.outstanding = false;
  return {};
}

Status flush_all_outstanding(const char* call, RmaWindow& window, bool remote) {
  Status first;
  window.targets.each([&](Target& target) {
    const Status flushed = flush(call, window, target, remote);
    if (first.ok()) first = flushed;
  });
  if (remote && !LaneLock::threads_on()) window.any_outstanding = false;
  return first;
}

}  // namespace ashlar::rma
