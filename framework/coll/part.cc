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

/// Whether the program made the call, and waits for it. What the groups of an intercommunicator run among themselves is
/// itself a part, which no call announces. Simulations have no communicator, and no component that needs one.
bool in_call_order(const Op& whole) {
  return whole.blocking() && (whole.tag() & Op::kPartTag) == 0 && whole.comm() != nullptr;
}

/// A part of a PartGroup will be served by this, which keeps there what it knows of the group.
void place(const Op& whole, const Call& called, Op& part, PartGroup& group, const Choice& choice) {
  part.set_place(whole.comm(), choice.entry->component, *choice.entry->algorithm);
  group.called = &called;
  group.leaves = false;
  part.set_part_group(group);
  part.set_own_slot(&group.slots[choice.entry->component % CommState::kSlots]);
}

Without without_disabled(const Op& whole) {
  return Without{.network = &whole.comm()->network, .components = whole.comm()->disabled};
}

/// What choose() will find, not counted; nullptr: nothing.
const Choice* foresee(const Op& whole, const PartGroup& group, const Call& call) {
  for (const Choice& choice : group.plan->choices[static_cast<std::size_t>(call.what)])
    if (serves(*group.plan, choice, call, without_disabled(whole))) return &choice;
  return nullptr;
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

Co run_part(Op& whole, const Call& called, Op& part, PartGroup& group, const Call& call) {
  if (!in_call_order(whole)) return run_part(whole, part, *group.plan, call);
  Choice choice;
  const Status chosen = choose(*group.plan, call, without_disabled(whole), &choice);
  if (!chosen.ok()) {
    whole.fail(chosen);
    return Co();
  }
  place(whole, called, part, group, choice);
  return run_choice(whole, part, choice, call);
}

void count_parts(Op& whole, const Call& called, Op& part, PartGroup& group, std::span<const Call* const> calls) {
  if (!in_call_order(whole)) return;
  std::uint64_t at = 0;
  for (const Call* call : calls) {
    const Choice* const choice = foresee(whole, group, *call);
    if (choice == nullptr || choice->entry->algorithm->counts_to == nullptr) continue;
    place(whole, called, part, group, *choice);
    at = choice->entry->algorithm->counts_to(part, *call, at);
  }
  if (at != 0) whole.comm()->count_to(at);
}

void leave_part(Op& whole, const Call& called, Op& part, PartGroup& group, const Call& call) {
  const Choice* const choice = in_call_order(whole) ? foresee(whole, group, call) : nullptr;
  if (choice == nullptr || choice->entry->algorithm->counts_to == nullptr) return;
  place(whole, called, part, group, *choice);
  group.leaves = true;
  static_cast<void>(choice->entry->algorithm->run(part, call));
}

Co run_part(Op& whole, Op& part, const Plan& plan, const Call& call) {
  Choice choice;
  // Simulations have no communicator.
  const Network* const network = whole.comm() != nullptr ? &whole.comm()->network : nullptr;
  const Status chosen = choose(plan, call, Without{.network = network, .part = true}, &choice);
  if (!chosen.ok()) {
    whole.fail(chosen);
    return Co();
  }
  return run_choice(whole, part, choice, call);
}

}  // namespace ashlar::coll
