#pragma once

namespace ashlar::plugin {
class Records;
}

namespace ashlar::coll {

class Engine;

/// Adds a decision record of topic "coll" for each collective that this process has called: how often each algorithm
/// ran, by sizes. For --explain at the end of a job; the same counters are performance variables.
void record_call_counts(Engine& engine, plugin::Records& records);

}  // namespace ashlar::coll
