// The ways of targets whose operations are logged.
#include "framework/base/lane_lock.h"
#include "framework/rma/check.h"

namespace ashlar::rma {
namespace {

using Kind = LoggedAccess::Kind;

Target& real(Target& target) { return *const_cast<Target*>(static_cast<const Target*>(target.state)); }

/// Flushes look at the target that the program's operations name.
Status settle(Target& target, Status done) {
  if (real(target).outstanding) target.outstanding = true;
  return done;
}

Status put(const Access& access) {
  ASHLAR_TRY(access.window.check->begin(access.target, access.place, {.kind = Kind::kPut}));
  Target& to = real(access.target);
  return settle(access.target, to.copies->put({.window = access.window,
                                               .target = to,
                                               .origin = access.origin,
                                               .place = access.place,
                                               .done = access.done}));
}

Status get(const Access& access) {
  ASHLAR_TRY(access.window.check->begin(access.target, access.place, {.kind = Kind::kGet}));
  Target& to = real(access.target);
  return settle(access.target, to.copies->get({.window = access.window,
                                               .target = to,
                                               .origin = access.origin,
                                               .place = access.place,
                                               .done = access.done}));
}

Status update(const Update& update) {
  const Kind kind = update.compare != nullptr ? Kind::kCompareAndSwap
                    : update.fetches()        ? Kind::kGetAccumulate
                                              : Kind::kAccumulate;
  ASHLAR_TRY(update.window.check->begin(update.target, update.place,
                                        {.op = update.op.predefined,
                                         .element = update.element.predefined,
                                         .element_bytes = static_cast<std::uint32_t>(update.element.extent()),
                                         .kind = kind,
                                         .no_op = update.op.code() == ReduceOp::Code::kNoOp}));
  Target& to = real(update.target);
  return settle(update.target, to.updates->update({.window = update.window,
                                                   .target = to,
                                                   .op = update.op,
                                                   .element = update.element,
                                                   .origin = update.origin,
                                                   .result = update.result,
                                                   .place = update.place,
                                                   .compare = update.compare,
                                                   .done = update.done}));
}

Status flush(RmaWindow& window, Target& target, bool remote) {
  Target& to = real(target);
  if (to.copies->flush != nullptr) ASHLAR_TRY(to.copies->flush(window, to, remote));
  if (to.updates->flush != nullptr && to.updates->flush != to.copies->flush)
    ASHLAR_TRY(to.updates->flush(window, to, remote));
  if (remote && !LaneLock::threads_on()) to.outstanding = false;
  return {};
}

}  // namespace

const Way checked_way = {.name = "checked", .put = put, .get = get, .update = update, .flush = nullptr};
const Way checked_way_by_messages = {.name = "checked", .put = put, .get = get, .update = update, .flush = flush};

void Check::wrap(Target& target) {
  real_.push_back(target);
  Target& to = real_.back();
  target.memory = nullptr;
  target.guard = nullptr;
  target.state = &to;
  target.copies = to.copies->flush == nullptr ? &checked_way : &checked_way_by_messages;
  target.updates = to.updates->flush == nullptr ? &checked_way : &checked_way_by_messages;
}

}  // namespace ashlar::rma
