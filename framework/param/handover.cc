// The merged configuration as text: one line per setting, winners first among those of a key.
//   <W winner, L loser, N does not apply><lock digit><layer digit> TAB key TAB text TAB origin TAB when TAB why it lost
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/store.h"

namespace ashlar::param {
namespace {

constexpr std::string_view kHeader = "ashlar-params 1\n";

void append_escaped(std::string* out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '\t':
        *out += "\\t";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\\':
        *out += "\\\\";
        break;
      default:
        *out += c;
    }
  }
}

// Cuts the next field of a line and takes its escapes out where it stands.
char* next_field(char** at) {
  char* field = *at;
  char* to = field;
  char* from = field;
  for (; *from && *from != '\t'; ++from) {
    if (*from == '\\' && from[1]) {
      ++from;
      *to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from;
    } else {
      *to++ = *from;
    }
  }
  *at = *from ? from + 1 : from;
  *to = '\0';
  return field;
}

}  // namespace

std::string Store::serialize() const {
  std::string out(kHeader);
  for (const Setting& s : settings_) {
    out += !s.applies ? 'N' : s.lost ? 'L' : 'W';
    out += s.lock ? '1' : '0';
    out += static_cast<char>('0' + static_cast<int>(s.layer));
    for (const char* field : {s.key, s.text, s.origin, s.when, s.lost ? s.lost : ""}) {
      out += '\t';
      append_escaped(&out, field);
    }
    out += '\n';
  }
  return out;
}

Status Store::adopt(std::string_view text) {
  forget();
  if (!text.starts_with(kHeader)) return fail(kErrOther, "launch.parameters_form", {{"value", text.substr(0, 16)}});
  text.remove_prefix(kHeader.size());
  char* copy = pool_.take(text.size() + 1);
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  while (*copy) {
    char* end = std::strchr(copy, '\n');
    if (!end) end = copy + std::strlen(copy);
    char* next = *end ? end + 1 : end;
    *end = '\0';
    char* at = copy;
    const char* flags = next_field(&at);
    if (std::strlen(flags) != 3 || flags[2] < '0' || flags[2] > '8')
      return fail(kErrOther, "launch.parameters_damaged");
    Setting s{next_field(&at), next_field(&at), next_field(&at)};
    s.when = next_field(&at);
    s.lost = next_field(&at);
    if (flags[0] == 'W') s.lost = nullptr;
    s.applies = flags[0] != 'N';
    s.lock = flags[1] == '1';
    s.layer = static_cast<Layer>(flags[2] - '0');
    settings_.push_back(s);
    copy = next;
  }
  decided_ = settings_.size();
  filled_ = true;
  return {};
}

void Store::merge_environment(const char* const* environment) {
  // A variable that the launcher has merged comes back identical; only one given to this rank differs.
  std::vector<const char*> own;
  for (const char* const* at = environment; at && *at; ++at) {
    // A second underscore: the launcher's hand-over, no parameter.
    if (std::strncmp(*at, "ASHLAR_", 7) != 0 || (*at)[7] == '_') continue;
    const char* equals = std::strchr(*at, '=');
    if (!equals) continue;
    const std::string_view name(*at, static_cast<std::size_t>(equals - *at));
    bool seen = false;
    for (const Setting& s : settings_) {
      seen = seen || (s.layer == Layer::environment && std::strncmp(s.origin, "environment ", 12) == 0 &&
                      name == s.origin + 12 && std::strcmp(s.text, equals + 1) == 0);
    }
    if (!seen) own.push_back(*at);
  }
  if (own.empty()) return;
  own.push_back(nullptr);
  read_environment(own.data(), true);
  Context unused;
  decide(unused);
}

}  // namespace ashlar::param
