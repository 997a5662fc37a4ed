#pragma once
#include <string>
#include <string_view>

#include "framework/plugin/records.h"

namespace ashlar::info {

/// A JSON object or array in the making; members are JSON already.
class Json {
 public:
  explicit Json(char open) : text_(1, open), close_(open == '{' ? '}' : ']') {}
  Json& add(std::string_view name, const std::string& value) { return add(plugin::json_string(name) + ":" + value); }
  Json& add(const std::string& member) {
    if (text_.size() > 1) text_ += ",";
    text_ += member;
    return *this;
  }
  std::string text() const { return text_ + close_; }

 private:
  std::string text_;
  char close_;
};

}  // namespace ashlar::info
