#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "framework/progress/lane.h"

namespace ashlar::p2p {

class Mailbox;

/// What the first of several lanes knows of the others: route.h says why.
struct RouteTable {
  RouteTable(std::span<Lane* const> all, const std::array<AmHandler, Lane::kMaxHandlers>& of_first);
  ~RouteTable();
  std::vector<Lane*> lanes;
  std::array<AmHandler, Lane::kMaxHandlers> own;  // the first lane's handlers of its own messages
  std::vector<std::unique_ptr<Mailbox>> mailboxes;
};

}  // namespace ashlar::p2p
