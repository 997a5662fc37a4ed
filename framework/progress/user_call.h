#pragma once
#include <cstddef>

namespace ashlar {
class Comm;
class Window;
}  // namespace ashlar
namespace ashlar::progress {

/// A call of the user's that communicates on its way, as constructors of communicators do. While it lasts, waits of its
/// thread are for it: a report of what this process waits for names it and not what it uses. Calls of this kind
/// may use each other; the outermost is the user's.
class UserCall {
 public:
  UserCall(const char* name, const Comm* comm) : name_(name), comm_(comm) { begin(); }
  /// Told apart from others by a tag.
  UserCall(const char* name, const Comm* comm, int tag) : name_(name), comm_(comm), tag_(tag) { begin(); }
  UserCall(const char* name, const Window* window) : name_(name), window_(window) { begin(); }
  UserCall(const char* name, const char* string_tag) : name_(name), string_tag_(string_tag) { begin(); }
  ~UserCall();
  UserCall(const UserCall&) = delete;
  UserCall& operator=(const UserCall&) = delete;

  /// Of this thread; nullptr: none.
  static const UserCall* current();
  /// "MPI_Comm_create_group with tag 7 on 'MPI_COMM_WORLD'"
  void describe(char* out, std::size_t room) const;

 private:
  void begin();

  const char* const name_;
  const Comm* const comm_ = nullptr;
  const Window* const window_ = nullptr;
  const char* const string_tag_ = nullptr;
  const int tag_ = -1;
};

}  // namespace ashlar::progress
