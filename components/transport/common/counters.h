#pragma once
#include "framework/base/counter.h"
#include "framework/plugin/component.h"

namespace ashlar::network {

/// What an interface counts; shown as performance variables.
struct Counters {
  MarkedLevel under_way;   // sends and reads that the library has
  MarkedLevel buffered;    // bytes
  MarkedLevel regions;     // of memory, registered
  MarkedLevel registered;  // bytes of these
  Counter greeted, refused, again, full;
  Counter sent, sent_bytes, received, received_bytes, looks, empty_looks;
  Counter gets, get_bytes, puts, put_bytes, questions, injected, coalesced;
  Counter registrations, registered_again;
  MarkedLevel tag_receives;  // that the library has
  Counter tags_sent, claims, claimed;
};

}  // namespace ashlar::network
