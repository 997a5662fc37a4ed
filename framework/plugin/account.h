#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::plugin {

/// What a process is doing, for questions from outside: `mpiexec --timeout`, `ashlar_info waits`. The process writes
/// lines of text, the asker takes them apart; both are of one build. One fact per line, its letter first:
///
///   t NANOSECONDS                 since when, on the node's monotonic clock, its oldest waiting call waits; without it
///                                 no call waits
///   w PEER TEXT                   the call waits for that process of the job ("*": for any process, "-": for
///                                 none in particular); TEXT reads on from "it waits ..."
///   c CONTEXT NUMBER RANKS TEXT   the same for a collective: the NUMBER-th of the communicator, its processes in RANKS
///   p PEER TEXT                   an operation that is under way, whether a call waits for it or not
///   s CONTEXT NUMBER              so many collectives it has begun on that communicator
///   f                             it is inside MPI_Finalize
///   + NUMBER                      so many lines more found no room
inline constexpr std::uint32_t kAnyPeer = 0xffffffff;
inline constexpr std::uint32_t kNoPeer = 0xfffffffe;

/// Writes an account into a buffer. Allocates nothing.
class AccountWriter {
 public:
  AccountWriter(char* out, std::size_t room) : out_(out), room_(room > kReserve ? room - kReserve : 0) {}

  void waiting(std::uint64_t since_ns);
  void waits_for(std::uint32_t peer, const char* text);
  /// `rank_of(group, i)` is the process of the job behind rank i of `size`.
  void waits_in_collective(std::uint32_t context, std::uint32_t number, int size,
                           std::uint32_t (*rank_of)(const void* group, int i), const void* group, const char* text);
  void under_way(std::uint32_t peer, const char* text);
  void has_begun(std::uint32_t context, std::uint32_t number);
  void finalizing();
  /// What follows is a part of this call, which is named instead; nullptr: of none.
  void inside(const char* call) { inside_ = call; }
  const char* inside() const { return inside_; }

  /// Ends the account and returns its length.
  std::size_t finish();
  /// Whether it says that a call waits.
  bool waits() const { return waits_; }

 private:
  static constexpr std::size_t kReserve = 16;  // for the last line
  void line(const char* format, ...) __attribute__((format(printf, 2, 3)));

  char* const out_;
  const std::size_t room_;
  std::size_t used_ = 0;
  unsigned dropped_ = 0;
  bool waits_ = false;
  const char* inside_ = nullptr;
};

/// An account taken apart.
struct Account {
  struct Entry {
    std::uint32_t peer = kNoPeer;
    std::string text;
  };
  struct Collective {
    std::uint32_t context = 0, number = 0;
    std::vector<std::uint32_t> ranks;
    std::string text;
  };
  struct Begun {
    std::uint32_t context = 0, number = 0;
  };

  bool waits = false;
  std::uint64_t since_ns = 0;
  bool finalizing = false;
  std::vector<Entry> waits_for, under_way;
  std::vector<Collective> collectives;
  std::vector<Begun> begun;
  unsigned dropped = 0;

  /// Lines that are not understood are left out.
  static Account parse(std::string_view text);
};

}  // namespace ashlar::plugin
