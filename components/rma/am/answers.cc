#include "components/rma/am/answers.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "components/rma/am/window.h"

namespace ashlar::rma::am {

Answers::Answers(AmWindow& window, Rank to) : Stream(to), window_(window) {
  pong_.sub = Sub::kPong;
  lost_.sub = Sub::kRefused;
  lost_.length = sizeof(Fault);
  for (std::uint16_t which = 0; which < kLocks; ++which) {
    grants_[which].sub = Sub::kGranted;
    grants_[which].length = sizeof(LockRequest);
    granted_[which].which = which;
  }
}

Answer* Answers::make(Sub sub, std::uint32_t sequence, std::size_t length) {
  void* const memory = std::malloc(sizeof(Answer) + length);
  if (memory == nullptr) return nullptr;
  auto* const answer = new (memory) Answer;
  answer->sub = sub;
  answer->owned = true;
  answer->sequence = sequence;
  answer->length = static_cast<std::uint32_t>(length);
  return answer;
}

void Answers::push(Answer& answer) {
  queue_.push_back(&answer);
  window_.counters.answers.add();
  static_cast<void>(window_.wire().kick(*this));  // of an origin that is gone peer_failed() tells
}

void Answers::add(Answer* answer) { push(*answer); }

void Answers::drop(Answer* answer) { std::free(answer); }

void Answers::refuse(std::uint32_t sequence, const Fault& fault) {
  Answer* const answer = losing() ? nullptr : make(Sub::kRefused, sequence, sizeof fault);
  if (answer == nullptr) return lose(sequence, fault);
  std::memcpy(answer->payload(), &fault, sizeof fault);
  push(*answer);
}

void Answers::lose(std::uint32_t sequence, Fault fault) {
  lost_.sequence = sequence;
  if (losing()) {
    lost_fault_.missing += fault.missing;
    return;
  }
  lost_fault_ = fault;
  push(lost_);
}

void Answers::keep(const Fault& fault) {
  if (fault_.error == 0) fault_ = fault;
  pong();  // unasked, so that no answer to a later fragment comes before it
}

void Answers::pong() {
  if (!pong_.linked()) push(pong_);
}

void Answers::grant(WhichLock which) { push(grants_[which]); }

void Answers::queued(const LockQueued& queued) {
  Answer* const answer = make(Sub::kQueued, done_, sizeof queued);
  if (answer == nullptr) return;  // a report says less
  std::memcpy(answer->payload(), &queued, sizeof queued);
  push(*answer);
}

void Answers::end() {
  while (Answer* const answer = queue_.pop_front())
    if (answer->owned) std::free(answer);
}

bool Answers::next(std::size_t, StreamMessage* out) {
  Answer* const answer = queue_.front();
  if (answer == nullptr) return false;
  if (answer == &pong_) {
    pong_.sequence = done_;
    pong_.length = fault_.error != 0 ? sizeof fault_ : 0;
  }
  *out = {.word = Word{.sub = answer->sub, .flags = 0, .sequence = answer->sequence}.pack(), .length = answer->length};
  return true;
}

const void* Answers::payload_of(Answer& answer) {
  if (answer.owned) return answer.payload();
  if (&answer == &pong_) return &fault_;
  if (&answer == &lost_) return &lost_fault_;
  return &granted_[&answer - grants_];
}

void Answers::fill(std::byte* to) {
  Answer& answer = *queue_.front();
  if (answer.length != 0) std::memcpy(to, payload_of(answer), answer.length);
}

void Answers::sent() {
  Answer* const answer = queue_.pop_front();
  if (answer == &pong_) fault_ = {};
  if (answer->owned) std::free(answer);
}

}  // namespace ashlar::rma::am
