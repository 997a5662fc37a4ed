#pragma once
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::mpit {

/// One category: a room of the kernel, a framework or a component, with what it owns. "kernel" holds the rest, and the
/// categories that are in no other.
struct Category {
  std::string name, description;
  std::vector<int> cvars, pvars, events, categories;
};

/// The categories: those of a framework's components are in the framework's. They grow with the variables and events
/// that the process comes to know; nothing leaves a category.
class Categories {
 public:
  /// Calls `look` with the category of this index; false: there is none.
  template <class Look>
  bool with(int index, Look look) {
    const std::lock_guard guard(mutex_);
    know();
    if (index < 0 || static_cast<std::size_t>(index) >= list_.size()) return false;
    look(list_[static_cast<std::size_t>(index)]);
    return true;
  }
  int size();
  int find(std::string_view name);
  /// A number that has grown with every change.
  int update_number();

 private:
  void know();
  int index_of(const std::string& name);

  std::mutex mutex_;
  std::deque<Category> list_;
  int cvars_seen_ = 0, pvars_seen_ = 0, events_seen_ = 0;
  int update_ = 0;
};

Categories& categories();

}  // namespace ashlar::mpit
