#include <sched.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstring>

#include "components/transport/common/interface.h"
#include "framework/base/clock.h"

// What a library lists and does not do as it says is not used: frames and tagged messages to this process itself show
// it, and whether arrivals wake.
namespace ashlar::network {
namespace {

// Without tags a process can do, so their proof takes less time than that of frames, and a step of it still less.
constexpr std::uint64_t kProofMost = 5'000'000'000, kStepMost = 1'000'000'000;  // ns
constexpr std::uint64_t kTrialImmediate = 0x123456789abc;
constexpr std::uint32_t kTrialBytes = 24, kShortBytes = 4;
constexpr unsigned kWakeRounds = 5;  // the host may be busy in some
constexpr int kQuietTries = 100, kWakeMostMs = 2;
constexpr unsigned kRounds = 16;  // what a library does wrong it may do by chance

}  // namespace

/// Tagged messages to this process itself, and the receives and claims that take them.
class Interface::TagProof {
 public:
  explicit TagProof(Interface& iface)
      : iface_(iface), until_(now_ns() + std::min(iface.config_.handshake_timeout, kProofMost)) {
    high_ = std::uint64_t{1} << (iface.fabric_->tag_bits() - 1);
    trial_.done = [](ashlar_tag_receive* self, const ashlar_tag_event* event) {
      auto& trial = *static_cast<Trial*>(self);
      trial.over = true;
      trial.event = *event;
      trial.right = event->data == nullptr || std::memcmp(event->data, kText, std::min(event->length, kCompared)) == 0;
      self->own = nullptr;
    };
  }
  ~TagProof() {
    // The end of what the library still has is not to be told, and its memory stays.
    if (trial_.own != nullptr)
      static_cast<TagReceive*>(trial_.own)->user = nullptr;
    else if (room_ != nullptr)
      room_->pool->give_back(*room_);
  }

  const char* run() {
    room_ = iface_.large_->take();
    if (room_ == nullptr) return "there is no memory for it";
    // With the longest tag, of which a bit is ignored.
    if (!send(high_ | 5, kTrialBytes)) return "it takes no tagged message";
    if (!claim(high_ | 1, 4) || trial_.event.tag != (high_ | 5) || !trial_.right)
      return "it does not find a message whose tag fits";
    if (trial_.event.immediate != kTrialImmediate || trial_.event.length != kTrialBytes)
      return "it does not tell what was sent beside a message";
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint32_t length = length_of(round);
      if (!post(kShortBytes) || !send(high_ | 5, length) || !taken(length))
        return "it does not tell how long a message was that a receive has cut off";
      if (!send(high_ | 5, kShortBytes) || !frame() || !post(0) || !taken(kShortBytes))
        return "nothing comes any more behind a message that a receive has cut off";
    }
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::uint32_t length = length_of(round);
      if (!send(high_ | 5, length) || !frame()) return "it does not keep frames and tagged messages in one order";
      trial_.over = false;
      if (!post_claim(high_ | 5, 0) || !look_until([&] { return trial_.over; }) || trial_.event.result != ASHLAR_OK)
        return "a tagged message is not there yet when the frame behind it is";
    }
    return settled() ? nullptr : "what was sent does not leave";
  }

 private:
  struct Trial : ashlar_tag_receive {
    bool over = false, right = false;
    ashlar_tag_event event = {};
  };
  static constexpr const char* kText = "what this process sends it";
  static constexpr std::uint64_t kCompared = 24;

  std::uint32_t length_of(unsigned round) const {
    return round % 2 == 0 ? kTrialBytes
                          : std::min(kTagMost, room_->capacity - static_cast<std::uint32_t>(sizeof(Frame)));
  }

  template <class Done>
  bool look_until(Done done) {
    const std::uint64_t until = std::min(until_, now_ns() + kStepMost);
    while (!done()) {
      if (now_ns() >= until) return false;
      if (iface_.look() == 0) sched_yield();
    }
    return true;
  }
  bool settled() {
    return look_until([&] { return iface_.counters.under_way.now.get() == 0; });
  }
  bool post(Buffer& message) { return iface_.post_to_itself(message, until_); }

  bool send(std::uint64_t tag, std::uint32_t length) {
    Buffer* const message = iface_.large_->take();
    if (message == nullptr) return false;
    message->what = Operation::What::kSend;
    message->peer = nullptr;
    std::byte* const payload =
        iface_.label(*message, tag, kTrialImmediate, length, tag_proof(iface_.record_.secret, iface_.record_.nonce));
    std::memset(payload, 0, length);
    std::memcpy(payload, kText, std::min<std::uint64_t>(length, kCompared));
    return post(*message);
  }
  /// A frame behind them has arrived.
  bool frame() {
    Buffer* const message = iface_.trial(++last_frame_);
    return message != nullptr && post(*message) && look_until([&] { return iface_.proved_ == last_frame_; });
  }
  TagReceive* make(TagReceive::Stage stage, std::uint64_t tag, std::uint64_t ignored) {
    trial_.over = false;
    TagReceive* const made = iface_.new_tag(tag | iface_.sender_bits(iface_.context_.self), ignored, &trial_);
    if (made == nullptr) return nullptr;
    made->stage = stage;
    made->at = iface_.own_path_;
    return made;
  }
  bool give(TagReceive* made) {
    Posted posted = Posted::kFailed;
    if (made != nullptr) (void)look_until([&] { return (posted = iface_.fabric_->post_tag(*made)) != Posted::kLater; });
    if (posted == Posted::kYes) return true;
    trial_.own = nullptr;
    if (made != nullptr) iface_.dispose(*made);
    return false;
  }
  bool post_claim(std::uint64_t tag, std::uint64_t ignored) {
    TagReceive* const made = make(TagReceive::Stage::kPeek, tag, ignored);
    if (made == nullptr || !iface_.fabric_->senders_in_tags()) return give(made);
    if (iface_.claim_at_once(*made) == ASHLAR_AGAIN) {
      trial_.own = nullptr;
      trial_.over = true;
      trial_.event.result = ASHLAR_AGAIN;
    }
    return true;
  }
  bool claim(std::uint64_t tag, std::uint64_t ignored) {
    do {
      (void)iface_.look();
      if (!post_claim(tag, ignored) || !look_until([&] { return trial_.over; })) return false;
    } while (trial_.event.result == ASHLAR_AGAIN && now_ns() < until_);
    return trial_.event.result == ASHLAR_OK;
  }
  bool post(std::uint32_t length) {
    TagReceive* const made = make(TagReceive::Stage::kPosted, high_ | 5, 0);
    if (made == nullptr) return false;
    made->to = room_->bytes;
    made->length = length;
    made->description = room_->description;
    return give(made);
  }
  bool taken(std::uint32_t length) {
    return look_until([&] { return trial_.over; }) && trial_.event.result == ASHLAR_OK &&
           trial_.event.length == length && trial_.event.immediate == kTrialImmediate;
  }

  Interface& iface_;
  const std::uint64_t until_;
  std::uint64_t high_ = 0;
  Buffer* room_ = nullptr;
  Trial trial_ = {};
  std::uint32_t last_frame_ = 1;
};

/// A frame that tells this process its number.
Buffer* Interface::trial(std::uint32_t number) {
  Buffer* const made = small_->take();
  if (made == nullptr) return nullptr;
  made->what = Operation::What::kSend;
  made->peer = nullptr;
  made->frame() = {
      .token = record_.nonce, .h0 = 0, .h1 = 0, .number = number, .kind = Kind::kTrial, .id = 0, .length = 0};
  made->length = sizeof(Frame);
  return made;
}

/// False: it has not left before then.
bool Interface::post_to_itself(Buffer& message, std::uint64_t until) {
  for (;;) {
    const Posted result = fabric_->post(message, own_path_);
    if (result == Posted::kDone || result == Posted::kYes) {
      counters.under_way.raise();
      if (result == Posted::kDone) sent(message);
      return true;
    }
    if (result == Posted::kFailed || now_ns() >= until) break;
    if (look() == 0) sched_yield();
  }
  message.pool->give_back(message);
  return false;
}

/// A network that is listed and does not work is left out.
bool Interface::prove() {
  own_path_ = record_.address.empty() ? kNoPath : fabric_->insert(record_.address, nullptr);
  Buffer* const message = own_path_ != kNoPath ? trial(1) : nullptr;
  if (message == nullptr) return false;
  const std::uint64_t until = now_ns() + config_.handshake_timeout;  // of a host under load as well
  proving_ = true;
  const bool posted = post_to_itself(*message, until);
  while (posted && now_ns() < until && !(proved_ != 0 && counters.under_way.now.get() == 0))
    if (look() == 0) sched_yield();
  proving_ = false;
  return proved_ != 0;
}

bool Interface::prove_wake(int epoll) {
  const std::uint64_t until = now_ns() + std::min(config_.handshake_timeout, kProofMost);
  epoll_event event;
  bool proved = false;
  proving_ = true;
  for (unsigned round = 0; round < kWakeRounds && !proved; ++round) {
    // One that is readable while nothing arrives would wake the process at once, for ever.
    bool quiet = false;
    for (int i = 0; i < kQuietTries && !quiet; ++i) {
      (void)look();
      quiet = fabric_->may_sleep() && epoll_wait(epoll, &event, 1, 0) == 0;
    }
    Buffer* const message = quiet ? trial(proved_ + 1) : nullptr;
    if (message == nullptr) break;
    const std::uint32_t number = message->frame().number;
    if (!post_to_itself(*message, until)) break;
    bool in_time = true;
    while (proved_ != number && now_ns() < until) {
      if (fabric_->may_sleep() && epoll_wait(epoll, &event, 1, kWakeMostMs) == 0) in_time = false;
      if (look() == 0) sched_yield();
    }
    proved = in_time && proved_ == number;
  }
  proving_ = false;
  return proved;
}

const char* Interface::prove_tags() {
  proving_ = true;
  const char* const wrong = TagProof(*this).run();
  proving_ = false;
  return wrong;
}

}  // namespace ashlar::network
