#pragma once

namespace ashlar::plugin {
class Records;
}

namespace ashlar::coll {

/// How often each algorithm ran on this process, by sizes, as records of topic "coll": one for each collective that was
/// called. For --explain at the end of a job; the same counters are performance variables. Nothing outside of a room.
void record_calls(plugin::Records& records);

}  // namespace ashlar::coll
