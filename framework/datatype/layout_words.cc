#include "framework/datatype/layout_words.h"

#include "framework/datatype/datatype.h"
#include "framework/datatype/layout.h"
#include "framework/datatype/words.h"

namespace ashlar::datatype {
namespace {

using Form = Layout::Form;

constexpr std::size_t kEntries = 4;

void say_bytes(Words& words, std::size_t bytes) { words.add("%zu byte%s", bytes, bytes == 1 ? "" : "s"); }

void say(Words& words, const Layout& l);

void say_part(Words& words, const Layout& part) {
  const bool plain = part.form == Form::kRun;
  if (!plain) words.add("(");
  say(words, part);
  if (!plain) words.add(")");
}

void say(Words& words, const Layout& l) {
  if (words.full()) return;  // a nest may be deeper than the stack
  const std::size_t shown = l.count > kEntries + 1 ? kEntries : l.count;
  const auto entry = [&](std::size_t i, const char* before) {
    words.add("%s%s%td", i == 0 ? "" : ", ", before, l.displacement(i));
  };
  switch (l.form) {
    case Form::kEmpty:
      return words.add("nothing");
    case Form::kRun:
      return say_bytes(words, l.bytes);
    case Form::kStrided:
      words.add("%zu x ", l.count);
      say_part(words, *l.child);
      return words.add(", %td apart", l.stride);
    case Form::kIndexed:
      words.add("%zu x ", l.count);
      say_part(words, *l.child);
      words.add(" at ");
      for (std::size_t i = 0; i < shown; ++i) entry(i, "");
      break;
    case Form::kBlocks:
    case Form::kSequence:
      words.add(l.form == Form::kBlocks ? "%zu runs: " : "%zu parts: ", l.count);
      for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0) words.add(", ");
        if (l.form == Form::kBlocks) {
          say_bytes(words, l.start(i + 1) - l.start(i));
        } else {
          say_part(words, *l.children[i]);
        }
        words.add(" at %td", l.displacement(i));
      }
      break;
  }
  if (shown < l.count) words.add(", ...");
}

}  // namespace

void describe_layout(const Datatype& type, char* out, std::size_t room) {
  Words words(out, room);
  if (type.dense() && type.size() > 0) words.add("one run of ");
  say(words, type.layout());
  if (type.origin() != 0 && type.size() > 0) words.add(", from %lld on", static_cast<long long>(type.origin()));
}

}  // namespace ashlar::datatype
