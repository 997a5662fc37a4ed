#include "framework/object/attribute_api.h"

#include <algorithm>
#include <iterator>

#include "framework/base/failure.h"
#include "framework/object/attribute_table.h"
#include "framework/object/comm.h"
#include "framework/object/error_text.h"
#include "framework/object/handle.h"
#include "framework/object/window.h"

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

/// The same for windows, of which every one has its own values; MPI_WIN_BASE's is an address itself.
bool predefined_value(Window& window, int keyval, void** value) {
  switch (keyval) {
    case MPI_WIN_BASE:
      *value = window.base;
      return true;
    case MPI_WIN_SIZE:
      *value = &window.size;
      return true;
    case MPI_WIN_DISP_UNIT:
      *value = &window.disp_unit;
      return true;
    case MPI_WIN_CREATE_FLAVOR:
      *value = &window.create_flavor;
      return true;
    case MPI_WIN_MODEL:
      *value = &window.model;
      return true;
    default:
      return false;
  }
}

/// Keys that the standard fixed can be read, on objects of their class, and that is all.
Status refuse_predefined(int keyval) {
  constexpr int kFixed[] = {MPI_TAG_UB,
                            MPI_IO,
                            MPI_HOST,
                            MPI_WTIME_IS_GLOBAL,
                            MPI_APPNUM,
                            MPI_LASTUSEDCODE,
                            MPI_UNIVERSE_SIZE,
                            MPI_WIN_BASE,
                            MPI_WIN_DISP_UNIT,
                            MPI_WIN_SIZE,
                            MPI_WIN_CREATE_FLAVOR,
                            MPI_WIN_MODEL};
  if (std::ranges::find(kFixed, keyval) == std::end(kFixed)) return {};
  return fail(MPI_ERR_KEYVAL, "key.fixed", {{"argument", "keyval"}, {"value", keyval}});
}

Holder holder_of(Comm& comm) {
  return {Kind::kComm, "communicators", comm.name.c_str(), &comm.attributes, to_handle<MPI_Comm>(&comm)};
}
Holder holder_of(Window& window) {
  return {Kind::kWin, "windows", window.name.c_str(), &window.attributes, to_handle<MPI_Win>(&window)};
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

Status win_free_keyval(int* keyval) {
  ASHLAR_TRY(refuse_predefined(*keyval));
  return free_keyval(Kind::kWin, "windows", keyval);
}

Status win_set(Window& window, int keyval, void* value) {
  ASHLAR_TRY(refuse_predefined(keyval));
  return set(holder_of(window), keyval, value);
}

Status win_get(Window& window, int keyval, void* value, int* flag) {
  void* fixed = nullptr;
  if (keyval == MPI_WIN_DISP_UNIT && window.disp_unit == 0)
    return fail(MPI_ERR_DISP, "window.unit_too_large", {{"window", window.name.c_str()}});
  if (!predefined_value(window, keyval, &fixed)) return get(holder_of(window), keyval, value, flag);
  *static_cast<void**>(value) = fixed;
  *flag = 1;
  return {};
}

Status win_delete(Window& window, int keyval) {
  ASHLAR_TRY(refuse_predefined(keyval));
  return remove(holder_of(window), keyval);
}

Status copy_all(Comm& from, Comm& to) { return copy_all(holder_of(from), holder_of(to)); }

Status delete_all(Comm& comm) { return delete_all(holder_of(comm)); }

Status delete_all(Window& window) { return delete_all(holder_of(window)); }

}  // namespace ashlar::attribute
