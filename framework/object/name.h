#pragma once
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace ashlar {

/// Names that users give objects (MPI-5.0, 7.8). Too long a name is cut, as the standard lets names be.
inline void assign_name(std::string& own, const char* name) {
  own.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
}

inline void copy_name(const char* own, char* name, int* length) {
  *length = static_cast<int>(std::strlen(own));
  std::memcpy(name, own, static_cast<std::size_t>(*length) + 1);
}

/// The name of an object of a kind that seldom has one: a pointer is all that it takes then.
class SeldomName {
 public:
  bool empty() const { return text_ == nullptr; }
  /// "" when there is none.
  const char* c_str() const { return text_ != nullptr ? text_->c_str() : ""; }
  void give(const char* name) {
    text_.reset();
    if (*name == '\0') return;
    text_ = std::make_unique<std::string>();
    assign_name(*text_, name);
  }

 private:
  std::unique_ptr<std::string> text_;
};

/// What a communicator is called. Where the user gave it no name, sentences call it by its context id, which is the
/// same in all its processes: "unnamed #24".
class CommName {
 public:
  /// For sentences.
  const char* c_str() const { return text_.c_str(); }
  /// The user's, as MPI_Comm_get_name has it: "" when there is none.
  const char* given() const { return given_ ? text_.c_str() : ""; }
  void give(const char* name) {
    given_ = *name != '\0';
    if (given_)
      assign_name(text_, name);
    else
      number(number_);
  }
  CommName& operator=(const char* name) {
    give(name);
    return *this;
  }
  void number(std::uint32_t context) {
    number_ = context;
    if (!given_) text_ = "unnamed #" + std::to_string(context);
  }

 private:
  std::string text_;
  std::uint32_t number_ = 0;
  bool given_ = false;
};

}  // namespace ashlar
