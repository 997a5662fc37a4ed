#include <algorithm>
#include <cstring>
#include <string_view>

#include "framework/base/clock.h"
#include "framework/mpit/api.h"
#include "framework/mpit/no_memory.h"
#include "framework/mpit/registration.h"
#include "framework/mpit/text.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"

namespace ashlar::mpit {
namespace {

constexpr const char* kSourceName = "ashlar";
constexpr const char* kSourceHelp =
    "Everything that the library tells of. Events of one thread come in their order, those of several threads in any. "
    "Timestamps are nanoseconds of the node's monotonic clock.";

std::size_t size_of(event::FieldType type) { return type == event::FieldType::kInt ? sizeof(int) : 8; }

/// Where a field lies in a copy of an event.
std::size_t offset_of(const event::Type& type, std::size_t field) {
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    const std::size_t bytes = size_of(type.fields[i].type);
    at = (at + bytes - 1) / bytes * bytes;
    if (i == field) return at;
    at += bytes;
  }
}

void copy_field(const event::Record& record, std::size_t field, void* to) {
  const std::uint64_t value = record.values[field];
  if (record.type->fields[field].type == event::FieldType::kInt) {
    const auto number = static_cast<int>(value);
    std::memcpy(to, &number, sizeof number);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

/// An info object of the caller's for what the library uses of hints, which is none. Nothing where none is wanted.
int give_info(MPI_Info* out) {
  if (out == nullptr) return MPI_SUCCESS;
  Info* info = nullptr;
  if (!info::create(&info).ok()) return MPI_T_ERR_MEMORY;
  *out = to_handle<MPI_Info>(info);
  return MPI_SUCCESS;
}

bool is_info(MPI_Info info) { return info == MPI_INFO_NULL || ashlar::resolve(info) != nullptr; }

}  // namespace

int source_get_num(int* num) {
  *num = 1;
  return MPI_SUCCESS;
}

int source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, MPI_T_source_order* ordering,
                    MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info) {
  return or_no_memory([&] {
    if (index != 0) return MPI_T_ERR_INVALID_INDEX;
    give_text(kSourceName, name, name_len);
    give_text(kSourceHelp, desc, desc_len);
    give(ordering, MPI_T_SOURCE_UNORDERED);
    give(ticks_per_second, 1'000'000'000);
    give(max_ticks, INT64_MAX);
    return give_info(info);
  });
}

int source_get_timestamp(int index, MPI_Count* timestamp) {
  if (index != 0) return MPI_T_ERR_INVALID_INDEX;
  *timestamp = static_cast<MPI_Count>(now_ns());
  return MPI_SUCCESS;
}

int event_get_num(int* num) {
  *num = event_count();
  return MPI_SUCCESS;
}

int event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype datatypes[],
                   MPI_Aint displacements[], int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc,
                   int* desc_len, int* bind) {
  return or_no_memory([&] {
    const event::Type* const type = event_type(index);
    if (type == nullptr) return MPI_T_ERR_INVALID_INDEX;
    give_text(type->name, name, name_len);
    give(verbosity, type->verbosity);
    if (num_elements != nullptr) {
      const std::size_t room = *num_elements > 0 ? static_cast<std::size_t>(*num_elements) : 0;
      for (std::size_t i = 0; i < std::min(room, type->fields.size()); ++i) {
        const bool number = type->fields[i].type == event::FieldType::kInt;
        if (datatypes != nullptr) datatypes[i] = number ? MPI_INT : MPI_UNSIGNED_LONG_LONG;
        if (displacements != nullptr) displacements[i] = static_cast<MPI_Aint>(offset_of(*type, i));
      }
      *num_elements = static_cast<int>(type->fields.size());
    }
    if (enumtype != nullptr) {
      Enumeration* const words = type->choices ? enumeration(type->name, type->choices) : nullptr;
      *enumtype = words ? words->handle() : MPI_T_ENUM_NULL;
    }
    give_text(type->help, desc, desc_len);
    give(bind, type->bind);
    return give_info(info);
  });
}

int event_get_index(const char* name, int* index) {
  for (int i = 0; i < event_count(); ++i) {
    if (std::string_view(event_type(i)->name) != name) continue;
    *index = i;
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int event_handle_alloc(int index, void* object, MPI_Info info, MPI_T_event_registration* registration) {
  return or_no_memory([&] {
    event::Type* const type = event_type(index);
    if (type == nullptr) return MPI_T_ERR_INVALID_INDEX;
    if (!is_info(info)) return MPI_T_ERR_INVALID;
    Bound bound;
    if (type->bind == event::Bind::kComm && !bound.bind(object)) return MPI_T_ERR_INVALID_HANDLE;
    Registration* const made = make_registration(*type, bound);
    if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
    *registration = reinterpret_cast<MPI_T_event_registration>(made);
    return MPI_SUCCESS;
  });
}

int event_handle_free(Registration& registration, void* user_data, MPI_T_event_free_cb_function* callback) {
  return free_registration(registration, user_data, callback) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int event_handle_set_info(Registration& registration, MPI_Info info) {
  if (is_freed(registration)) return MPI_T_ERR_INVALID_HANDLE;
  return is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int event_handle_get_info(Registration& registration, MPI_Info* info) {
  return or_no_memory([&] { return is_freed(registration) ? MPI_T_ERR_INVALID_HANDLE : give_info(info); });
}

int event_register_callback(Registration& registration, MPI_T_cb_safety safety, MPI_Info info, void* user_data,
                            MPI_T_event_cb_function* callback) {
  const int level = level_of(safety);
  if (level < 0 || !is_info(info)) return MPI_T_ERR_INVALID;
  const bool set = set_callback(registration, level, {.function = callback, .user_data = user_data});
  return set ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int event_callback_set_info(Registration& registration, MPI_T_cb_safety safety, MPI_Info info) {
  if (is_freed(registration)) return MPI_T_ERR_INVALID_HANDLE;
  return level_of(safety) >= 0 && is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int event_callback_get_info(Registration& registration, MPI_T_cb_safety safety, MPI_Info* info) {
  return or_no_memory([&] {
    if (is_freed(registration)) return MPI_T_ERR_INVALID_HANDLE;
    return level_of(safety) >= 0 ? give_info(info) : MPI_T_ERR_INVALID;
  });
}

int event_set_dropped_handler(Registration& registration, MPI_T_event_dropped_cb_function* callback) {
  return set_dropped(registration, callback) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int event_read(MPI_T_event_instance instance, int element, void* buffer) {
  const Instance* const found = resolve(instance);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (element < 0 || static_cast<std::size_t>(element) >= found->record->type->fields.size())
    return MPI_T_ERR_INVALID_INDEX;
  copy_field(*found->record, static_cast<std::size_t>(element), buffer);
  return MPI_SUCCESS;
}

int event_copy(MPI_T_event_instance instance, void* buffer) {
  const Instance* const found = resolve(instance);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  const event::Type& type = *found->record->type;
  for (std::size_t i = 0; i < type.fields.size(); ++i)
    copy_field(*found->record, i, static_cast<std::byte*>(buffer) + offset_of(type, i));
  return MPI_SUCCESS;
}

int event_get_timestamp(MPI_T_event_instance instance, MPI_Count* timestamp) {
  const Instance* const found = resolve(instance);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  *timestamp = static_cast<MPI_Count>(found->record->time);
  return MPI_SUCCESS;
}

int event_get_source(MPI_T_event_instance instance, int* source) {
  if (resolve(instance) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  *source = 0;
  return MPI_SUCCESS;
}

}  // namespace ashlar::mpit
