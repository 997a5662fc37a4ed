#include "framework/mpit/api.h"
#include "framework/mpit/bound.h"
#include "framework/mpit/cvars.h"
#include "framework/mpit/ending.h"
#include "framework/mpit/limits.h"
#include "framework/mpit/no_memory.h"
#include "framework/mpit/pool.h"
#include "framework/mpit/pool_pvars.h"
#include "framework/mpit/text.h"
#include "framework/runtime/threads.h"

namespace ashlar::mpit {
namespace {

HandlePool<CvarHandle>& handles() {
  static HandlePool<CvarHandle>& all = *new HandlePool<CvarHandle>;
  return all;
}

}  // namespace

std::uint64_t cvar_handles() { return handles().out(); }

int cvar_get_num(int* num) {
  return or_no_memory([&] {
    *num = cvars().size();
    return MPI_SUCCESS;
  });
}

int cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype, MPI_T_enum* enumtype,
                  char* desc, int* desc_len, int* bind, int* scope) {
  return or_no_memory([&] {
    const Cvar* const cvar = cvars().at(index);
    if (cvar == nullptr) return MPI_T_ERR_INVALID_INDEX;
    give_text(cvar->name, name, name_len);
    give(verbosity, cvar->verbosity);
    if (datatype != nullptr) *datatype = cvar->datatype;
    if (enumtype != nullptr) *enumtype = cvar->words ? cvar->words->handle() : MPI_T_ENUM_NULL;
    give_text(cvar->description, desc, desc_len);
    give(bind, cvar->bind);
    give(scope, cvar->scope);
    return MPI_SUCCESS;
  });
}

int cvar_get_index(const char* name, int* index) {
  return or_no_memory([&] {
    const int found = cvars().find(name);
    if (found < 0) return MPI_T_ERR_INVALID_NAME;
    *index = found;
    return MPI_SUCCESS;
  });
}

int cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count) {
  return or_no_memory([&] {
    const Cvar* const cvar = cvars().at(index);
    if (cvar == nullptr) return MPI_T_ERR_INVALID_INDEX;
    Bound bound;
    // Without an object the handle is bound to none, and every use of it fails: tools that set control variables (TAU)
    // make a handle of each variable before they look at any, and give up at the first that they do not get.
    if (cvar->bind == MPI_T_BIND_MPI_COMM && object != nullptr && !bound.bind(object)) return MPI_T_ERR_INVALID_HANDLE;
    CvarHandle* const made = handles().take(limits().handle_limit);
    if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
    made->cvar = cvar;
    made->bound = bound;
    made->count = cvars().count(*cvar);
    *handle = reinterpret_cast<MPI_T_cvar_handle>(made);
    *count = made->count;
    return MPI_SUCCESS;
  });
}

int cvar_handle_free(MPI_T_cvar_handle* handle) {
  CvarHandle* const object = resolve(*handle);
  if (object == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  handles().put(object);
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int cvar_read(CvarHandle& handle, void* buf) {
  return or_no_memory([&] {
    const Cvar& cvar = *handle.cvar;
    if (cvar.of_comm == nullptr) return cvars().read(cvar, buf, handle.count);
    const Comm* const comm = handle.bound.comm();
    if (!runtime::may_look_into_lanes()) return static_cast<int>(MPI_T_ERR_NOT_ACCESSIBLE);
    return comm ? cvar.of_comm->read(*comm, cvar.of_comm->which, buf, handle.count) : MPI_T_ERR_INVALID_HANDLE;
  });
}

int cvar_write(CvarHandle& handle, const void* buf) {
  return or_no_memory([&] {
    const Cvar& cvar = *handle.cvar;
    if (cvar.of_comm == nullptr) return cvars().write(cvar, buf, handle.count);
    Comm* const comm = handle.bound.comm();
    if (!runtime::may_look_into_lanes()) return static_cast<int>(MPI_T_ERR_CVAR_SET_NOT_NOW);
    return comm ? cvar.of_comm->write(*comm, cvar.of_comm->which, buf, handle.count) : MPI_T_ERR_INVALID_HANDLE;
  });
}

void end_cvar_handles() {
  for (CvarHandle* handle : handles().all()) handles().put(handle);
}

}  // namespace ashlar::mpit
