#pragma once
#include "framework/coll/wire.h"

namespace ashlar::coll {

/// Some members of a wire's group as a group of their own, numbered in the order of `members`. Two such groups of one
/// operation may be in use together when no two ranks are in both. Trivial to destroy: it lives in a coroutine.
class GroupWire final : public Wire {
 public:
  GroupWire(Wire& whole, const Rank* members) : Wire(whole.lane()), whole_(whole), members_(members) {}

  Status send(Rank to, const DataView& data, Tag tag, Gate& gate) override {
    return whole_.send(members_[to], data, tag, gate);
  }
  Status recv(Rank from, const DataView& data, Tag tag, Gate& gate) override {
    return whole_.recv(members_[from], data, tag, gate);
  }
  void abandon(Gate& gate) override { whole_.abandon(gate); }
  void wait(Gate& gate) override { whole_.wait(gate); }
  Status wait(Condition& condition) override { return whole_.wait(condition); }
  void watch(Condition& condition) override { whole_.watch(condition); }
  void wake(Rank member) override { whole_.wake(members_[member]); }
  void give_way() override { whole_.give_way(); }
  Rank rank_in_whole(Rank member) const override { return whole_.rank_in_whole(members_[member]); }
  Status can_go_on(Tag tag) override { return whole_.can_go_on(tag); }

 private:
  Wire& whole_;
  const Rank* const members_;
};

}  // namespace ashlar::coll
