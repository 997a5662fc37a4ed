#include "framework/mpit/enumeration.h"

#include <mutex>
#include <new>

#include "framework/base/slab.h"
#include "framework/mpit/api.h"
#include "framework/mpit/text.h"

namespace ashlar::mpit {
namespace {

struct All {
  std::mutex mutex;
  Slab<Enumeration> storage;
  std::vector<Enumeration*> made;
};

All& all() {
  static All& made = *new All;  // handles stay good for as long as the program runs
  return made;
}

}  // namespace

Enumeration* enumeration(const std::string& name, const char* const* words) {
  std::vector<std::string> wanted;
  for (; words != nullptr && *words != nullptr; ++words) wanted.emplace_back(*words);
  All& enums = all();
  const std::lock_guard guard(enums.mutex);
  for (Enumeration* known : enums.made)
    if (known->words == wanted) return known;
  enums.made.reserve(enums.made.size() + 1);
  Enumeration* const made = enums.storage.take(name, std::move(wanted));
  if (made == nullptr) throw std::bad_alloc();
  enums.made.push_back(made);
  return made;
}

Enumeration* truth() {
  static constexpr const char* kWords[] = {"false", "true", nullptr};
  return enumeration("truth", kWords);
}

int enum_get_info(Enumeration& of, int* num, char* name, int* name_len) {
  give(num, of.words.size());
  give_text(of.name, name, name_len);
  return MPI_SUCCESS;
}

int enum_get_item(Enumeration& of, int index, int* value, char* name, int* name_len) {
  if (index < 0 || static_cast<std::size_t>(index) >= of.words.size()) return MPI_T_ERR_INVALID_INDEX;
  give(value, index);
  give_text(of.words[static_cast<std::size_t>(index)], name, name_len);
  return MPI_SUCCESS;
}

}  // namespace ashlar::mpit
