#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ashlar::mpiexec {

/// What mpiexec and its daemon on another host tell each other.
enum class FrameKind : std::uint16_t {
  // mpiexec to daemon
  kOrder = 1,    // JobOrder: all that the job is
  kStart,        // every host is ready: the ranks may start
  kSignal,       // rank (kEveryRank: all), signal
  kStop,         // SIGTERM, and no rank goes on
  kEnded,        // rank, wait status, failed, fences: of any rank of the job
  kFenceDone,    // generation
  kLookUp,       // ticket, rank, attach, key: what has this rank of yours published?
  kRecord,       // RecordAnswer: to RecordWanted of this daemon
  kInput,        // bytes for the rank that has standard input; none: it ends
  kRoom,         // bytes of output that were taken
  kCloseStream,  // error stream: its reader has left
  kAsk,          // status, variables: what does each rank wait for, and what are its variables?
  kRefresh,      // let the ranks record the time, and tell their states
  kBeat,         // answer it
  kLeave,        // the job is over
  kCheck,        // CheckOrder: no job, look at the host
  kTryWays,      // WayTarget of each other host
  kReply,        // call, bytes for the rank that has made it; none: nobody is there any more
  kClock = 48,   // the time here: what is yours?
  kTools,        // whole: send what the ranks' tools have recorded, or of it what samples read
  kLead,         // node, AgentOrder: start the agent that leads to this host
  kDown,         // node, bytes for the daemon that was started so
  kForget,       // node: end its agent
  kNode,         // which of the job's nodes this host is
  kToAll,        // a kind, and the body of a frame of it: for this host, and all behind it
  // daemon to mpiexec
  kReady = 64,   // NodeReady
  kRefused,      // a sentence: the job cannot start here
  kStarted,      // rank, process
  kOutput,       // rank, error stream, bytes
  kStreamEnded,  // rank, error stream
  kRankAborted,  // rank, code, text
  kRankEnded,    // rank, RankEnding
  kFence,        // generation
  kWanted,       // RecordWanted
  kFound,        // ticket, RecordAnswer
  kStates,       // RankView of each rank
  kAccounts,     // the same, with texts: the answer to kAsk
  kInputRoom,    // bytes of input that the rank has been given
  kInputClosed,  // the rank reads no more
  kBeatBack,
  kStep,             // CheckStep: before it, and after
  kChecked,          // HostReport
  kWays,             // WayResult of each way
  kCall,             // call: a rank wants something of mpiexec (control.h)
  kAsks,             // call, its bytes; none: it is gone
  kClockBack = 112,  // the time there, of kClock; a moment on both clocks here
  kToolPages,        // rank, offset in its memory for tools, bytes
  kToolsSent,        // that was all
  kUp,               // node, bytes of the daemon to which an agent of this host leads
  kAgentSaid,        // node, bytes that the agent has written to standard error
  kAgentOver         // AgentOver
};
/// For a report: "a message of kind 5 (a rank's end; 13 bytes)".
std::string frame_words(FrameKind kind, std::size_t bytes);
inline constexpr std::uint32_t kEveryRank = ~std::uint32_t{0};

/// Values one after the other. Both ends are of one version and one machine: numbers travel as they are.
class Packer {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(out_); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      fields(*this, const_cast<T&>(value));
  }
  void put(const std::string& text) { put_text(text); }
  void put(const std::string_view& text) { put_text(text); }
  void put_text(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    out_.append(text);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) put(value);
  }

  std::string out_;
};

/// The same values in the same order. Once something is missing, good() is false and all that follows is zero.
class Unpacker {
 public:
  explicit Unpacker(std::string_view from) : left_(from) {}
  template <class... Values>
  Unpacker& operator()(Values&... values) {
    (get(values), ...);
    return *this;
  }
  bool good() const { return good_; }
  /// Whether the values were all that there was.
  bool done() const { return good_ && left_.empty(); }
  /// What has not been read yet.
  std::string_view rest() const { return left_; }

 private:
  bool take(void* to, std::size_t bytes) {
    good_ = good_ && left_.size() >= bytes;
    if (!good_) return false;
    std::memcpy(to, left_.data(), bytes);
    left_.remove_prefix(bytes);
    return true;
  }
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      value = take(&byte, 1) && byte != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      if (!take(&value, sizeof value)) value = T{};
    } else {
      fields(*this, value);
    }
  }
  /// The number of things that follow, each of at least one byte.
  std::size_t count() {
    std::uint64_t number = 0;
    get(number);
    good_ = good_ && number <= left_.size();
    return good_ ? static_cast<std::size_t>(number) : 0;
  }
  void get(std::string& text) {
    const std::size_t length = count();
    text.assign(left_.substr(0, length));
    left_.remove_prefix(length);
  }
  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }
  template <class T>
  void get(std::vector<T>& values) {
    const std::size_t number = count();
    values.clear();
    for (std::size_t i = 0; i < number && good_; ++i) get(values.emplace_back());
  }

  std::string_view left_;
  bool good_ = true;
};

/// The packed values.
template <class... Values>
std::string packed(const Values&... values) {
  Packer pack;
  pack(values...);
  return pack.take();
}

}  // namespace ashlar::mpiexec
