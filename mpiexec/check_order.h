#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mpiexec/frames.h"
#include "mpiexec/job_order.h"
#include "mpiexec/options.h"

// What mpiexec --check and a daemon tell each other, each struct by one list of its fields for both directions.
namespace ashlar::mpiexec {

/// How the ways between hosts are tried.
struct WayRules {
  std::uint32_t host = 0;   // the number of the host that gets this
  std::string secret;       // known to the hosts of this check alone
  std::string interfaces;   // transport.tcp.interfaces
  std::string ports;        // transport.tcp.ports; empty: the transport is not used, and no way is tried
  std::uint32_t bytes = 0;  // that travel both ways
  std::uint64_t timeout_ns = 0;
};

/// What a host is to look at: the programs of its ranks, and where they would start.
struct CheckOrder {
  Options options;
  std::vector<std::string> environment;
  std::string folder;  // in which mpiexec runs
  WayRules ways;
};

/// One thing that a host looks at. It is told twice, before and after, so that one that never ends has a name.
struct CheckStep {
  std::string what, words;
  bool over = false, failed = false;
  std::uint64_t ns = 0;  // that it took
};

/// Where the ways to a host end: its answer to CheckOrder, behind its steps.
struct HostReport {
  std::string addresses;    // ip::Candidate, one after the other
  std::uint64_t place = 0;  // ip::host_here
  std::uint16_t port = 0;   // 0: it does not listen
};

/// Another host to which the ways are to be tried.
struct WayTarget {
  std::uint32_t host = 0;
  std::string addresses;
  std::uint64_t place = 0;
  std::uint16_t port = 0;
};

/// One way to a host that was tried.
struct WayResult {
  std::uint32_t host = 0;
  std::string to, from;  // addresses; `from` with its interface
  bool good = false;
  std::uint64_t ns = 0;  // until the bytes had come back, or it failed
  std::string why_not;
};

template <class Archive>
void fields(Archive& a, WayRules& r) {
  a(r.host, r.secret, r.interfaces, r.ports, r.bytes, r.timeout_ns);
}
template <class Archive>
void fields(Archive& a, CheckOrder& o) {
  a(o.options, o.environment, o.folder, o.ways);
}
template <class Archive>
void fields(Archive& a, CheckStep& s) {
  a(s.what, s.words, s.over, s.failed, s.ns);
}
template <class Archive>
void fields(Archive& a, HostReport& r) {
  a(r.addresses, r.place, r.port);
}
template <class Archive>
void fields(Archive& a, WayTarget& t) {
  a(t.host, t.addresses, t.place, t.port);
}
template <class Archive>
void fields(Archive& a, WayResult& r) {
  a(r.host, r.to, r.from, r.good, r.ns, r.why_not);
}

}  // namespace ashlar::mpiexec
