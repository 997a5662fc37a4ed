#include "framework/comm/hints.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "framework/coll/api.h"
#include "framework/comm/api.h"
#include "framework/comm/engine.h"
#include "framework/object/comm.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/object/memory_kinds.h"

namespace ashlar::comm {
namespace {

// The promises of MPI-5.0, 7.4.4. Code that can make use of one reads Comm::assertions.
constexpr std::pair<const char*, Comm::Assertion> kAssertions[] = {
    {"mpi_assert_no_any_tag", Comm::kNoAnyTag},
    {"mpi_assert_no_any_source", Comm::kNoAnySource},
    {"mpi_assert_exact_length", Comm::kExactLength},
    {"mpi_assert_allow_overtaking", Comm::kAllowOvertaking}};
constexpr char kAssertedKinds[] = "mpi_assert_memory_alloc_kinds";
constexpr const char* kOthers[] = {kAssertedKinds, "mpi_hw_resource_type", "mpi_pset_name"};

std::string kinds_granted(const Comm& comm) {
  const Origin* const origin = comm.local_group->origin.get();
  return origin ? origin->memory_kinds : memory_kinds::supported("");
}

void keep(CommHints& hints, const char* key, const std::string& value) {
  std::erase_if(hints.known, [&](const auto& entry) { return entry.first == key; });
  hints.known.emplace_back(key, value);
}

}  // namespace

Status write_memory_kinds(const Comm& comm, Info& info) {
  std::string kinds = kinds_granted(comm);
  if (comm.hints) {
    for (const auto& [key, value] : comm.hints->known) {
      if (key != kAssertedKinds) continue;
      kinds = value;
      ASHLAR_TRY(info::set(&info, kAssertedKinds, value.c_str()));
    }
  }
  return info::set(&info, "mpi_memory_alloc_kinds", kinds.c_str());
}

void promise_memory_kinds(Comm& comm, const Info& info) {
  const std::string* const value = info.find(kAssertedKinds);
  if (value == nullptr || !memory_kinds::within(*value, kinds_granted(comm))) return;
  auto hints = comm.hints ? std::make_shared<CommHints>(*comm.hints) : std::make_shared<CommHints>();
  keep(*hints, kAssertedKinds, *value);
  comm.hints = hints;
}

void set_hints(Comm& comm, Info* info) {
  if (!info) return;
  auto hints = std::make_shared<CommHints>();
  if (comm.hints) *hints = *comm.hints;
  for (const char* key : kOthers) {
    const std::string* value = info->find(key);
    if (!value) continue;
    // A promise about kinds that were not granted is none.
    if (key == kAssertedKinds && !memory_kinds::within(*value, kinds_granted(comm))) continue;
    keep(*hints, key, *value);
  }
  for (const auto& [key, bit] : kAssertions) {
    const std::string* value = info->find(key);
    if (!value) continue;
    if (*value == "true")
      comm.assertions = static_cast<std::uint8_t>(comm.assertions | bit);
    else if (*value == "false")
      comm.assertions = static_cast<std::uint8_t>(comm.assertions & ~bit);
  }
  if (!hints->known.empty()) comm.hints = hints;
  comm.enforced = Engine::current().check_hints ? comm.assertions : std::uint8_t{0};
}

Status set_info(Comm& comm, Info* info) {
  set_hints(comm, info);
  if (info == nullptr) return {};
  for (const auto& [key, value] : info->entries) ASHLAR_TRY(coll::prefer(comm, key.c_str(), value.c_str()));
  return {};
}

Status with_info(Status made, Info* info, Comm** comm) {
  if (!made.ok() || !*comm) return made;
  const Status set = set_info(**comm, info);
  if (!set.ok()) release(std::exchange(*comm, nullptr));
  return set;
}

Status get_info(Comm& comm, Info** info) {
  ASHLAR_TRY(info::create(info));
  for (const auto& [key, bit] : kAssertions)
    ASHLAR_TRY(info::set(*info, key, comm.assertions & bit ? "true" : "false"));
  if (comm.hints)
    for (const auto& [key, value] : comm.hints->known) ASHLAR_TRY(info::set(*info, key.c_str(), value.c_str()));
  return write_memory_kinds(comm, **info);
}

}  // namespace ashlar::comm
