#pragma once
#include <cstdint>
#include <string>

#include "components/launch/pmi/message.h"
#include "framework/base/descriptor.h"
#include "framework/plugin/component.h"

namespace ashlar::launch {

/// The connection to the launcher, over which a question is asked and its answer awaited. A fence is a question whose
/// answer may come while others are asked. One thread at a time, but for wait_readable(). A function that fails has
/// given the reason to the host.
class PmiChannel {
 public:
  /// `host` outlives the channel. Nanoseconds.
  PmiChannel(const ashlar_host& host, std::uint64_t answer_timeout) : host_(host), timeout_ns_(answer_timeout) {}

  /// Takes the connection that the process was started with.
  ashlar_result adopt(int fd);
  /// Connects to "host:port". Names are not looked up: the launcher's process of this node is meant.
  ashlar_result connect(const std::string& address);
  void close() { fd_.reset(); }
  bool open() const { return static_cast<bool>(fd_); }

  void speak(Framing framing) { framing_ = framing; }
  ashlar_result send(const PmiMessage& question);
  /// Sends `question` and waits for the answer of this name.
  ashlar_result ask(const PmiMessage& question, const char* answer_name, PmiMessage* answer);
  /// `answer_name` nullptr: whatever comes next.
  ashlar_result receive(const char* question, const char* answer_name, PmiMessage* answer);

  /// From now on an answer of this name ends the fence, whenever it comes.
  void begin_fence(const char* answer_name);
  /// Reads what has come, without waiting. *done: the fence has ended.
  ashlar_result look_for_fence(bool* done);
  /// Waits until something has come or the time is over, without reading it.
  void wait_readable(std::uint64_t nanoseconds) const;

  /// The failure of an answer that this dialect does not have.
  ashlar_result fail_with_answer(std::string_view question, const PmiMessage& answer, const char* why) const;
  /// That of a question that the launcher has refused.
  ashlar_result fail_with_refusal(std::string_view question, const PmiMessage& answer) const;
  const ashlar_host& host() const { return host_; }

 private:
  /// Takes the next answer that is there. kPart: none yet.
  ashlar_result next(std::string_view question, PmiMessage* answer, Cut* cut);
  /// Reads what has come. *ended: the launcher has closed the connection.
  ashlar_result read_some(std::string_view question);
  ashlar_result fail_with_end(std::string_view question, const char* why) const;
  ashlar_result fail_with_silence(std::string_view question) const;

  const ashlar_host& host_;
  std::uint64_t timeout_ns_;
  Descriptor fd_;
  Framing framing_ = Framing::kLine;
  std::string received_;
  const char* fence_answer_ = nullptr;  // of a fence that has not ended
};

}  // namespace ashlar::launch
