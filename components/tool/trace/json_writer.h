#pragma once
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "framework/base/printable.h"
#include "framework/plugin/records.h"

namespace ashlar::tool_trace {

/// Appends JSON to a text: values in the order in which they come, commas where they belong.
class JsonWriter {
 public:
  JsonWriter& object() { return open('{'); }
  JsonWriter& array() { return open('['); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name) {
    comma();
    out_.append("\"").append(name).append("\":");
    first_ = true;
    return *this;
  }
  /// Text from outside is shown as a person may see it: no control characters, and UTF-8 in any case.
  JsonWriter& value(std::string_view text) { return raw(plugin::json_string(printable(text))); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(std::integral auto number) {
    char digits[24];
    return raw({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
  }
  JsonWriter& value(double number) {
    char digits[32];
    return raw({digits, std::to_chars(digits, digits + sizeof digits, std::isfinite(number) ? number : 0.0,
                                      std::chars_format::general, 9)
                            .ptr});
  }
  JsonWriter& null() { return raw("null"); }
  template <class T>
  JsonWriter& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }
  std::string take() { return std::move(out_); }

 private:
  JsonWriter& raw(std::string_view text) {
    comma();
    out_.append(text);
    return *this;
  }
  JsonWriter& open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
  }
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace ashlar::tool_trace
