#include "framework/base/failure.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "framework/base/failure_ring.h"

namespace ashlar {
namespace {

bool mentions(const char* pattern, std::string_view name) {
  for (std::string_view rest = pattern;;) {
    const std::size_t at = rest.find('{');
    if (at == rest.npos) return false;
    rest.remove_prefix(at + 1);
    if (rest.starts_with(name) && rest.substr(name.size()).starts_with('}')) return true;
  }
}

// Appends `pattern` with the facts of `slot`; false, with nothing appended, when a fact is missing that it needs.
bool add_sentence(const FailureSlot& slot, const char* pattern, TextWriter& out) {
  const std::size_t before = out.size();
  const bool complete = catalogue::fill(
      pattern, [&](std::string_view name) { return slot.text_of(name); },
      [&](std::string_view piece) { out.add(piece); });
  if (!complete) out.cut(before);
  return complete;
}

// Copies a sentence in which "argument NAME[n]" becomes "argument NAME(n + 1)".
void add_from_one(std::string_view sentence, TextWriter& out) {
  constexpr std::string_view kWord = "argument ";
  const std::size_t name = sentence.find(kWord);
  const std::size_t open = name == sentence.npos ? name : sentence.find_first_of("[ ", name + kWord.size());
  const std::size_t close = open == sentence.npos ? open : sentence.find(']', open);
  std::uint64_t index = 0;
  if (close == sentence.npos || std::from_chars(&sentence[open + 1], &sentence[close], index).ptr != &sentence[close]) {
    out.add(sentence);
    return;
  }
  char room[Fact::kNumberBytes];
  out.add(sentence.substr(0, open))
      .add("(")
      .add(Fact("", index + 1).text(room))
      .add(")")
      .add(sentence.substr(close + 1));
}

void add_says(const FailureSlot& slot, TextWriter& out) {
  char plain[Failure::kSentenceBytes];
  TextWriter says(plain);
  TextWriter& to = slot.from_one ? says : out;
  (void)catalogue::fill(
      slot.row->says, [&](std::string_view name) { return slot.text_of(name); },
      [&](std::string_view piece) { to.add(piece); });
  if (slot.from_one) add_from_one(says.view(), out);
}

}  // namespace

std::string_view Fact::text(char (&room)[kNumberBytes]) const noexcept {
  const auto value = static_cast<unsigned long long>(number_);
  switch (form_) {
    case Form::kSigned:
      std::snprintf(room, sizeof room, "%lld", static_cast<long long>(value));
      return room;
    case Form::kUnsigned:
      std::snprintf(room, sizeof room, "%llu", value);
      return room;
    case Form::kAddress:
      std::snprintf(room, sizeof room, "%#llx", value);
      return room;
    case Form::kText:
      break;
  }
  return text_;
}

// "argument tag = -7, peer rank 2 (node6), tag 4, 4096 bytes wanted, 1024 bytes got, transport.shm: no space".
void FailureSlot::render_around(TextWriter& out, bool because_shown) const noexcept {
  const auto open = [&](const char* name) {
    if (row && (mentions(row->says, name) || (because_shown && mentions(row->because, name))))
      return std::string_view{};
    return text_of(name);
  };
  const auto add = [&](std::string_view before, std::string_view value, std::string_view after) {
    if (value.empty()) return;
    if (out.size() > 0) out.add(", ");
    out.add(before).add(value).add(after);
  };
  add("argument ", open("argument"), "");
  if (!open("value").empty()) out.add(out.size() > 0 ? " = " : "value ").add(open("value"));
  add("peer rank ", open("peer"), "");
  if (!open("peer").empty() && !open("peer_host").empty())
    out.add(" (").add(open("peer_host")).add(")");
  else
    add("on ", open("peer_host"), "");
  add("tag ", open("tag"), "");
  add("", open("bytes_wanted"), " bytes wanted");
  add("", open("bytes_got"), " bytes got");
  add("component ", open("component"), "");
  add("", open("lower"), "");
}

void FailureSlot::render() noexcept {
  // A foreign sentence was in the line first; what is added to it is written after it.
  char plain[sizeof line];
  const std::size_t own = row ? 0 : std::string_view(line, sentence).copy(plain, sentence);
  TextWriter out(line);
  if (row)
    add_says(*this, out);
  else
    out.add({plain, own});
  bool because_shown = false;
  if (row && *row->because) {
    const std::size_t says = out.size();
    because_shown = add_sentence(*this, row->because, out.stop().add(" "));
    if (!because_shown) out.cut(says);
  }
  sentence = static_cast<std::uint16_t>(out.size());
  char around[Failure::kSentenceBytes];
  TextWriter rest(around);
  render_around(rest, because_shown);
  if (rest.size() > 0) out.add(" (").add(rest.view()).add(")");
}

namespace {

/// `alike`: one of the last failures serves when it is the same.
Status record(int mpi_class, const char* id, std::initializer_list<Fact> facts, bool alike) noexcept {
  FailureSlot slot;
  slot.row = catalogue::find(id);
  if (!slot.row) return Status::fail(mpi_class, "(no message is called %s)", id);
  for (const Fact& fact : facts) slot.add(fact);
  if (alike) {
    const Status same = FailureRing::find(mpi_class, slot);
    if (!same.ok()) return same;
  }
  slot.render();
  return FailureRing::put(mpi_class, slot);
}

}  // namespace

Status fail(int mpi_class, const char* id, std::initializer_list<Fact> facts) noexcept {
  return record(mpi_class, id, facts, false);
}

Status fail_alike(int mpi_class, const char* id, std::initializer_list<Fact> facts) noexcept {
  return record(mpi_class, id, facts, true);
}

Status add_facts(Status status, std::initializer_list<Fact> facts) noexcept {
  FailureSlot* const kept = FailureRing::slot_of(status);
  if (!kept) return status;
  for (const Fact& fact : facts) kept->add(fact);
  kept->render();
  return status;
}

void name_elements_from_one(Status status) noexcept {
  FailureSlot* const kept = FailureRing::slot_of(status);
  if (!kept || !kept->row) return;
  kept->from_one = true;
  kept->render();
}

Failure::Failure(Status status) noexcept {
  const FailureSlot* const slot = FailureRing::slot_of(status);
  if (!slot) return;
  for (; count < slot->count; ++count) {
    const FailureSlot::Entry& entry = slot->facts[count];
    const char* const text = slot->arena + entry.text;
    facts[count] = {slot->arena + entry.name, text, entry.is_number,
                    entry.is_number ? static_cast<std::int64_t>(std::strtoull(text, nullptr, 10)) : 0};
  }
  TextWriter out(says);
  if (!slot->row) {
    out.add({slot->line, slot->sentence});
  } else {
    id = slot->row->id;
    add_says(*slot, out);
  }
  TextWriter why(because);
  const bool explained = slot->row && *slot->row->because && add_sentence(*slot, slot->row->because, why);
  TextWriter advice(tries);
  for (const char* const* at = slot->row ? slot->row->tries : nullptr; at && *at; ++at) {
    const std::size_t before = advice.size();
    if (before > 0) advice.add("\n");
    if (!add_sentence(*slot, *at, advice)) advice.cut(before);
  }
  TextWriter rest(around);
  slot->render_around(rest, explained);
}

const Failure::Known* Failure::find(const char* name) const noexcept {
  for (int i = 0; i < count; ++i)
    if (std::string_view(facts[i].name) == name) return &facts[i];
  return nullptr;
}

}  // namespace ashlar
