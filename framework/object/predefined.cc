#include "framework/object/predefined.h"

#include <mutex>

#include "framework/object/errhandler.h"
#include "framework/object/group.h"
#include "framework/object/handle.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"

namespace ashlar {

Object* predefined_objects[kPredefinedLimit];

namespace {

template <class Handle>
void enter(Object* object, Handle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  object->predefined = static_cast<std::uint32_t>(bits);
  predefined_objects[bits] = object;
}

}  // namespace

void register_predefined_objects() {
  static std::once_flag once;
  std::call_once(once, [] {
    enter(&errors_are_fatal(), MPI_ERRORS_ARE_FATAL);
    enter(&errors_abort(), MPI_ERRORS_ABORT);
    enter(&errors_return(), MPI_ERRORS_RETURN);
    if (Group* none = Group::strided(0, 1, 0)) enter(none, MPI_GROUP_EMPTY);
    Info* environment = nullptr;
    if (!info::create(&environment).ok()) return;
    info::describe_process(*environment);
    enter(environment, MPI_INFO_ENV);
  });
}

}  // namespace ashlar
