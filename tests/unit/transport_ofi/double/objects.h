#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/unit/transport_ofi/double/double.h"

namespace ofi_double {

struct Domain;

struct Region {
  fid_mr mr = {};
  Domain* domain = nullptr;
  const std::byte* base = nullptr;
  std::size_t length = 0;
  std::uint64_t access = 0;
  struct Endpoint* endpoint = nullptr;  // that it is bound to
  bool usable = false;
  unsigned used = 0;  // by operations under way
};

struct Domain {
  fid_domain fid = {};
  int mr_mode = 0;
  unsigned card = 0;                         // its number, from 1 on; 0: the device that is none
  std::map<std::uint64_t, Region*> regions;  // by key
};

struct Completions {
  fid_cq fid = {};
  std::size_t room = 0;
  std::deque<fi_cq_err_entry> done;  // err 0: a good one
  struct Endpoint* endpoint = nullptr;
  int descriptor = -1;  // that users sleep on

  /// There is something to look at.
  void wake() const;
};

/// Notes the rule; a process that was set up by OFI_DOUBLE ends.
void broken(const char* rule);

struct Addresses {
  fid_av fid = {};
  std::vector<std::uint64_t> all;  // 0: it was removed

  std::uint64_t at(fi_addr_t which) const {
    if (all[which] == 0) broken("an address that was removed");
    return all[which];
  }
};

struct Operation {
  enum class What { kSend, kInject, kRead, kWrite, kTagged, kPeek, kCancel } what;
  std::uint64_t to;
  std::byte* memory;
  std::size_t length;
  std::vector<std::byte> copy;  // kInject
  std::uint64_t address, key;   // kRead, kWrite
  Region* region;
  void* context;
  unsigned wait;
  std::uint64_t tag, ignored, data;  // kTagged; kPeek
};

/// A tagged message at its receiver that no receive has taken.
struct TaggedMessage {
  std::uint64_t from, tag, data;
  std::vector<std::byte> bytes;
};

struct TaggedReceive {
  std::uint64_t from, tag, ignored;
  std::byte* memory;
  std::size_t length;
  Region* region;
  void* context;
  unsigned wait = 0;  // looks until it takes a message
};

/// A buffer that takes messages one behind the other.
struct MultiReceive {
  std::size_t taken = 0;   // bytes
  unsigned under_way = 0;  // messages that are not there yet
  bool is_consumed = false;
};

struct Receive {
  std::byte* memory;
  std::size_t length;
  Region* region;
  void* context;
  std::shared_ptr<MultiReceive> multi;  // nullptr: it is for one message

  /// A message is there, or never will be. Whether the buffer is the user's again.
  bool ends() const { return multi == nullptr || (--multi->under_way == 0 && multi->is_consumed); }
};

/// A long message that has its receive.
struct SlowMessage {
  Receive to;
  std::vector<std::byte> bytes;
  unsigned wait;  // looks
};

struct Endpoint {
  fid_ep fid = {};
  std::uint64_t address = 0;
  Domain* domain = nullptr;
  Completions* completions = nullptr;
  Addresses* peers = nullptr;
  std::deque<Operation> started;
  std::deque<Receive> receives;
  std::deque<std::vector<std::byte>> arrived;
  std::vector<SlowMessage> slow;
  std::deque<TaggedMessage> tagged;
  std::deque<TaggedReceive> tagged_receives;
  unsigned refusals = 0;
  std::size_t least_multi_receive = 0;  // FI_OPT_MIN_MULTI_RECV

  /// Takes operations and arrivals on.
  void progress();
  /// A receive takes the oldest message that fits, or waits for one.
  void receive(const TaggedReceive& receive);
  void give(const TaggedReceive& receive, const TaggedMessage& message);
  /// Receives that have waited as they should take what is there.
  void look_for_messages();

 private:
  bool may_receive() const;
  /// Where a message of so many bytes goes.
  Receive take_receive(std::size_t length);
  void give(const Receive& to, const std::vector<std::byte>& message);
  void finish(void* context, std::uint64_t flags, std::size_t length, int error, std::uint64_t tag = 0,
              std::uint64_t data = 0, void* at = nullptr);
  int transfer(const Operation& operation);
  void deliver(TaggedMessage&& message);
  void peek(const Operation& operation);
  void cancel(const Operation& operation);
};

/// A table of functions with those that `fill` sets. All objects of a kind share one static table, which is filled
/// once: an object may be opened while other threads read the table.
template <class Table, class Fill>
Table table(const Fill& fill) {
  Table made = {};
  made.size = sizeof made;
  fill(made);
  return made;
}

/// The functions of endpoints. `found` by address: those that are open.
std::map<std::uint64_t, Endpoint*>& endpoints();
void give_functions(Endpoint& endpoint);
void give_tag_functions(Endpoint& endpoint);
int set_option(fid* object, int level, int option, const void* value, std::size_t length);
/// Whether operations are refused now.
bool refuses(Endpoint& endpoint);
/// Memory of an operation, where the provider asks that it is registered. False: a rule is broken.
bool registered(const Endpoint& endpoint, const void* memory, std::size_t length, void* description,
                std::uint64_t access, Region** out);
Operation made(const Endpoint& endpoint, Operation::What what, const void* memory, std::size_t length, fi_addr_t to,
               Region* region, void* context);
/// FI_CONTEXT2: the provider writes there while it has the operation.
void mark(void* context);
void check_mark(const void* context);
/// Lanes of several threads share the double.
std::unique_lock<std::recursive_mutex> guard();

}  // namespace ofi_double
