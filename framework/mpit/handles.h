#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/arena.h"

/// Handles of the tools interface. As behind MPI's own handles, the objects lie in the arena and begin with a word that
/// says what they are, so a freed, foreign or invented handle is an error and not a crash.
namespace ashlar::mpit {

enum class Tag : std::uint32_t {
  kEnum = 0x6d756e65,
  kCvar = 0x72617663,
  kPvar = 0x72617670,
  kSession = 0x73736573,
  kRegistration = 0x74737267,
};

/// The first word of every object behind a handle of the tools interface.
struct Tagged {
  explicit constexpr Tagged(Tag t) : tag(t) {}
  const Tag tag;
};

struct Enumeration;
struct CvarHandle;
struct PvarHandle;
struct PvarSession;
struct Registration;

template <class T>
T* resolve_as(const void* handle, Tag tag) {
  if (!Arena::contains(handle) || static_cast<const Tagged*>(handle)->tag != tag) return nullptr;
  return reinterpret_cast<T*>(const_cast<void*>(handle));
}

inline Enumeration* resolve(MPI_T_enum h) { return resolve_as<Enumeration>(h, Tag::kEnum); }
inline CvarHandle* resolve(MPI_T_cvar_handle h) { return resolve_as<CvarHandle>(h, Tag::kCvar); }
inline PvarHandle* resolve(MPI_T_pvar_handle h) { return resolve_as<PvarHandle>(h, Tag::kPvar); }
inline PvarSession* resolve(MPI_T_pvar_session h) { return resolve_as<PvarSession>(h, Tag::kSession); }
inline Registration* resolve(MPI_T_event_registration h) { return resolve_as<Registration>(h, Tag::kRegistration); }

}  // namespace ashlar::mpit
