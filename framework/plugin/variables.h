#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ashlar::plugin {

/// The variables of a process, for a question from outside: `ashlar_info --pvars --pid PID`, `explain --pid`. The
/// process writes lines of text, the asker takes them apart; both are of one build. One fact per line, its letter
/// first:
///
///   v NAME VALUE   a performance variable of the process; a number, or the word of a state
///   l NAME         one that cannot be read now: reading it takes a lock that a thread of the process may hold
///   p KEY TEXT     a parameter that the program has set
///   + NUMBER       so many lines more found no room
class VariablesWriter {
 public:
  VariablesWriter(char* out, std::size_t room) : out_(out), room_(room > kReserve ? room - kReserve : 0) {}

  /// Every performance variable of the process that is not bound to an object; counters of algorithms that were not
  /// used are left out. `locked`: the caller holds a lane's lock that is one.
  void pvars(bool locked);
  /// Every parameter that the program has set, and that took effect.
  void program_settings();
  /// Ends the text and returns its length.
  std::size_t finish();

 private:
  static constexpr std::size_t kReserve = 16;  // for the last line
  void line(char letter, std::string_view name, std::string_view text);

  char* const out_;
  const std::size_t room_;
  std::size_t used_ = 0;
  unsigned dropped_ = 0;
};

/// Such a text taken apart.
struct Variables {
  struct Pvar {
    std::string name;
    std::string value;  // "" when it could not be read
    bool operator==(const Pvar&) const = default;
  };
  std::vector<Pvar> pvars;  // one of each name
  std::vector<std::pair<std::string, std::string>> program_settings;
  unsigned dropped = 0;

  /// Lines that are not understood are left out.
  static Variables parse(std::string_view text);
};

}  // namespace ashlar::plugin
