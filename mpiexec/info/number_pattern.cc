#include "mpiexec/info/number_pattern.h"

#include <utility>
#include <vector>

#include "framework/param/parse.h"
#include "framework/param/units.h"

namespace ashlar::info {
namespace {

using Wide = unsigned __int128;  // the bounds of 64-bit numbers, and a power of ten above them

std::string repeated_digit(int times) {
  if (times == 0) return "";
  return times == 1 ? "[0-9]" : "[0-9]{" + std::to_string(times) + "}";
}

std::string digit_from(Wide low, Wide high) {
  const std::string first(1, static_cast<char>('0' + static_cast<int>(low)));
  const std::string last(1, static_cast<char>('0' + static_cast<int>(high)));
  return low == high ? first : "[" + first + "-" + last + "]";
}

void add(std::string* alternatives, const std::string& one) {
  if (!alternatives->empty()) *alternatives += "|";
  *alternatives += one;
}

/// The row's range, and the single values besides; without a range every number.
std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals(const ashlar_param& row) {
  ashlar_param free = row;  // its own bounds need not be in its range
  free.choices = nullptr;
  const auto number = [&free](const char* text) {
    param::Parsed parsed;
    return param::parse(free, text, &parsed).ok() ? parsed.u64 : 0;
  };
  if (row.choices == nullptr || row.choices[0] == nullptr || row.choices[1] == nullptr) return {{0, UINT64_MAX}};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found{{number(row.choices[0]), number(row.choices[1])}};
  for (const char* const* besides = row.choices + 2; *besides != nullptr; ++besides)
    found.emplace_back(number(*besides), number(*besides));
  return found;
}

/// Numbers of one unit that are in the row's range.
std::string numbers_of(const ashlar_param& row, std::uint64_t factor) {
  std::string whole, before_point;
  bool below_one = false;
  for (const auto& [least, most] : intervals(row)) {
    const std::uint64_t first = least / factor + (least % factor != 0 ? 1 : 0), last = most / factor;
    if (first <= last) add(&whole, whole_numbers(first, last));
    add(&before_point, whole_numbers(least / factor, last));
    below_one = below_one || least < factor;
  }
  // ".5" and "2." are numbers too.
  const std::string fraction = "(?:" + before_point + ")\\.[0-9]*" + (below_one ? "|\\.[0-9]+" : "");
  return whole.empty() ? fraction : whole + "|" + fraction;
}

}  // namespace

std::string whole_numbers(std::uint64_t least, std::uint64_t most) {
  std::string alternatives;
  Wide low = least == 0 ? 1 : least;
  // Numbers of so many digits, all of them.
  int fewest = 0, digits = 0;
  const auto add_full = [&] {
    if (digits > 0) {
      const std::string up_to = fewest == digits ? "" : "," + std::to_string(digits - 1);
      add(&alternatives, digits == 1 ? "[1-9]" : "[1-9][0-9]{" + std::to_string(fewest - 1) + up_to + "}");
    }
    digits = 0;
  };
  // Runs of numbers that differ in one digit and in those behind it: 4096..8191 is 409[6-9], 4[1-9][0-9]{2}, ...
  while (low <= most) {
    Wide power = 1;
    int behind = 0;
    while (low % (power * 10) == 0 && low + power * 10 - 1 <= most) power *= 10, ++behind;
    const Wide digit = low / power % 10, front = low / (power * 10);
    Wide last = digit;
    while (last < 9 && low + (last + 2 - digit) * power - 1 <= most) ++last;
    if (front == 0 && digit == 1 && last == 9) {
      if (digits == 0) fewest = behind + 1;
      digits = behind + 1;
    } else {
      add_full();
      const std::string prefix = front == 0 ? "" : std::to_string(static_cast<std::uint64_t>(front));
      add(&alternatives, prefix + digit_from(digit, last) + repeated_digit(behind));
    }
    low += (last + 1 - digit) * power;
  }
  add_full();
  if (alternatives.empty()) return "0+";
  return (least == 0 ? "0+|0*(?:" : "0*(?:") + alternatives + ")";
}

std::string quantity_pattern(const ashlar_param& row) {
  const bool time = row.type == ASHLAR_PARAM_DURATION;
  const std::span<const param::Unit> units = time ? std::span<const param::Unit>(param::kTimeUnits) : param::kByteUnits;
  std::string alternatives;
  // Units of one size share the numbers.
  std::vector<std::uint64_t> done;
  for (const param::Unit& unit : units) {
    bool again = false;
    for (const std::uint64_t factor : done) again = again || factor == unit.factor;
    if (again) continue;
    done.push_back(unit.factor);
    std::string names;
    bool optional = false;
    for (const param::Unit& other : units) {
      if (other.factor != unit.factor) continue;
      if (other.name.empty()) {
        optional = true;
      } else {
        add(&names, std::string(other.name));
      }
    }
    add(&alternatives, "(?:" + numbers_of(row, unit.factor) + ")[ \\t]*(?:" + names + ")" + (optional ? "?" : ""));
  }
  for (const auto& [least, most] : intervals(row)) {
    if (time && least == 0) add(&alternatives, "0");
  }
  return "^[ \\t]*(?:" + alternatives + ")[ \\t]*$";
}

}  // namespace ashlar::info
