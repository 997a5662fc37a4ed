#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ashlar::launch {

/// One command or answer of PMI: names with values, of which the first is "cmd".
class PmiMessage {
 public:
  PmiMessage() = default;
  explicit PmiMessage(std::string_view command) { add("cmd", command); }
  PmiMessage& add(std::string_view name, std::string_view value) {
    fields_.emplace_back(name, value);
    return *this;
  }
  PmiMessage& add(std::string_view name, std::int64_t value) { return add(name, std::to_string(value)); }

  /// nullptr: not there.
  const std::string* find(std::string_view name) const;
  /// False: not there, or no number of 32 bits.
  bool number(std::string_view name, std::int64_t* value) const;
  /// "" of an empty message.
  std::string_view command() const { return fields_.empty() ? std::string_view() : fields_.front().second; }
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

/// How a message travels: PMI-1 has lines of words, PMI-2 has a length of six characters in front, and semicolons.
enum class Framing { kLine, kFrame };

/// The longest message that is read: more than any server's, and a bound for what a broken one can make us keep.
inline constexpr std::size_t kLongestMessage = std::size_t{128} << 10;

std::string pmi_text(Framing framing, const PmiMessage& message);

enum class Cut { kWhole, kPart, kWrong };

/// Takes the first message from the front of `bytes`. kPart: its end has not come yet, and `bytes` stays as it is.
/// kWrong: it can never become a message; `why` is set.
Cut cut_message(Framing framing, std::string* bytes, PmiMessage* message, const char** why);

}  // namespace ashlar::launch
