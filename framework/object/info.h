#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/object/object.h"

namespace ashlar {

/// Key-value pairs in the order they were first set. Guarded by one mutex of the room: the calls are thread-safe at any
/// time, before initialisation and after finalisation too.
class Info : public Object {
 public:
  Info() : Object(Kind::kInfo) {}
  /// The value of `key`, or nullptr.
  const std::string* find(const char* key) const {
    for (const auto& [name, value] : entries)
      if (name == key) return &value;
    return nullptr;
  }
  std::vector<std::pair<std::string, std::string>> entries;
};

void destroy(Info* info);

}  // namespace ashlar
