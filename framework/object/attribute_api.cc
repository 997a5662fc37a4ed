#include "framework/object/attribute_api.h"

#include "framework/object/attribute_table.h"
#include "framework/object/comm.h"
#include "framework/object/error_text.h"
#include "framework/object/handle.h"

namespace ashlar::attribute {

Predefined predefined;

namespace {

/// The address of a predefined attribute's value, or nullptr when it is not set; false: not a predefined key.
bool predefined_value(int keyval, int** value) {
  switch (keyval) {
    case MPI_TAG_UB:
      *value = &predefined.tag_ub;
      return true;
    case MPI_HOST:
      *value = &predefined.host;
      return true;
    case MPI_IO:
      *value = &predefined.io;
      return true;
    case MPI_WTIME_IS_GLOBAL:
      *value = &predefined.wtime_is_global;
      return true;
    case MPI_APPNUM:
      *value = predefined.has_appnum ? &predefined.appnum : nullptr;
      return true;
    case MPI_UNIVERSE_SIZE:
      *value = predefined.has_universe_size ? &predefined.universe_size : nullptr;
      return true;
    case MPI_LASTUSEDCODE:
      predefined.last_used_code = last_used_code();
      *value = &predefined.last_used_code;
      return true;
    default:
      return false;
  }
}

Status refuse_predefined(int keyval) {
  int* value = nullptr;
  if (!predefined_value(keyval, &value)) return {};
  return Status::fail(MPI_ERR_KEYVAL, "argument keyval is %d, a predefined key whose value cannot be changed", keyval);
}

Holder holder_of(Comm& comm) {
  return {Kind::kComm, "communicators", comm.name.c_str(), &comm.attributes, to_handle<MPI_Comm>(&comm)};
}

}  // namespace

Status comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                          void* extra_state) {
  const bool is_dup = copy == MPI_COMM_DUP_FN;
  return create_keyval(Kind::kComm, is_dup ? nullptr : reinterpret_cast<Function>(copy), is_dup,
                       reinterpret_cast<Function>(remove), extra_state, keyval);
}

Status comm_free_keyval(int* keyval) {
  ASHLAR_TRY(refuse_predefined(*keyval));
  return free_keyval(Kind::kComm, "communicators", keyval);
}

Status comm_set(Comm& comm, int keyval, void* value) {
  ASHLAR_TRY(refuse_predefined(keyval));
  return set(holder_of(comm), keyval, value);
}

Status comm_get(Comm& comm, int keyval, void* value, int* flag) {
  int* number = nullptr;
  if (predefined_value(keyval, &number)) {
    // Of these, communicators of sessions have one (MPI-5.0, 9.1.2); the other keys are good, and without value.
    const Origin* const origin = comm.local_group ? comm.local_group->origin.get() : nullptr;
    if (origin && origin->of_session && keyval != MPI_TAG_UB) number = nullptr;
    *flag = number != nullptr;
    if (number) *static_cast<int**>(value) = number;
    return {};
  }
  return get(holder_of(comm), keyval, value, flag);
}

Status comm_delete(Comm& comm, int keyval) {
  ASHLAR_TRY(refuse_predefined(keyval));
  return remove(holder_of(comm), keyval);
}

Status win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* keyval,
                         void* extra_state) {
  const bool is_dup = copy == MPI_WIN_DUP_FN;
  return create_keyval(Kind::kWin, is_dup ? nullptr : reinterpret_cast<Function>(copy), is_dup,
                       reinterpret_cast<Function>(remove), extra_state, keyval);
}

Status win_free_keyval(int* keyval) { return free_keyval(Kind::kWin, "windows", keyval); }

Status copy_all(Comm& from, Comm& to) { return copy_all(holder_of(from), holder_of(to)); }

Status delete_all(Comm& comm) { return delete_all(holder_of(comm)); }

}  // namespace ashlar::attribute
