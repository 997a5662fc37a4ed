#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>

#include "components/transport/common/config.h"
#include "components/transport/common/counters.h"
#include "components/transport/common/fabric.h"
#include "framework/base/list.h"
#include "framework/plugin/transport.h"

namespace ashlar::network {

/// Memory that the library has been told of, for one or more operations.
struct Region : ListHook {  // hook: idle ones, of lasting memory
  std::uint64_t begin = 0, bytes = 0;
  std::uint64_t serial = 0;  // of lasting memory; 0: the program's own
  unsigned uses = 0;         // bits of Fabric::Use
  std::uint32_t users = 0;
  std::uint32_t whole = 0;  // of these, operations on all of it
  Registration known;
};

/// What a lane has registered: memory that peers read and write, and that its own reads and puts use.
///
/// The program may free its own memory as soon as no operation uses it, and the system may then give other memory the
/// same address, which nothing tells. So that is registered for each operation; one on the same memory shares it while
/// an operation on all of it is under way, since the program leaves the memory alone until then. Lasting memory is
/// registered once, as a whole: when it was freed, its serial tells. What no operation uses of it is bounded, and what
/// was not used for the longest time is given up first.
class Registrations {
 public:
  Registrations(Fabric& fabric, const Config& config, const ashlar_transport_context& context, Counters& counters)
      : fabric_(fabric), config_(config), context_(context), counters_(counters) {}
  ~Registrations() { clear(); }
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;

  /// A region that has [address, address + bytes), which give_back() gives back. nullptr: Fabric::reason() says why.
  Region* take(const void* address, std::uint64_t bytes, unsigned uses);
  /// `bytes`: as taken.
  void give_back(Region& region, std::uint64_t bytes);
  /// Gives up all that is idle.
  void clear() { (void)drop_idle(0, 0); }
  /// Gives up idle regions whose memory was freed, of which it looks at a few.
  void give_up_freed();

 private:
  Region* make(std::uint64_t begin, std::uint64_t bytes, unsigned uses, std::uint64_t serial);
  bool lasting(std::uint64_t begin, std::uint64_t bytes, ashlar_lasting* out) const;
  Region* take_lasting(const ashlar_lasting& memory);
  Region* shared(std::uint64_t begin, std::uint64_t bytes, unsigned uses);
  void keep(Region& region);
  void drop(Region& region);
  bool drop_idle(std::uint64_t most_bytes, std::uint64_t most_regions);

  Fabric& fabric_;
  const Config& config_;
  const ashlar_transport_context& context_;
  Counters& counters_;
  std::map<std::uint64_t, Region*> lasting_;             // by serial
  std::unordered_multimap<std::uint64_t, Region*> own_;  // of the program, which others may share, by address
  List<Region> idle_;                                    // the one that was not used for the longest time first
  std::uint64_t idle_bytes_ = 0, idle_count_ = 0;
  std::uint64_t looked_at_ = 0;  // serial of the last one that give_up_freed() looked at
};

/// A region that is given back at the end.
class HeldRegion {
 public:
  HeldRegion(Registrations& from, Region& region, std::uint64_t bytes) : from_(from), region_(region), bytes_(bytes) {}
  ~HeldRegion() { from_.give_back(region_, bytes_); }
  HeldRegion(const HeldRegion&) = delete;
  HeldRegion& operator=(const HeldRegion&) = delete;

  Region& region() const { return region_; }

 private:
  Registrations& from_;
  Region& region_;
  const std::uint64_t bytes_;
};

}  // namespace ashlar::network
