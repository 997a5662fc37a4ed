#include "framework/coll/part.h"

#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"

namespace ashlar::coll {

Co run_part(Op& whole, Op& part, CommState& where, const Call& call) {
  Choice choice;
  const Status chosen = where.choose(call, &choice, CommState::For::kPart);
  if (!chosen.ok()) {
    whole.fail(chosen);
    return Co();
  }
  part.set_place(&where, choice.entry->component);
  if (choice.rule != nullptr) part.set_arguments(choice.rule->arguments);
  const Co co = choice.entry->algorithm->run(part, call);
  if (!co.started()) whole.fail(part.failure());
  return co;
}

}  // namespace ashlar::coll
