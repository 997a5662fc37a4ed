#include "mpiexec/pmix_link.h"

#include <sys/socket.h>

#include <utility>

#include "framework/base/stream_socket.h"
#include "framework/plugin/further_job.h"
#include "framework/plugin/launch_board.h"
#include "mpiexec/pmix_server.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kPiece = 1u << 16;
constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // mpiexec bounds what it sends

}  // namespace

PmixLink::Call* PmixLink::make_call() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return nullptr;
  Call& call = calls_.emplace_back();
  call.socket = Descriptor(ends[0]);
  to_take_.emplace_back(ends[1]);
  return &call;
}

bool PmixLink::open(PmixListener* listener, News news) {
  listener_ = listener;
  news_ = std::move(news);
  Call* const hub = make_call();
  if (hub != nullptr) hub->out = launch::wish::kPmix;
  return hub != nullptr;
}

void PmixLink::tell(const PmixMessage& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (calls_.empty() || calls_.front().over) return;
  calls_.front().out += bytes_of(message);
  write_some(calls_.front());
}

bool PmixLink::ask(PmixMessage message, Answer answer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (calls_.empty() || calls_.front().over) return false;
  message.number = ++questions_;
  asked_[message.number] = std::move(answer);
  calls_.front().out += bytes_of(message);
  write_some(calls_.front());
  return true;
}

bool PmixLink::ask_for_job(const std::string& request, Started started) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Call* const call = calls_.empty() ? nullptr : make_call();
  if (call == nullptr) return false;
  call->started = std::move(started);
  call->out = launch::wish::kJob + request;
  write_some(*call);
  listener_->wake();
  return true;
}

/// What does not fit waits for the loop.
void PmixLink::write_some(Call& call) {
  call.over = !send_some(call.socket.get(), &call.out);
  if (!call.over && !call.out.empty()) listener_->wake();
}

void PmixLink::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.clear();
  to_take_.clear();
  asked_.clear();
}

std::vector<Descriptor> PmixLink::take_calls() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(to_take_, {});
}

void PmixLink::add(std::vector<pollfd>* fds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  first_ = fds->size();
  for (const Call& call : calls_)
    fds->push_back(
        {call.over ? -1 : call.socket.get(), static_cast<short>(POLLIN | (call.out.empty() ? 0 : POLLOUT)), 0});
  polled_ = fds->size() - first_;
}

void PmixLink::handle(const std::vector<pollfd>& fds) {
  std::vector<std::function<void()>> todo;  // without the lock: an answer may lead to a question
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::size_t i = 0;
    for (Call& call : calls_) {
      if (i++ < polled_ && fds[first_ + i - 1].revents != 0) read_some(call);
      if (!call.over && !call.out.empty()) write_some(call);
      if (call.started || !call.job.empty())
        take_job(call, &todo);
      else
        take_answers(call, &todo);
    }
    polled_ = 0;
    for (auto call = calls_.begin(); call != calls_.end();)
      call = call != calls_.begin() && call->over ? calls_.erase(call) : std::next(call);
  }
  for (const auto& one : todo) one();
}

void PmixLink::read_some(Call& call) {
  char bytes[kPiece];
  for (;;) {
    const ssize_t n = recv(call.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (is_later(n)) return;
    if (n <= 0) call.over = true;
    if (n <= 0) return;
    call.arrived.append(bytes, static_cast<std::size_t>(n));
  }
}

void PmixLink::take_answers(Call& call, std::vector<std::function<void()>>* todo) {
  PmixMessage message;
  bool broken = false;
  while (take(&call.arrived, kMost, &message, &broken)) {
    if (message.word != PmixWord::kAnswer) {
      todo->push_back([this, message = std::move(message)]() mutable { news_(message); });
      continue;
    }
    const auto asked = asked_.find(message.number);
    if (asked == asked_.end()) continue;
    todo->push_back([answer = std::move(asked->second), message = std::move(message)]() mutable { answer(message); });
    asked_.erase(asked);
  }
  call.over = call.over || broken;
  if (!call.over) return;
  // The job is about to end; nothing that waits may wait for ever.
  for (auto& [number, answer] : std::exchange(asked_, {}))
    todo->push_back([answer = std::move(answer)] {
      PmixMessage none;
      none.outcome = PmixOutcome::kNone;
      answer(none);
    });
}

/// The hub hears of it first, so that it does not take the name for a wrong one.
void PmixLink::take_job(Call& call, std::vector<std::function<void()>>* todo) {
  for (std::vector<std::string> texts; launch::take_message(&call.arrived, &texts);) {
    if (texts.empty()) continue;
    if (texts[0] == launch::kNamed && texts.size() > 1) call.job = texts[1];
    if (texts[0] == launch::kStarted && call.started) {
      asked_[++questions_] = [started = std::exchange(call.started, nullptr), job = call.job](PmixMessage&) {
        started(job);
      };
      expect(call.job, questions_);
    }
    if (texts[0] == launch::kRefused || texts[0] == launch::kOver) call.over = true;
  }
  if (!call.over) return;
  if (!call.job.empty()) expect(call.job, 0);
  if (call.started) todo->push_back([started = std::exchange(call.started, nullptr)] { started({}); });
}

void PmixLink::expect(const std::string& job, std::uint64_t question) {
  Call& hub = calls_.front();
  PmixMessage message;
  message.word = PmixWord::kExpected;
  message.process.space = job;
  message.number = question;
  message.count = question != 0 ? 1 : 0;
  hub.out += bytes_of(message);
  if (!hub.over) write_some(hub);
}

}  // namespace ashlar::mpiexec
