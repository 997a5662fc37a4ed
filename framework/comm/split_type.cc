// Splits by what processes have in common: memory, hardware, process sets.
#include <mpi.h>
#include <strings.h>

#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/comm/api.h"
#include "framework/comm/context.h"
#include "framework/comm/engine.h"
#include "framework/comm/hardware.h"
#include "framework/comm/hints.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/make.h"
#include "framework/comm/outside.h"
#include "framework/comm/split.h"
#include "framework/object/comm.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/progress/user_call.h"

namespace ashlar::comm {
namespace {

constexpr const char* kResourceType = "mpi_hw_resource_type";

/// One number for an instance of some resource on this node.
int color_of(const Comm& comm, std::int64_t instance) {
  const auto node = static_cast<int>(own_node_in(comm));
  return instance < 0 ? MPI_UNDEFINED : (node << 14 | static_cast<int>(instance & 0x3fff)) & 0x7fffffff;
}

/// Splits, and sets the info key by which the communicator says what its members have in common.
Status split_with_hint(Comm& comm, int color, int key, const char* info_key, const char* value, Comm** result) {
  ASHLAR_TRY(split(comm, color, key, result));
  if (!*result) return {};
  Info* hint = nullptr;
  ASHLAR_TRY(info::create(&hint));
  const Status set = info::set(hint, info_key, value);
  if (set.ok()) set_hints(**result, hint);
  release(hint);
  return set;
}

Status by_process_set(Comm& comm, const std::string& name, int key, Comm** result) {
  int color = MPI_UNDEFINED;  // a set that is not known has no members
  if (strcasecmp(name.c_str(), "mpi://SELF") == 0) {
    // Of an intercommunicator such a part has nobody on the other side.
    color = comm.inter ? MPI_UNDEFINED : comm.rank;
  } else if (strcasecmp(name.c_str(), "ashlar://NODE") == 0) {
    color = color_of(comm, 0);
  } else if (Engine::current().services.in_process_set(name.c_str())) {
    // Ranks may name different sets: each is a colour.
    Hash hash;
    for (const char c : name) hash.add_byte(static_cast<std::uint8_t>(std::tolower(static_cast<unsigned char>(c))));
    color = static_cast<int>(hash.value() & 0x7fffffff);
  }
  return split_with_hint(comm, color, key, "mpi_pset_name", name.c_str(), result);
}

Status guided(Comm& comm, bool by_sets_too, int key, Info* info, Comm** result) {
  const std::string* wanted = info ? info->find(kResourceType) : nullptr;
  const std::string* set = info && by_sets_too ? info->find("mpi_pset_name") : nullptr;
  if (!wanted && set) return by_process_set(comm, *set, key, result);
  if (!wanted) return split(comm, MPI_UNDEFINED, key, result);
  // No process is restricted to a resource that is not known.
  const int color = color_of(comm, resource_instance(*wanted));
  return split_with_hint(comm, color, key, kResourceType, wanted->c_str(), result);
}

using Instances = std::array<std::int64_t, kComparedTypes.size()>;
constexpr std::int64_t kNotInvolved = -3;

/// The first exchange of every split, with what this rank has to say in it.
Status announce(Comm& comm, int color, int key, bool* unguided) {
  const std::int64_t mine = choice_word(color, key);
  std::vector<std::int64_t> ours, theirs;
  ASHLAR_TRY(gather_words(comm.inter ? *comm.local_comm : comm, &mine, 1, &ours));
  if (comm.inter) ASHLAR_TRY(span_of(comm).trade(ours, &theirs));
  *unguided = false;
  for (const std::int64_t word : ours) *unguided = *unguided || choice_color(word) == kUnguidedMark;
  return {};
}

/// By the widest type of resource whose instances divide the members of `comm` that are involved.
Status unguided(Comm& comm, bool involved, int key, Comm** result) {
  Instances mine;
  for (std::size_t type = 0; type < mine.size(); ++type)
    mine[type] = involved ? color_of(comm, resource_instance(kComparedTypes[type])) : kNotInvolved;
  std::vector<std::int64_t> all;
  ASHLAR_TRY(gather_words(comm, mine.data(), static_cast<int>(mine.size()), &all));
  for (std::size_t type = 0; type < mine.size(); ++type) {
    std::int64_t first = kNotInvolved;
    for (std::size_t at = type; at < all.size(); at += mine.size()) {
      if (all[at] == kNotInvolved || all[at] == first) continue;
      if (first == kNotInvolved) {
        first = all[at];
        continue;
      }
      const int color = involved ? static_cast<int>(mine[type]) : MPI_UNDEFINED;
      return split_with_hint(comm, color, key, kResourceType, kComparedTypes[type], result);
    }
  }
  return split(comm, MPI_UNDEFINED, key, result);
}

/// With MPI_UNDEFINED: takes part in whatever the others do.
Status not_involved(Comm& comm, int key) {
  bool others_unguided = false;
  ASHLAR_TRY(announce(comm, MPI_UNDEFINED, key, &others_unguided));
  Comm* none = nullptr;
  if (others_unguided) return unguided(comm, false, key, &none);
  std::uint32_t context = 0;
  return take_id(comm, &context);
}

Status split_by(Comm& comm, int type, int key, Info* info, Comm** result) {
  *result = nullptr;
  switch (type) {
    case MPI_UNDEFINED:
      return not_involved(comm, key);
    case MPI_COMM_TYPE_SHARED:
      return split(comm, color_of(comm, 0), key, result);
    case MPI_COMM_TYPE_HW_GUIDED:
      return guided(comm, false, key, info, result);
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return guided(comm, true, key, info, result);
    case MPI_COMM_TYPE_HW_UNGUIDED:
      if (!comm.inter) {
        bool known = false;
        ASHLAR_TRY(announce(comm, kUnguidedMark, key, &known));
        return unguided(comm, true, key, result);
      }
      return fail(MPI_ERR_COMM, "comm.split_inter", {{"argument", "comm"}, {"value", comm.name}});
    default:
      return fail(MPI_ERR_ARG, "argument.value",
                  {{"argument", "split_type"}, {"value", type}, {"wanted", "one of the MPI_COMM_TYPE_ constants"}});
  }
}

}  // namespace

Status split_type(Comm& comm, int type, int key, Info* info, Comm** result) {
  const progress::UserCall call("MPI_Comm_split_type", &comm);
  const Status made = with_info(split_by(comm, type, key, info, result), info, result);
  if (!made.ok() || type != MPI_COMM_TYPE_HW_UNGUIDED || !*result || !info) return made;
  // The caller's info object, too, tells what was found (MPI-5.0, 7.4.2).
  for (const auto& [name, value] : (*result)->hints->known)
    if (name == kResourceType) return info::set(info, kResourceType, value.c_str());
  return made;
}

}  // namespace ashlar::comm
