#pragma once
#include <cstddef>

#include "framework/base/counter.h"
#include "framework/plugin/component.h"

namespace ashlar::tcp {

inline constexpr std::size_t kMostRails = 4;  // to one peer, the first connection among them

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
  Counter gets, get_bytes, copied_bytes, served_bytes;
  MarkedLevel short_paths;  // connections whose bytes in flight are bounded
  MarkedLevel rails;        // further connections, over which this process reads
  Counter striped, rails_lost, rails_stalled;
  Counter rail_bytes[kMostRails];
};

/// `counters`: of an interface; nullptr: the variables are only made known.
void show(const ashlar_host& host, const Counters* counters);
void hide(const ashlar_host& host, const Counters& counters);

}  // namespace ashlar::tcp
