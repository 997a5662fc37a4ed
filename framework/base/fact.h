#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ashlar {

template <class T>
concept FactNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// One thing the code knows about a failure or a message, by name: {"argument", "dest"}, {"value", dest}. Allocates
/// nothing: name and text are borrowed for the call that the fact is an argument of.
class Fact {
 public:
  static constexpr std::size_t kNumberBytes = 24;  // what any number takes as text

  Fact(const char* name, std::string_view text) : name_(name), text_(text) {}
  Fact(const char* name, const char* text) : name_(name), text_(text ? text : "") {}
  /// A name of an object, or a std::string.
  template <class T>
  requires requires(const T& t) { std::string_view(t.c_str()); }
  Fact(const char* name, const T& text) : name_(name), text_(text.c_str()) {}
  template <FactNumber T>
  Fact(const char* name, T number) : name_(name), number_(static_cast<std::uint64_t>(number)), form_(form_of<T>()) {}
  /// A handle or an address, shown as 0x...
  Fact(const char* name, const void* address)
      : name_(name), number_(reinterpret_cast<std::uintptr_t>(address)), form_(Form::kAddress) {}

  const char* name() const { return name_; }
  bool is_number() const { return form_ == Form::kSigned || form_ == Form::kUnsigned; }
  /// The value as text; numbers are written to `room`.
  std::string_view text(char (&room)[kNumberBytes]) const noexcept;

 private:
  enum class Form : std::uint8_t { kText, kSigned, kUnsigned, kAddress };
  template <class T>
  static constexpr Form form_of() {
    return std::signed_integral<T> ? Form::kSigned : Form::kUnsigned;
  }

  const char* name_;
  std::string_view text_;
  std::uint64_t number_ = 0;  // a negative number in two's complement
  Form form_ = Form::kText;
};

}  // namespace ashlar
