#include "framework/base/catalogue.h"

#include <cstring>

namespace ashlar::catalogue {
namespace {

#include "messages.inc"

std::string filled(const char* text, std::initializer_list<Fact> facts) {
  std::string out;
  for (const char* at = text; *at;) {
    const char* close = *at == '{' ? std::strchr(at, '}') : nullptr;
    if (!close) {
      out += *at++;
      continue;
    }
    const std::string_view name(at + 1, static_cast<std::size_t>(close - at - 1));
    const Fact* found = nullptr;
    for (const Fact& fact : facts) {
      if (name == fact.name) found = &fact;
    }
    // Left as it is when the fact is missing: better a visible hole than a lost message.
    out += found ? found->value : std::string_view(at, static_cast<std::size_t>(close - at + 1));
    at = close + 1;
  }
  return out;
}

}  // namespace

Message message(const char* id, std::initializer_list<Fact> facts) {
  Message m;
  m.id = id;
  for (const Row& row : kRows) {
    if (std::strcmp(row.id, id) != 0) continue;
    m.id = row.id;
    m.says = filled(row.says, facts);
    m.because = filled(row.because, facts);
    for (const char* const* at = row.tries; *at; ++at) m.tries.push_back(filled(*at, facts));
    return m;
  }
  m.says = std::string("(no message is called ") + id + ")";
  return m;
}

Status fail(int mpi_class, const char* id, std::initializer_list<Fact> facts) {
  return Status::fail_text(mpi_class, message(id, facts).line().c_str());
}

std::string Message::line() const { return because.empty() ? says : says + " " + because; }

std::string Message::paragraph() const {
  std::string out = says;
  if (!because.empty()) out += "\n  " + because;
  for (const std::string& advice : tries) out += "\n  - " + advice;
  return out + "\n";
}

}  // namespace ashlar::catalogue
