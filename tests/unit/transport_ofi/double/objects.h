#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <deque>
#include <map>
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
  bool bound = false, usable = false;
  unsigned used = 0;  // by operations under way
};

struct Domain {
  fid_domain fid = {};
  int mr_mode = 0;
  std::map<std::uint64_t, Region*> regions;  // by key
};

struct Completions {
  fid_cq fid = {};
  std::size_t room = 0;
  std::deque<fi_cq_err_entry> done;  // err 0: a good one
  struct Endpoint* endpoint = nullptr;
};

struct Addresses {
  fid_av fid = {};
  std::vector<std::uint64_t> all;
};

struct Operation {
  enum class What { kSend, kInject, kRead, kWrite } what;
  std::uint64_t to;
  std::byte* memory;
  std::size_t length;
  std::vector<std::byte> copy;  // kInject
  std::uint64_t address, key;   // kRead, kWrite
  Region* region;
  void* context;
  unsigned wait;
};

struct Receive {
  std::byte* memory;
  std::size_t length;
  Region* region;
  void* context;
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
  unsigned refusals = 0;

  /// Takes operations and arrivals on.
  void progress();

 private:
  void finish(void* context, std::uint64_t flags, std::size_t length, int error);
  int transfer(const Operation& operation);
};

/// The functions of endpoints. `found` by address: those that are open.
std::map<std::uint64_t, Endpoint*>& endpoints();
void give_functions(Endpoint& endpoint);
/// Notes the rule; a process that was set up by OFI_DOUBLE ends.
void broken(const char* rule);
/// Lanes of several threads share the double.
std::unique_lock<std::recursive_mutex> guard();

}  // namespace ofi_double
