#pragma once
#include "framework/base/counter.h"
#include "framework/plugin/component.h"

namespace ashlar::tcp {

/// What an interface counts; shown as performance variables.
struct Counters {
  MarkedLevel connections;
  MarkedLevel strangers;  // connections that have not proved themselves yet
  MarkedLevel buffered;   // bytes
  MarkedLevel kept;       // bytes
  Counter broken, resumed, skipped, acknowledgements;
  Counter dialled, accepted, retries, refused, closed_idle;
  Counter sent, sent_bytes, coalesced, writes, full;
  Counter received, received_bytes, reads, looks, empty_looks;
  Counter gets, get_bytes, served_bytes;
};

/// `counters`: of an interface; nullptr: the variables are only made known.
void show(const ashlar_host& host, const Counters* counters);
void hide(const ashlar_host& host, const Counters& counters);

}  // namespace ashlar::tcp
