#include "framework/coll/part.h"

#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"

namespace ashlar::coll {
namespace {

Co run_choice(Op& whole, Op& part, const Choice& choice, const Call& call) {
  if (choice.rule != nullptr) part.set_arguments(choice.rule->arguments);
  const Co co = choice.entry->algorithm->run(part, call);
  if (!co.started()) whole.fail(part.failure());
  return co;
}

}  // namespace

Co run_part(Op& whole, Op& part, CommState& where, const Call& call) {
  Choice choice;
  const Status chosen = where.choose(call, &choice, Without{.part = true});
  if (!chosen.ok()) {
    whole.fail(chosen);
    return Co();
  }
  part.set_place(&where, choice.entry->component, *choice.entry->algorithm);
  return run_choice(whole, part, choice, call);
}

Co run_part(Op& whole, Op& part, const Plan& plan, const Call& call) {
  Choice choice;
  const Status chosen = choose(plan, call, Without{.part = true}, &choice);
  if (!chosen.ok()) {
    whole.fail(chosen);
    return Co();
  }
  return run_choice(whole, part, choice, call);
}

}  // namespace ashlar::coll
