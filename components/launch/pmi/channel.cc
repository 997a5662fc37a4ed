#include "components/launch/pmi/channel.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "framework/base/clock.h"
#include "framework/plugin/launch.h"

namespace ashlar::launch {
namespace {

/// Waits for `events`. False: the time is over.
bool wait_for(int fd, short events, std::uint64_t nanoseconds) {
  const std::uint64_t end = now_ns() + nanoseconds;
  for (;;) {
    const std::uint64_t now = now_ns();
    const std::uint64_t left = now < end ? end - now : 0;
    const timespec wait = {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    pollfd what = {.fd = fd, .events = events, .revents = 0};
    const int ready = ppoll(&what, 1, &wait, nullptr);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool numeric_address(const std::string& name, std::uint16_t port, sockaddr_storage* address, socklen_t* length) {
  auto* const four = reinterpret_cast<sockaddr_in*>(address);
  auto* const six = reinterpret_cast<sockaddr_in6*>(address);
  if (inet_pton(AF_INET, name.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    *length = sizeof *four;
    return true;
  }
  if (inet_pton(AF_INET6, name.c_str(), &six->sin6_addr) != 1) return false;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
  *length = sizeof *six;
  return true;
}

}  // namespace

ashlar_result PmiChannel::adopt(int fd) {
  // What this process starts shall not have it: the launcher would wait for the end of that, too.
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    const ashlar_fact unusable[] = {{.name = "fd", .text = nullptr, .number = fd},
                                    {.name = "lower", .text = strerror(errno), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.descriptor", unusable, std::size(unusable));
  }
  fd_ = Descriptor(fd);
  return ASHLAR_OK;
}

ashlar_result PmiChannel::connect(const std::string& address) {
  const auto unreachable = [&](const char* why) {
    const ashlar_fact facts[] = {{.name = "address", .text = address.c_str(), .number = 0},
                                 {.name = "lower", .text = why, .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.address", facts, std::size(facts));
  };
  const std::size_t colon = address.rfind(':');
  unsigned port = 0;
  char rest = 0;
  if (colon == std::string::npos || std::sscanf(address.c_str() + colon + 1, "%5u%c", &port, &rest) != 1 || port == 0 ||
      port > 65535)
    return unreachable("HOST:PORT is expected");
  sockaddr_storage where = {};
  socklen_t length = 0;
  const bool numeric = numeric_address(address.substr(0, colon), static_cast<std::uint16_t>(port), &where, &length);
  if (!numeric) numeric_address("127.0.0.1", static_cast<std::uint16_t>(port), &where, &length);
  Descriptor fd(socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return unreachable(strerror(errno));
  int error = 0;
  socklen_t size = sizeof error;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&where), length) != 0) {
    if (errno != EINPROGRESS) {
      error = errno;
    } else if (!wait_for(fd.get(), POLLOUT, timeout_ns_)) {
      error = ETIMEDOUT;
    } else if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
  }
  if (error != 0) {
    const std::string why = std::string(strerror(error)) +
                            (numeric ? ""
                                     : ", on 127.0.0.1: the name is not looked up, since a launcher has a process "
                                       "on each node");
    return unreachable(why.c_str());
  }
  fd_ = std::move(fd);
  return ASHLAR_OK;
}

ashlar_result PmiChannel::send(const PmiMessage& question) {
  const std::string text = pmi_text(framing_, question);
  if (!fd_) return fail_with_end(question.command(), "the process has left its job");
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::send(fd_.get(), text.data() + done, text.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return fail_with_end(question.command(), strerror(errno));
    if (!wait_for(fd_.get(), POLLOUT, timeout_ns_)) return fail_with_silence(question.command());
  }
  return ASHLAR_OK;
}

ashlar_result PmiChannel::ask(const PmiMessage& question, const char* answer_name, PmiMessage* answer) {
  if (const ashlar_result sent = send(question); sent != ASHLAR_OK) return sent;
  return receive(std::string(question.command()).c_str(), answer_name, answer);
}

ashlar_result PmiChannel::receive(const char* question, const char* answer_name, PmiMessage* answer) {
  const std::uint64_t deadline = now_ns() + timeout_ns_;
  for (;;) {
    Cut cut = Cut::kPart;
    if (const ashlar_result read = next(question, answer, &cut); read != ASHLAR_OK) return read;
    if (cut == Cut::kWhole) {
      if (!answer_name || answer->command() == answer_name) return ASHLAR_OK;
      return fail_with_answer(question, *answer, "it answers another question");
    }
    const std::uint64_t now = now_ns();
    if (now >= deadline || !wait_for(fd_.get(), POLLIN, deadline - now)) return fail_with_silence(question);
    if (const ashlar_result read = read_some(question); read != ASHLAR_OK) return read;
  }
}

ashlar_result PmiChannel::next(std::string_view question, PmiMessage* answer, Cut* cut) {
  const char* why = "";
  while ((*cut = cut_message(framing_, &received_, answer, &why)) == Cut::kWhole) {
    if (!fence_answer_ || answer->command() != fence_answer_) return ASHLAR_OK;
    fence_answer_ = nullptr;
    std::int64_t code = 0;
    if (answer->number("rc", &code) && code != 0) return fail_with_refusal("fence", *answer);
  }
  if (*cut == Cut::kPart) return ASHLAR_OK;
  PmiMessage shown;
  shown.add("", received_.substr(0, 80));
  return fail_with_answer(question, shown, why);
}

ashlar_result PmiChannel::read_some(std::string_view question) {
  char some[4096];
  const ssize_t n = recv(fd_.get(), some, sizeof some, MSG_DONTWAIT);
  if (n > 0) received_.append(some, static_cast<std::size_t>(n));
  if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return ASHLAR_OK;
  return fail_with_end(question, n == 0 ? "its end was closed" : strerror(errno));
}

void PmiChannel::begin_fence(const char* answer_name) { fence_answer_ = answer_name; }

ashlar_result PmiChannel::look_for_fence(bool* done) {
  constexpr char kQuestion[] = "fence";
  if (!fd_) return fail_with_end(kQuestion, "the process has left its job");
  if (fence_answer_ && wait_for(fd_.get(), POLLIN, 0))
    if (const ashlar_result read = read_some(kQuestion); read != ASHLAR_OK) return read;
  PmiMessage answer;
  Cut cut = Cut::kPart;
  if (const ashlar_result read = next(kQuestion, &answer, &cut); read != ASHLAR_OK) return read;
  if (cut == Cut::kWhole) return fail_with_answer(kQuestion, answer, "it answers another question");
  *done = fence_answer_ == nullptr;
  return ASHLAR_OK;
}

void PmiChannel::wait_readable(std::uint64_t nanoseconds) const { wait_for(fd_.get(), POLLIN, nanoseconds); }

ashlar_result PmiChannel::fail_with_answer(std::string_view question, const PmiMessage& answer, const char* why) const {
  std::string asked(question), shown;
  for (const auto& [name, value] : answer.fields())
    shown += (shown.empty() ? "" : " ") + name + (name.empty() ? "" : "=") + value;
  shown.resize(std::min<std::size_t>(shown.size(), 160));
  const ashlar_fact facts[] = {
      {.name = "question", .text = asked.c_str(), .number = 0},
      {.name = "reason", .text = why, .number = 0},
      {.name = "value", .text = shown.c_str(), .number = 0},
      {.name = "version", .text = framing_ == Framing::kLine ? "PMI-1" : "PMI-2", .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.answer", facts, std::size(facts));
}

ashlar_result PmiChannel::fail_with_refusal(std::string_view question, const PmiMessage& answer) const {
  const std::string asked(question);
  const std::string* words = answer.find("errmsg");
  if (!words) words = answer.find("msg");
  if (!words) words = answer.find("rc");
  const std::string shown = words ? words->substr(0, 160) : "no reason";
  const ashlar_fact facts[] = {{.name = "question", .text = asked.c_str(), .number = 0},
                               {.name = "lower", .text = shown.c_str(), .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.refused", facts, std::size(facts));
}

ashlar_result PmiChannel::fail_with_end(std::string_view question, const char* why) const {
  const std::string asked(question);
  std::string reason(why);
  // A shell that runs two programs hands its connection to both, and launchers close it when a rank leaves.
  if (question == "init")
    reason += "; either the launcher is gone, or a program that was this rank before has left the job";
  const ashlar_fact facts[] = {{.name = "question", .text = asked.c_str(), .number = 0},
                               {.name = "lower", .text = reason.c_str(), .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.closed", facts, std::size(facts));
}

ashlar_result PmiChannel::fail_with_silence(std::string_view question) const {
  const std::string asked(question);
  char seconds[24];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(timeout_ns_) / 1e9);
  const ashlar_fact facts[] = {{.name = "question", .text = asked.c_str(), .number = 0},
                               {.name = "seconds", .text = seconds, .number = 0}};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "pmi.silent", facts, std::size(facts));
}

}  // namespace ashlar::launch
