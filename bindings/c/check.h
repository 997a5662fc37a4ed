#pragma once
#include <mpi.h>

#include <climits>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/file.h"
#include "framework/object/group.h"
#include "framework/object/handle.h"
#include "framework/object/int_array.h"
#include "framework/object/leaks.h"
#include "framework/object/origin.h"
#include "framework/object/session.h"
#include "framework/object/window.h"
#include "framework/runtime/api.h"

/// What the generated entry points are made of. Tests are inline and a few instructions; everything that happens when
/// one fails is a cold function that gets the facts as arguments, makes the sentence, and takes it through the error
/// handler of `on` (nullptr: no communicator is known). `argument` is the standard's name of the argument.
namespace ashlar::bindings {

// --- state of the process --------------------------------------------------------------------------------------------
// Whether MPI runs, and what calls say that come too early or too late.

/// Whether the library is between initialisation and finalisation, of the world model or of some session.
inline bool running() {
  return predefined_objects[reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF)] != nullptr || runtime::in_sessions();
}

/// Before a call that is allowed at any time: the handles that exist outside initialisation have their objects.
using runtime::prepare;

[[gnu::cold]] int not_running(const char* call) noexcept;
[[gnu::cold]] int unsupported(const char* call, Object* on) noexcept;
template <class Handle>
inline int unsupported(const char* call, Handle on) {
  return unsupported(call, static_cast<Object*>(resolve(on)));
}
inline int unsupported(const char* call, MPI_File on) {
  File* const file = resolve(on);
  return unsupported(call, static_cast<Object*>(file ? file : &no_file()));
}
[[gnu::cold]] int failed(const char* call, Object* on, Status outcome) noexcept;

// --- handles ---------------------------------------------------------------------------------------------------------
// From handles to objects and back.

/// The datatype behind a handle if it may be used in communication.
inline Datatype* committed(MPI_Datatype handle) {
  Datatype* const type = resolve(handle);
  return type != nullptr && type->committed() ? type : nullptr;
}

/// For calls that take MPI_FILE_NULL for the files that are not open.
inline File* file_or_none(MPI_File handle) { return handle == MPI_FILE_NULL ? &no_file() : resolve(handle); }

/// What a collective gets for an argument that the standard says is not significant in this process.
inline Datatype* insignificant_type() { return resolve(MPI_BYTE); }
inline ReduceOp* insignificant_op() { return resolve(MPI_SUM); }

/// Whether MPI_DATATYPE_NULL is right, because the count says that there are no items. Such a call is made again with
/// another datatype: a branch that came back would cost every call the registers that it saves, and so would the loop
/// that the compiler makes of a function which calls itself.
inline bool is_nothing(MPI_Datatype handle, MPI_Count count) { return handle == MPI_DATATYPE_NULL && count == 0; }
template <auto entry_point, class... Arguments>
[[gnu::cold, gnu::noinline]] int again(Arguments... arguments) noexcept {
  return entry_point(arguments...);
}

[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Comm handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Group handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Datatype handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Op handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Request handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Errhandler handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Info handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Message handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Session handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_Win handle) noexcept;
[[gnu::cold]] int bad_handle(const char* call, Object* on, const char* argument, MPI_File handle) noexcept;
/// Whether `handler` may be called for an object of this kind; predefined ones may for all.
inline bool made_for(Kind kind, const Errhandler& handler) {
  return handler.action != Errhandler::Action::kCall || handler.of == kind;
}
[[gnu::cold]] int bad_errhandler(const char* call, Kind wanted, const char* argument) noexcept;
/// A datatype that is not good, or has to be committed and was not.
[[gnu::cold]] int bad_type(const char* call, Object* on, const char* argument, MPI_Datatype handle) noexcept;

/// Stores a result: the object's handle, or the null handle.
inline void store(MPI_Comm* out, Comm* o) { *out = o ? to_handle<MPI_Comm>(o) : MPI_COMM_NULL; }
inline void store(MPI_Group* out, Group* o) { *out = o ? to_handle<MPI_Group>(o) : MPI_GROUP_NULL; }
inline void store(MPI_Datatype* out, Datatype* o) { *out = o ? to_handle<MPI_Datatype>(o) : MPI_DATATYPE_NULL; }
inline void store(MPI_Op* out, ReduceOp* o) { *out = o ? to_handle<MPI_Op>(o) : MPI_OP_NULL; }
inline void store(MPI_Request* out, Request* o) { *out = o ? reinterpret_cast<MPI_Request>(o) : MPI_REQUEST_NULL; }
inline void store(MPI_Errhandler* out, Errhandler* o) { *out = o ? to_handle<MPI_Errhandler>(o) : MPI_ERRHANDLER_NULL; }
inline void store(MPI_Session* out, Session* o) { *out = o ? to_handle<MPI_Session>(o) : MPI_SESSION_NULL; }
inline void store(MPI_Info* out, Info* o) { *out = o ? to_handle<MPI_Info>(o) : MPI_INFO_NULL; }
inline void store(MPI_Win* out, Window* o) { *out = o ? to_handle<MPI_Win>(o) : MPI_WIN_NULL; }
inline void store(MPI_File* out, File* o) { *out = o ? to_handle<MPI_File>(o) : MPI_FILE_NULL; }
inline void store(MPI_Message* out, MessageObject* o) { *out = o ? to_handle<MPI_Message>(o) : MPI_MESSAGE_NULL; }

/// What an output handle is after a failure. A null pointer is the failure, and stays.
inline void clear(MPI_Comm* out) {
  if (out != nullptr) *out = MPI_COMM_NULL;
}
inline void clear(MPI_Group* out) {
  if (out != nullptr) *out = MPI_GROUP_NULL;
}
inline void clear(MPI_Datatype* out) {
  if (out != nullptr) *out = MPI_DATATYPE_NULL;
}
inline void clear(MPI_Op* out) {
  if (out != nullptr) *out = MPI_OP_NULL;
}
inline void clear(MPI_Request* out) {
  if (out != nullptr) *out = MPI_REQUEST_NULL;
}
inline void clear(MPI_Errhandler* out) {
  if (out != nullptr) *out = MPI_ERRHANDLER_NULL;
}
inline void clear(MPI_Session* out) {
  if (out != nullptr) *out = MPI_SESSION_NULL;
}
inline void clear(MPI_Info* out) {
  if (out != nullptr) *out = MPI_INFO_NULL;
}
inline void clear(MPI_Message* out) {
  if (out != nullptr) *out = MPI_MESSAGE_NULL;
}
inline void clear(MPI_Win* out) {
  if (out != nullptr) *out = MPI_WIN_NULL;
}
inline void clear(MPI_File* out) {
  if (out != nullptr) *out = MPI_FILE_NULL;
}
/// The same of a key.
inline void clear(int* keyval) {
  if (keyval != nullptr) *keyval = MPI_KEYVAL_INVALID;
}

/// Stores a handle that `call` gives to the user; with check.leaks, records which line of the program called.
template <class Handle, class T>
[[gnu::always_inline]] inline void store(const char* call, Handle* out, T* o) {
  store(out, o);
  if (leaks::watching.load(std::memory_order_relaxed) && o) [[unlikely]]
    leaks::made(*reinterpret_cast<const Object*>(o), call, __builtin_return_address(0));
}
/// The datatypes that MPI_Type_get_contents stored in `types` are the user's to free.
[[gnu::cold]] void got_contents(const char* call, Datatype& of, const MPI_Datatype* types, const void* caller) noexcept;
[[gnu::always_inline]] inline void got_contents(const char* call, Datatype& of, const MPI_Datatype* types) {
  if (leaks::watching.load(std::memory_order_relaxed)) [[unlikely]]
    got_contents(call, of, types, __builtin_return_address(0));
}
/// Stores what became of a handle of the user's.
template <class Handle, class T>
inline void replace(Handle* handle, T* o) {
  if (leaks::watching.load(std::memory_order_relaxed) && !o) [[unlikely]]
    leaks::gone(*handle);
  store(handle, o);
}
[[gnu::always_inline]] inline void got_key(const char* call, int keyval) {
  if (leaks::watching.load(std::memory_order_relaxed)) [[unlikely]]
    leaks::made_key(keyval, call, __builtin_return_address(0));
}
inline void give_up_key(int keyval) {
  if (leaks::watching.load(std::memory_order_relaxed)) [[unlikely]]
    leaks::gone_key(keyval);
}

// --- origins ---------------------------------------------------------------------------------------------------------
// With check.sessions: objects of different sessions, or of a session and the world model, are not for one call.

inline const Origin* origin_of(const Group* group) { return group != nullptr ? group->origin.get() : nullptr; }
inline const Origin* origin_of(const Comm* comm) {
  return comm != nullptr ? origin_of(comm->local_group.get()) : nullptr;
}
inline const Origin* origin_of(const Session* session) { return session != nullptr ? session->origin.get() : nullptr; }
/// MPI_GROUP_EMPTY and its like are of no origin, and go with everything.
template <class A, class B>
inline bool mixed(const A* a, const B* b) {
  if (!origins_checked.load(std::memory_order_relaxed)) [[likely]]
    return false;
  const Origin *of_a = origin_of(a), *of_b = origin_of(b);
  return of_a != nullptr && of_b != nullptr && of_a != of_b;
}
[[gnu::cold]] int bad_origins(const char* call, Object* on, const char* argument, const Origin* first,
                              const char* other_argument, const Origin* second) noexcept;

// --- numbers ---------------------------------------------------------------------------------------------------------
// Ranks, tags, counts: which are good, and what is said of the others.

inline bool is_dest(int rank, const Comm& comm) {
  return static_cast<unsigned>(rank) < static_cast<unsigned>(comm.remote_size) || rank == MPI_PROC_NULL;
}
/// Wildcards that the user promised not to use are refused with check.hints.
inline bool is_source(int rank, const Comm& comm) {
  return is_dest(rank, comm) || (rank == MPI_ANY_SOURCE && (comm.enforced & Comm::kNoAnySource) == 0);
}
inline bool is_wanted_tag(int tag, const Comm& comm) {
  return tag >= 0 || (tag == MPI_ANY_TAG && (comm.enforced & Comm::kNoAnyTag) == 0);
}
/// A rank; in an intercommunicator MPI_ROOT and MPI_PROC_NULL too.
inline bool is_root(int root, const Comm& comm) {
  return static_cast<unsigned>(root) < static_cast<unsigned>(comm.remote_size) ||
         (comm.inter && (root == MPI_ROOT || root == MPI_PROC_NULL));
}
inline bool is_at_root(int root, const Comm& comm) { return root == (comm.inter ? MPI_ROOT : comm.rank); }
/// Whether this process is a leaf of a rooted collective: everyone, or in an intercommunicator the group without root.
inline bool contributes(int root, const Comm& comm) { return !comm.inter || root >= 0; }

[[gnu::cold]] int bad_count(const char* call, Object* on, const char* argument, MPI_Count value) noexcept;
[[gnu::cold]] int bad_size(const char* call, Object* on, const char* argument, MPI_Count value) noexcept;
[[gnu::cold]] int bad_length(const char* call, Object* on, const char* argument, int value) noexcept;
[[gnu::cold]] int bad_tag(const char* call, Object* on, const char* argument, int value) noexcept;
[[gnu::cold]] int bad_any_tag(const char* call, Object* on, const char* argument, int value) noexcept;
[[gnu::cold]] int bad_dest(const char* call, Comm* on, const char* argument, int value) noexcept;
[[gnu::cold]] int bad_source(const char* call, Comm* on, const char* argument, int value) noexcept;
[[gnu::cold]] int bad_root(const char* call, Comm* on, const char* argument, int value) noexcept;
[[gnu::cold]] int too_large(const char* call, Object* on, const char* argument, MPI_Count value) noexcept;

/// A result that an int cannot hold is MPI_UNDEFINED, as the standard has it for sizes and counts.
inline int narrow(MPI_Count value) { return value > INT_MAX ? MPI_UNDEFINED : static_cast<int>(value); }

// --- addresses -------------------------------------------------------------------------------------------------------
// Buffers, and other pointers.

[[gnu::cold]] int bad_null(const char* call, Object* on, const char* argument) noexcept;
[[gnu::cold]] int bad_buffer(const char* call, Object* on, const char* argument, const void* value) noexcept;

/// Whether a buffer is one of the constants (null or MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC).
inline bool is_special(const void* buffer) { return reinterpret_cast<std::uintptr_t>(buffer) <= 2; }
/// Whether such a buffer is right all the same: nothing is to be read, or the datatype holds absolute addresses.
[[gnu::cold]] bool may_be(const void* buffer, MPI_Count count, const Datatype& type) noexcept;
[[gnu::cold]] bool may_be(const void* buffer, IntArray counts, int size, const Datatype& type) noexcept;

/// What one side of a collective has at its buffer: items, or blocks of them.
struct Side {
  Side(const Datatype* items, MPI_Count amount) : type(items), count(amount) {}
  Side(const Datatype* items, IntArray amounts, IntArray places, int n)
      : type(items), counts(amounts), displs(places), blocks(n) {}
  Side(const MPI_Datatype* each, IntArray amounts, IntArray places, int n)
      : types(each), counts(amounts), displs(places), blocks(n) {}

  const Datatype* type = nullptr;
  const MPI_Datatype* types = nullptr;  // one for each block; displacements are then in bytes
  MPI_Count count = 0;
  IntArray counts, displs;
  int blocks = 0;
};
/// Whether two sides at one address surely have a byte in common. Of different datatypes with gaps, or of blocks of
/// different ranks, that is not looked into: columns may be sent that lie between those received.
[[gnu::cold]] bool overlap(const Side& send, const Side& recv) noexcept;
[[gnu::cold]] int same_buffer(const char* call, Comm* on, const char* send, const char* recv,
                              const char* in_place) noexcept;

// --- arrays ----------------------------------------------------------------------------------------------------------

// The index of the first element that is wrong, or -1; a null array of some length is wrong in its first element.

template <class Integer>
inline MPI_Count first_negative(const Integer* values, MPI_Count size) {
  if (values == nullptr) return size > 0 ? 0 : -1;
  for (MPI_Count i = 0; i < size; ++i)
    if (values[i] < 0) return i;
  return -1;
}
/// With `counts`, the null handle is right for an element of which there are no items.
inline MPI_Count first_bad_type(const MPI_Datatype* types, MPI_Count size, bool must_be_committed,
                                IntArray counts = {}) {
  if (types == nullptr) return size > 0 ? 0 : -1;
  for (MPI_Count i = 0; i < size; ++i) {
    if ((must_be_committed ? committed(types[i]) : resolve(types[i])) != nullptr) continue;
    if (!counts || types[i] != MPI_DATATYPE_NULL || counts[static_cast<std::size_t>(i)] != 0) return i;
  }
  return -1;
}
inline MPI_Count first_bad_request(const MPI_Request* requests, int size) {
  if (requests == nullptr) return size > 0 ? 0 : -1;
  for (int i = 0; i < size; ++i)
    if (requests[i] != MPI_REQUEST_NULL && resolve(requests[i]) == nullptr) return i;
  return -1;
}

[[gnu::cold]] int bad_counts(const char* call, Object* on, const char* argument, IntArray values,
                             MPI_Count index) noexcept;
[[gnu::cold]] int bad_types(const char* call, Object* on, const char* argument, const MPI_Datatype* types,
                            MPI_Count index) noexcept;
[[gnu::cold]] int bad_requests(const char* call, Object* on, const char* argument, const MPI_Request* requests,
                               MPI_Count index) noexcept;

}  // namespace ashlar::bindings
