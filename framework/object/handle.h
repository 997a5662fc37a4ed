#pragma once
#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "framework/base/arena.h"
#include "framework/object/object.h"

/// Handle <-> object. A raw MPI handle lives one line in the bindings; below them there are references.
namespace ashlar {

class Comm;
class Group;
class Datatype;
class ReduceOp;
class Errhandler;
class Info;
class Request;
class Session;
class Window;
class File;
struct MessageObject;

inline constexpr std::uintptr_t kPredefinedLimit = 4096;

/// Objects behind predefined handles, by the handle's value; null where there is none (the null handles, or before
/// initialisation for communicators).
extern Object* predefined_objects[kPredefinedLimit];

namespace detail {

/// The object of kind `kind` behind `handle`, or nullptr: null handle, freed handle, or not a handle at all.
template <class T>
inline T* resolve_as(const void* handle, Kind kind) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  const Object* object;
  if (bits >= kPredefinedLimit) [[likely]] {
    if (!Arena::contains(handle)) [[unlikely]]
      return nullptr;
    object = static_cast<const Object*>(handle);
  } else {
    object = predefined_objects[bits];
    if (!object) [[unlikely]]
      return nullptr;
  }
  if (object->kind != kind) [[unlikely]]
    return nullptr;
  return reinterpret_cast<T*>(const_cast<Object*>(object));
}

}  // namespace detail

inline Comm* resolve(MPI_Comm h) { return detail::resolve_as<Comm>(h, Kind::kComm); }
inline Group* resolve(MPI_Group h) { return detail::resolve_as<Group>(h, Kind::kGroup); }
inline Datatype* resolve(MPI_Datatype h) { return detail::resolve_as<Datatype>(h, Kind::kDatatype); }
inline ReduceOp* resolve(MPI_Op h) { return detail::resolve_as<ReduceOp>(h, Kind::kReduceOp); }
inline Errhandler* resolve(MPI_Errhandler h) { return detail::resolve_as<Errhandler>(h, Kind::kErrhandler); }
inline Info* resolve(MPI_Info h) { return detail::resolve_as<Info>(h, Kind::kInfo); }
inline Session* resolve(MPI_Session h) { return detail::resolve_as<Session>(h, Kind::kSession); }
inline Window* resolve(MPI_Win h) { return detail::resolve_as<Window>(h, Kind::kWin); }
inline File* resolve(MPI_File h) { return detail::resolve_as<File>(h, Kind::kFile); }
/// No request is predefined, so every small value is none.
inline Request* resolve(MPI_Request h) {
  if (!Arena::contains(h) || reinterpret_cast<const Object*>(h)->kind != Kind::kRequest) [[unlikely]]
    return nullptr;
  return reinterpret_cast<Request*>(h);
}
inline MessageObject* resolve(MPI_Message h) { return detail::resolve_as<MessageObject>(h, Kind::kMessage); }

/// The handle of an object: its predefined constant when it has one, else its address. `object` is not null.
inline void* handle_bits(Object* object) {
  return object->predefined ? reinterpret_cast<void*>(std::uintptr_t{object->predefined}) : static_cast<void*>(object);
}
/// Every class behind a handle starts with its Object; the cast needs no complete type.
template <class Handle, class T>
inline Handle to_handle(T* object) {
  return reinterpret_cast<Handle>(handle_bits(reinterpret_cast<Object*>(object)));
}

}  // namespace ashlar
