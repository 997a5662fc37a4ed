#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "framework/base/descriptor.h"

namespace ashlar::mpiexec {

/// Standard input that has come from another host, on its way into the pipe of the rank that reads it. The sender
/// bounds what is in it.
class InputQueue {
 public:
  /// `to`: the writing end of the rank's pipe.
  void open(int to);
  bool is_open() const { return static_cast<bool>(to_); }
  void add(std::string_view bytes);
  /// Nothing more comes: the rank reads what there is, and then the end.
  void end();
  /// The descriptor to wait for; -1: there is nothing to write.
  int wants_write() const { return head_ < queue_.size() ? to_.get() : -1; }
  /// Returns the number of bytes that the rank has been given. The queue is closed when the rank reads no more.
  std::size_t write_some();

 private:
  Descriptor to_;
  std::string queue_;
  std::size_t head_ = 0;
  bool ended_ = false;
};

}  // namespace ashlar::mpiexec
