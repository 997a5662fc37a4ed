#include "framework/p2p/unreceived.h"

#include <algorithm>
#include <iterator>

#include "framework/p2p/lane_state.h"
#include "framework/p2p/receiving.h"

namespace ashlar::p2p {

void collect_unreceived(Lane& lane, std::size_t limit, std::vector<Unreceived>* rows, std::size_t* beyond) {
  for (const match::Message& message : lane.p2p->unexpected.in_order()) {
    const match::Key& key = message.key;
    if ((key.context() & 1) != 0) continue;  // of a collective
    auto row = std::find_if(rows->begin(), rows->end(), [&key](const Unreceived& known) {
      return known.context == key.context() && known.source == key.source() && known.tag == key.tag;
    });
    if (row == rows->end()) {
      if (rows->size() >= limit) {
        ++*beyond;
        continue;
      }
      rows->push_back({.context = key.context(), .source = key.source(), .tag = key.tag});
      row = std::prev(rows->end());
    }
    ++row->messages;
    row->bytes += static_cast<std::uint64_t>(message_bytes(static_cast<const Arrival&>(message).am));
  }
}

}  // namespace ashlar::p2p
