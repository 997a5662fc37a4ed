#pragma once
#include <cstddef>

#include "framework/base/counter.h"
#include "framework/plugin/component.h"

namespace ashlar::network {

inline constexpr std::size_t kMostRails = 4;  // of an interface, the first fabric among them

/// What an interface counts; shown as performance variables.
struct Counters {
  MarkedLevel under_way;   // sends and reads that the library has
  MarkedLevel buffered;    // bytes
  MarkedLevel regions;     // of memory, registered
  MarkedLevel registered;  // bytes of these
  MarkedLevel peers;       // processes that are known by their addresses
  Counter greeted, refused, again, full;
  Counter sent, sent_bytes, received, received_bytes, looks, empty_looks;
  Counter gets, get_bytes, puts, put_bytes, questions, injected, coalesced, out_of_order;
  Counter registrations, registered_again;
  MarkedLevel tag_receives;  // that the library has
  Counter tags_sent, claims, claimed;
  MarkedLevel rails;  // further fabrics that are open
  Counter striped, rails_lost, rails_stalled;
  Counter rail_bytes[kMostRails];
};

}  // namespace ashlar::network
