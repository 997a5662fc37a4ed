#include "framework/base/catalogue.h"

#include <algorithm>
#include <iterator>

namespace ashlar::catalogue {
namespace {

#include "messages.inc"

}  // namespace

const Row* begin() noexcept { return std::begin(kRows); }
const Row* end() noexcept { return std::end(kRows); }

const Row* find(std::string_view id) noexcept {
  // The generator sorts the rows.
  const Row* const at =
      std::lower_bound(begin(), end(), id, [](const Row& row, std::string_view i) { return row.id < i; });
  return at != end() && at->id == id ? at : nullptr;
}

Message message(const char* id, std::initializer_list<Fact> facts) {
  Message m;
  m.id = id;
  const Row* const row = find(id);
  if (!row) {
    m.says = std::string("(no message is called ") + id + ")";
    return m;
  }
  m.id = row->id;
  const auto filled = [&](const char* pattern, std::string* out) {
    char number[Fact::kNumberBytes];
    const auto lookup = [&](std::string_view name) {
      for (const Fact& fact : facts)
        if (name == fact.name()) return fact.text(number);
      return std::string_view{};
    };
    return fill(pattern, lookup, [&](std::string_view piece) { *out += piece; });
  };
  (void)filled(row->says, &m.says);
  if (!filled(row->because, &m.because)) m.because.clear();
  for (const char* const* at = row->tries; *at; ++at) {
    std::string advice;
    if (filled(*at, &advice)) m.tries.push_back(std::move(advice));
  }
  return m;
}

std::string Message::paragraph() const {
  std::string out = says;
  if (!because.empty()) out += "\n  " + because;
  for (const std::string& advice : tries) out += "\n  - " + advice;
  return out + "\n";
}

}  // namespace ashlar::catalogue
