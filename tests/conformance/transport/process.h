#pragma once
#include <sys/types.h>

#include <functional>
#include <string>

namespace ashlar::test {

/// A child process with a byte channel to and from it. The child runs `body` and ends with its value as exit status,
/// or with 1 and a line on standard error when it throws.
class Child {
 public:
  class Channel {
   public:
    explicit Channel(int fd) : fd_(fd) {}
    void say(const std::string& message) const;
    /// The next message; "" when the other side has gone.
    std::string hear() const;
    int fd() const { return fd_; }

   private:
    int fd_;
  };

  explicit Child(const std::function<int(const Channel&)>& body);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const Channel& channel() const { return channel_; }
  pid_t pid() const { return pid_; }
  void kill_now();
  /// The child's exit status; 128 + signal when it was killed.
  int wait();

 private:
  static int pair(int side);
  int sockets_[2];
  pid_t pid_ = -1;
  Channel channel_{-1};
};

/// Forbids the named system call (by number) in this process: it fails with EPERM.
void forbid(int system_call);

}  // namespace ashlar::test
