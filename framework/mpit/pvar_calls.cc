#include <algorithm>
#include <new>

#include "framework/mpit/api.h"
#include "framework/mpit/ending.h"
#include "framework/mpit/limits.h"
#include "framework/mpit/marks.h"
#include "framework/mpit/no_memory.h"
#include "framework/mpit/pool.h"
#include "framework/mpit/pool_pvars.h"
#include "framework/mpit/pvar_handle.h"
#include "framework/mpit/text.h"

namespace ashlar::mpit {
namespace {

HandlePool<PvarHandle>& handles() {
  static HandlePool<PvarHandle>& all = *new HandlePool<PvarHandle>;
  return all;
}
HandlePool<PvarSession>& sessions() {
  static HandlePool<PvarSession>& all = *new HandlePool<PvarSession>;
  return all;
}

void free_handle(PvarHandle& handle) {
  if (handle.pvar->marks()) (void)handle.stop();
  handles().put(&handle);
}

/// Does `act` to one handle of the session, or to all that it applies to. `skip`: those that it does not apply to.
template <class Act, class Skip>
int for_handles(PvarSession& session, PvarHandle* one, int failed, Act act, Skip skip) {
  if (one != nullptr) return one->session == &session ? act(*one) : MPI_T_ERR_INVALID_HANDLE;
  const std::lock_guard guard(session.mutex);
  int outcome = MPI_SUCCESS;
  for (PvarHandle* handle : session.handles) {
    if (!skip(*handle) && act(*handle) != MPI_SUCCESS) outcome = failed;
  }
  return outcome;
}

}  // namespace

std::uint64_t pvar_handles() { return handles().out(); }
std::uint64_t pvar_sessions() { return sessions().out(); }

int pvar_get_num(int* num) {
  return or_no_memory([&] {
    *num = pvars().size();
    return MPI_SUCCESS;
  });
}

int pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
                  MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                  int* atomic) {
  return or_no_memory([&] {
    const Pvar* const pvar = pvars().at(index);
    if (pvar == nullptr) return MPI_T_ERR_INVALID_INDEX;
    give_text(pvar->name, name, name_len);
    give(verbosity, pvar->verbosity);
    give(var_class, pvar->kind);
    if (datatype != nullptr) *datatype = pvar->datatype();
    if (enumtype != nullptr) *enumtype = pvar->words ? pvar->words->handle() : MPI_T_ENUM_NULL;
    give_text(pvar->description, desc, desc_len);
    give(bind, pvar->bind);
    give(readonly, pvar->readonly);
    give(continuous, pvar->continuous);
    give(atomic, pvar->atomic);
    return MPI_SUCCESS;
  });
}

int pvar_get_index(const char* name, int var_class, int* index) {
  return or_no_memory([&] {
    const int found = pvars().find(name, var_class);
    if (found < 0) return MPI_T_ERR_INVALID_NAME;
    *index = found;
    return MPI_SUCCESS;
  });
}

int pvar_session_create(MPI_T_pvar_session* session) {
  return or_no_memory([&] {
    PvarSession* const made = sessions().take(limits().session_limit);
    if (made == nullptr) return MPI_T_ERR_OUT_OF_SESSIONS;
    *session = reinterpret_cast<MPI_T_pvar_session>(made);
    return MPI_SUCCESS;
  });
}

int pvar_session_free(MPI_T_pvar_session* session) {
  PvarSession* const object = resolve(*session);
  if (object == nullptr) return MPI_T_ERR_INVALID_SESSION;
  for (PvarHandle* handle : object->handles) free_handle(*handle);
  sessions().put(object);
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int pvar_handle_alloc(PvarSession& session, int index, void* object, MPI_T_pvar_handle* handle, int* count) {
  return or_no_memory([&] {
    Pvar* const pvar = pvars().at(index);
    if (pvar == nullptr) return MPI_T_ERR_INVALID_INDEX;
    Bound bound;
    if (pvar->bind == MPI_T_BIND_MPI_COMM && !bound.bind(object)) return MPI_T_ERR_INVALID_HANDLE;
    PvarHandle* const made = handles().take(limits().handle_limit);
    if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
    made->session = &session;
    made->pvar = pvar;
    made->bound = bound;
    made->count = pvar->count ? pvar->count(bound.comm()) : 1;
    made->words.reset(new (std::nothrow) PvarHandle::Word[made->count]);
    if (made->words == nullptr) {
      handles().put(made);
      return MPI_T_ERR_MEMORY;
    }
    if (pvar->marks()) made->words[0].kept.store(marks::level(*made), std::memory_order_relaxed);
    {
      const std::lock_guard guard(session.mutex);
      try {
        session.handles.push_back(made);
      } catch (...) {
        handles().put(made);
        throw;
      }
    }
    *handle = reinterpret_cast<MPI_T_pvar_handle>(made);
    *count = static_cast<int>(made->count);
    return MPI_SUCCESS;
  });
}

int pvar_handle_free(PvarSession& session, MPI_T_pvar_handle* handle) {
  PvarHandle* const object = resolve(*handle);
  if (object == nullptr || object->session != &session) return MPI_T_ERR_INVALID_HANDLE;
  {
    const std::lock_guard guard(session.mutex);
    std::erase(session.handles, object);
  }
  free_handle(*object);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int pvar_start(PvarSession& session, PvarHandle* handle) {
  return or_no_memory([&] {
    return for_handles(
        session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, [](PvarHandle& h) { return h.start(); },
        [](const PvarHandle& h) { return h.pvar->continuous; });
  });
}

int pvar_stop(PvarSession& session, PvarHandle* handle) {
  return or_no_memory([&] {
    return for_handles(
        session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, [](PvarHandle& h) { return h.stop(); },
        [](const PvarHandle& h) { return h.pvar->continuous; });
  });
}

int pvar_reset(PvarSession& session, PvarHandle* handle) {
  return or_no_memory([&] {
    return for_handles(
        session, handle, MPI_T_ERR_PVAR_NO_WRITE, [](PvarHandle& h) { return h.reset(); },
        [](const PvarHandle& h) { return h.pvar->readonly; });
  });
}

int pvar_read(PvarSession& session, PvarHandle& handle, void* buf) {
  return or_no_memory([&] { return handle.session == &session ? handle.read(buf) : MPI_T_ERR_INVALID_HANDLE; });
}

int pvar_write(PvarSession& session, PvarHandle& handle, const void* buf) {
  return or_no_memory([&] { return handle.session == &session ? handle.write(buf) : MPI_T_ERR_INVALID_HANDLE; });
}

int pvar_readreset(PvarSession& session, PvarHandle& handle, void* buf) {
  return or_no_memory(
      [&] { return handle.session == &session ? handle.read_and_reset(buf) : MPI_T_ERR_INVALID_HANDLE; });
}

void end_pvar_sessions() {
  for (PvarSession* session : sessions().all()) {
    auto handle = reinterpret_cast<MPI_T_pvar_session>(session);
    (void)pvar_session_free(&handle);
  }
}

}  // namespace ashlar::mpit
