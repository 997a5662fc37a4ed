#include "framework/io/choice.h"

#include <algorithm>

namespace ashlar::io {

Estimates estimate_alone(const Demand& one, double window, const Rates& rates) {
  const Rate& rate = one.writes ? rates.write : rates.read;
  return {.list = cost::list(rate, one.pieces, one.bytes),
          .sieve = cost::sieve(rates, one.writes, one.hull, window, one.pieces, one.bytes),
          .mapped = cost::mapped(rate, one.pieces, one.bytes)};
}

// The system writes to one file one process at a time; reads, and copies, go side by side. So do the windows of one
// process each, where their ranges do not lie between each other: else they wait for each other from the read on.
Estimates estimate_together(const Demand& all, const Windows& windows, const Rates& rates) {
  Estimates out;
  const double copies = all.most_pieces * cost::kPiece + all.most_bytes * cost::kCopy;
  const double reads = cost::windows(rates.read, all.hull, windows.together) / windows.aggregators;
  if (all.writes) {
    const double waits = std::max(all.hulls - all.hull, 0.0);
    out.list = cost::list(rates.write, all.pieces, all.bytes);
    out.sieve = copies + cost::windows(rates.read, all.most_hull + waits, windows.sieve) +
                cost::windows(rates.write, all.hulls, windows.sieve) + (all.hulls / windows.sieve + 1) * cost::kHold;
    double moves = cost::windows(rates.write, all.hull, windows.together);
    if (all.hull > all.bytes) {  // gaps: as write_marked() of window.h
      const double gaps = (all.hull - all.bytes) * cost::kCopy / windows.aggregators;
      moves += reads + gaps + (all.hull / windows.together + 1) * cost::kHold;
      moves = std::min(moves, out.list);
    }
    out.two_phase = copies + moves + all.hull * cost::kMark / windows.aggregators;
  } else {
    out.list = cost::list(rates.read, all.most_pieces, all.most_bytes);
    out.sieve = cost::sieve(rates, false, all.most_hull, windows.sieve, all.most_pieces, all.most_bytes);
    out.two_phase = copies + reads;
  }
  if (windows.far) out.two_phase += std::max(all.most_bytes, all.bytes / windows.aggregators) * cost::kFarByte;
  out.two_phase += (windows.rounds + 2) * (windows.far ? cost::kFarMeeting : cost::kMeeting);
  out.mapped = cost::mapped(all.writes ? rates.write : rates.read, all.most_pieces, all.most_bytes);
  return out;
}

Way cheapest(const Estimates& costs, const Open& open) {
  Way way = Way::kList;
  double least = costs.list;
  if (open.sieve && costs.sieve < least) {
    way = Way::kSieve;
    least = costs.sieve;
  }
  if (open.two_phase && costs.two_phase < least) {
    way = Way::kTwoPhase;
    least = costs.two_phase;
  }
  if (open.mapped && costs.mapped < least) way = Way::kMapped;
  return way;
}

}  // namespace ashlar::io
