#pragma once
#include "framework/base/counter.h"
#include "framework/plugin/component.h"

namespace ashlar::ofi {

/// What an interface counts; shown as performance variables.
struct Counters {
  MarkedLevel under_way;  // sends and reads that libfabric has
  MarkedLevel buffered;   // bytes
  MarkedLevel regions;    // of memory, registered
  Counter greeted, refused, again, full;
  Counter sent, sent_bytes, received, received_bytes, looks, empty_looks;
  Counter gets, get_bytes, questions, injected, coalesced;
};

/// `counters`: of an interface; nullptr: the variables are only made known.
void show(const ashlar_host& host, const Counters* counters);
void hide(const ashlar_host& host, const Counters& counters);

}  // namespace ashlar::ofi
