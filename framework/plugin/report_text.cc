#include "framework/plugin/report_text.h"

#include <unistd.h>

#include "framework/base/printable.h"
#include "framework/plugin/records.h"

namespace ashlar::plugin {
namespace {

std::string text(const char* t) { return t ? t : ""; }
bool given(const char* t) { return t && *t; }

Decision decision_of(const ashlar_decision& d) {
  return {.topic = text(d.topic),
          .subject = text(d.subject),
          .chosen = text(d.chosen),
          .because = text(d.because),
          .lost = text(d.lost),
          .setting = text(d.setting)};
}

// Collects the members of one JSON object.
class Object {
 public:
  void add(const char* name, const char* value) {
    if (given(value)) raw(name, json_string(value));
  }
  void add(const char* name, long long value) { raw(name, std::to_string(value)); }
  void raw(const char* name, const std::string& json) {
    out_ += (out_.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + json;
  }
  std::string object() const { return (out_.empty() ? "{" : out_) + "}"; }
  std::string line() const { return object() + "\n"; }

 private:
  std::string out_;
};

Object object(const char* kind, const ashlar_report_context& context) {
  Object o;
  o.add("kind", kind);
  if (context.world_rank >= 0) {
    o.add("rank", context.world_rank);
    o.add("size", context.world_size);
  }
  o.add("host", context.host);
  o.add("pid", context.pid);
  return o;
}

// The facts by their names; numbers as numbers.
std::string facts_json(const ashlar_error_record& r) {
  Object o;
  for (std::uint32_t i = 0; i < r.fact_count; ++i) {
    const ashlar_fact& f = r.facts[i];
    if (f.text)
      o.add(f.name, f.text);
    else
      o.add(f.name, static_cast<long long>(f.number));
  }
  return o.object();
}

}  // namespace

std::string speaker(const ashlar_report_context& c) {
  std::string out = "ashlar";
  if (c.world_rank >= 0) out += ": rank " + std::to_string(c.world_rank) + " of " + std::to_string(c.world_size);
  if (given(c.host)) out += (c.world_rank >= 0 ? " on " : ": ") + text(c.host);
  return out;
}

std::string error_text(const ashlar_report_context& context, const ashlar_error_record& r) {
  std::string out = speaker(context) + ": " + text(r.words) + "\n";
  if (r.fatal) out += "  The job ends.\n";
  return printable(out, Newlines::keep);
}

std::string notice_text(const ashlar_report_context& context, const ashlar_notice& n) {
  constexpr const char* kLevels[] = {"error: ", "warning: ", ""};
  std::string out = speaker(context) + ": " + kLevels[n.level < 0 ? 0 : n.level > 2 ? 2 : n.level] + text(n.text);
  if (!out.ends_with('\n')) out += '\n';
  return printable(out, Newlines::keep);
}

std::string decision_text(const ashlar_decision& d) { return printable(to_text({decision_of(d)}), Newlines::keep); }

std::string error_json(const ashlar_report_context& context, const ashlar_error_record& r) {
  Object o = object("error", context);
  o.add("id", r.id);
  o.add("call", r.call);
  o.add("class", r.class_name);
  o.add("code", r.mpi_code);
  o.add("text", r.text);
  o.add("because", r.because);
  o.add("try", r.try_next);
  o.add("argument", r.argument);
  o.add("value", r.value);
  o.add("object_kind", r.object_kind);
  o.add("object", r.object_name);
  if (r.has & ASHLAR_HAS_RANK) {
    o.add("object_rank", r.rank);
    o.add("object_size", r.object_size);
  }
  if (r.has & ASHLAR_HAS_PEER) o.add("peer", r.peer);
  o.add("peer_host", r.peer_host);
  if (r.has & ASHLAR_HAS_TAG) o.add("tag", r.tag);
  if (r.has & ASHLAR_HAS_BYTES_WANTED) o.add("bytes_wanted", static_cast<long long>(r.bytes_wanted));
  if (r.has & ASHLAR_HAS_BYTES_GOT) o.add("bytes_got", static_cast<long long>(r.bytes_got));
  o.add("component", r.component);
  o.add("lower", r.lower);
  if (r.fact_count > 0) o.raw("facts", facts_json(r));
  o.raw("fatal", r.fatal ? "true" : "false");
  return o.line();
}

std::string notice_json(const ashlar_report_context& context, const ashlar_notice& n) {
  Object o = object("notice", context);
  o.add("id", n.id);
  o.add("level", n.level);
  o.add("text", n.text);
  return o.line();
}

std::string decision_json(const ashlar_report_context& context, const ashlar_decision& d) {
  Object o = object("decision", context);
  o.raw("decision", to_json(decision_of(d)));
  return o.line();
}

void write_whole(int fd, const std::string& out) noexcept {
  for (std::size_t at = 0; at < out.size();) {
    const ssize_t wrote = ::write(fd, out.data() + at, out.size() - at);
    if (wrote <= 0) return;  // no reader is left
    at += static_cast<std::size_t>(wrote);
  }
}

}  // namespace ashlar::plugin
