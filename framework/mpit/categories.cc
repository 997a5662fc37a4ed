#include "framework/mpit/categories.h"

#include <climits>
#include <utility>

#include "framework/mpit/api.h"
#include "framework/mpit/cvars.h"
#include "framework/mpit/no_memory.h"
#include "framework/mpit/pvars.h"
#include "framework/mpit/registration.h"
#include "framework/mpit/text.h"

namespace ashlar::mpit {
namespace {

constexpr std::string_view kRoot = "kernel";

/// What the kernel's own categories are; a component says it of itself.
constexpr std::pair<std::string_view, const char*> kDescriptions[] = {
    {kRoot, "the library: what belongs to no part of it, and all parts"},
    {"base", "failures"},
    {"check", "checks of the program's calls"},
    {"coll", "collective operations"},
    {"comm", "of single communicators"},
    {"datatype", "datatypes"},
    {"io", "access to files"},
    {"launch", "how a process finds its job"},
    {"memory", "memory that other processes of the node can map"},
    {"mpiexec", "the launcher"},
    {"object", "what handles stand for"},
    {"p2p", "point-to-point messages"},
    {"plugin", "components"},
    {"progress", "progress and waiting"},
    {"report", "reports of errors and decisions"},
    {"rma", "one-sided communication"},
    {"runtime", "start and end"},
    {"threads", "threads"},
    {"tool", "tools that watch the calls of the program"},
    {"tools", "the tools interface"},
    {"topo", "process topologies"},
    {"topology", "sources of topology"},
    {"transport", "ways messages travel"},
    {"watch", "jobs that make no progress"},
};

std::string describe(const std::string& name) {
  for (const auto& [known, text] : kDescriptions)
    if (known == name) return text;
  return cvars().component(name);
}

/// "transport.shm.rings" is the type of the category "transport.shm".
std::string owner(std::string_view name) { return std::string(name.substr(0, name.rfind('.'))); }

void give_some(const std::vector<int>& from, int len, int indices[]) {
  for (int i = 0; i < len && static_cast<std::size_t>(i) < from.size(); ++i)
    indices[i] = from[static_cast<std::size_t>(i)];
}

}  // namespace

Categories& categories() {
  static Categories& all = *new Categories;  // indices stay good for as long as the program runs
  return all;
}

// A category that is new goes into the one in front of its last dot, or into the root.
int Categories::index_of(const std::string& name) {
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (list_[i].name == name) return static_cast<int>(i);
  const std::size_t dot = name.rfind('.');
  const int parent = dot != std::string::npos ? index_of(name.substr(0, dot)) : name == kRoot ? -1 : 0;
  const int made = static_cast<int>(list_.size());
  list_.push_back(
      {.name = name, .description = describe(name), .cvars = {}, .pvars = {}, .events = {}, .categories = {}});
  try {
    if (parent >= 0) list_[static_cast<std::size_t>(parent)].categories.push_back(made);
  } catch (...) {
    list_.pop_back();
    throw;
  }
  return made;
}

void Categories::know() {
  if (list_.empty()) (void)index_of(std::string(kRoot));
  const auto category = [this](const std::string& name) -> Category& {
    return list_[static_cast<std::size_t>(index_of(name.empty() ? std::string(kRoot) : name))];
  };
  const int cvar_count = cvars().size(), pvar_count = pvars().size();
  if (cvar_count + pvar_count + event_count() == cvars_seen_ + pvars_seen_ + events_seen_) return;
  for (; cvars_seen_ < cvar_count; ++cvars_seen_)
    category(cvars().at(cvars_seen_)->category).cvars.push_back(cvars_seen_);
  for (; pvars_seen_ < pvar_count; ++pvars_seen_)
    category(pvars().at(pvars_seen_)->category).pvars.push_back(pvars_seen_);
  for (; events_seen_ < event_count(); ++events_seen_)
    category(owner(event_type(events_seen_)->name)).events.push_back(events_seen_);
  if (update_ < INT_MAX) ++update_;
}

int Categories::size() {
  const std::lock_guard guard(mutex_);
  know();
  return static_cast<int>(list_.size());
}

int Categories::find(std::string_view name) {
  const std::lock_guard guard(mutex_);
  know();
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (list_[i].name == name) return static_cast<int>(i);
  return -1;
}

int Categories::update_number() {
  const std::lock_guard guard(mutex_);
  know();
  return update_;
}

int category_get_num(int* num) {
  return or_no_memory([&] {
    *num = categories().size();
    return MPI_SUCCESS;
  });
}

int category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars, int* num_pvars,
                      int* num_categories) {
  return or_no_memory([&] {
    const bool found = categories().with(index, [&](const Category& c) {
      give_text(c.name, name, name_len);
      give_text(c.description, desc, desc_len);
      give(num_cvars, c.cvars.size());
      give(num_pvars, c.pvars.size());
      give(num_categories, c.categories.size());
    });
    return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
  });
}

int category_get_index(const char* name, int* index) {
  return or_no_memory([&] {
    const int found = categories().find(name);
    if (found < 0) return MPI_T_ERR_INVALID_NAME;
    *index = found;
    return MPI_SUCCESS;
  });
}

int category_get_num_events(int index, int* num_events) {
  return or_no_memory([&] {
    const bool found =
        categories().with(index, [&](const Category& c) { *num_events = static_cast<int>(c.events.size()); });
    return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
  });
}

int category_get_cvars(int index, int len, int indices[]) {
  return or_no_memory([&] {
    const bool found = categories().with(index, [&](const Category& c) { give_some(c.cvars, len, indices); });
    return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
  });
}

int category_get_pvars(int index, int len, int indices[]) {
  return or_no_memory([&] {
    const bool found = categories().with(index, [&](const Category& c) { give_some(c.pvars, len, indices); });
    return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
  });
}

int category_get_events(int index, int len, int indices[]) {
  return or_no_memory([&] {
    const bool found = categories().with(index, [&](const Category& c) { give_some(c.events, len, indices); });
    return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
  });
}

int category_get_categories(int index, int len, int indices[]) {
  return or_no_memory([&] {
    const bool found = categories().with(index, [&](const Category& c) { give_some(c.categories, len, indices); });
    return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
  });
}

int category_changed(int* update_number) {
  return or_no_memory([&] {
    *update_number = categories().update_number();
    return MPI_SUCCESS;
  });
}

}  // namespace ashlar::mpit
