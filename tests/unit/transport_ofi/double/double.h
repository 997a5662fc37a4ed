#pragma once
#include <cstddef>
#include <cstdint>

/// A libfabric.so.1 for tests, with one provider, "double", or by the name "double;tcp" one over connections of the
/// system. Its endpoints are in one process, and it does what providers of network cards may do: asks for memory modes,
/// refuses operations, completes late, fails. It watches that its user keeps libfabric's rules.
namespace ofi_double {

/// Set before an endpoint is opened: mr_mode, inject, sends, those of cards. The others count at any time. A program
/// that does not know the double sets them by OFI_DOUBLE in the environment: "mr_mode=4,again=3".
struct Settings {
  int mr_mode = 0;
  std::size_t inject = 64, sends = 64;
  unsigned again = 0;              // times that each operation is refused (FI_EAGAIN) before it is taken
  unsigned late = 0;               // looks at the completion queue until an operation takes place
  unsigned puts = 0;               // 1: they need nothing of the peer's program; 2: so it says, but drops them
  unsigned tag_bits = 64;          // 0: no tagged messages
  unsigned slow_from = 0;          // bytes from which a message is there some looks later than its receive is taken
  unsigned wakes = 0;              // a descriptor to sleep on: 0: none; 1: one; 2: one that is never readable
  bool slow_stay = false;          // those are there only some looks after this is false
  unsigned multi_receive = 0;      // FI_MULTI_RECV: 0: none; 1: the last message tells the release; 2: it is told apart
  unsigned stray = 0;              // bytes that arrive in front of each message, as one of their own
  unsigned slow_receives = 0;      // looks until a tagged receive finds a message that was there before it
  unsigned cards = 0;              // "memory0" ... on a bus; 0: one device that is none
  unsigned card_without_link = 0;  // the so-many-th; 0: each has one
  unsigned slow_card = 0;          // the so-many-th
  unsigned failing_card = 0;       // reads over it fail
  unsigned dead_card = 0;          // nothing that was posted there ends
  unsigned foreign_card = 0;       // reads over it lead to other processes
  std::size_t regions = SIZE_MAX;  // that may be registered at one time
  std::size_t longest = SIZE_MAX;  // bytes of an operation
  // The so-many-th operation of its kind, from now, ends with an error; 0: none does.
  unsigned fail_send = 0, fail_receive = 0, fail_read = 0;
};

struct Seen {
  unsigned sends = 0, injects = 0, reads = 0, writes = 0, receives = 0, multi_receives = 0, refused = 0;
  unsigned tagged = 0, peeks = 0, cancels = 0;
  unsigned removed = 0;  // addresses
  unsigned regions = 0;  // registered now
  unsigned registrations = 0;
  unsigned logs = 0, monitors = 0;                  // that the user gave in place of libfabric's
  unsigned endpoints = 0;                           // that are open
  unsigned card_reads[8] = {}, card_looks[8] = {};  // by card, from 1 on; 0: the device that is no card
  char broken[200] = "";                            // the first rule that was broken
};

}  // namespace ofi_double

extern "C" {
extern ofi_double::Settings ofi_double_settings;
extern ofi_double::Seen ofi_double_seen;
}
