#include "framework/object/error_record.h"

#include <cstdio>

#include "framework/base/text_writer.h"
#include "framework/object/errhandler.h"
#include "framework/object/error_text.h"

namespace ashlar {
namespace {

const char* text_or_null(const char* text) { return *text ? text : nullptr; }

}  // namespace

ErrorRecord::ErrorRecord(Status status, const char* call, const ErrorSubject* subject, bool ends_job) noexcept
    : failure_(status) {
  fields_.size = sizeof fields_;
  fields_.id = failure_.id;
  fields_.call = call;
  fields_.class_name = error_class_name(status.mpi_class());
  fields_.mpi_class = fields_.mpi_code = status.mpi_class();
  fields_.text = *failure_.says ? failure_.says : meaning_beside(status.mpi_class(), "");
  fields_.because = text_or_null(failure_.because);
  fields_.try_next = text_or_null(failure_.tries);
  fields_.fatal = ends_job;
  set_facts();
  if (subject) set_subject(*subject);
  put_into_words(subject);
  fields_.words = words_;
}

void ErrorRecord::set_facts() {
  for (int i = 0; i < failure_.count; ++i) {
    const Failure::Known& known = failure_.facts[i];
    facts_[i] = {known.name, known.is_number ? nullptr : known.text, known.number};
  }
  fields_.facts = facts_;
  fields_.fact_count = static_cast<std::uint32_t>(failure_.count);
  const auto text = [&](const char* name) {
    const Failure::Known* const known = failure_.find(name);
    return known ? text_or_null(known->text) : nullptr;
  };
  const auto number = [&](const char* name, std::uint32_t bit) -> std::int64_t {
    const Failure::Known* const known = failure_.find(name);
    if (!known || !known->is_number) return 0;
    fields_.has |= bit;
    return known->number;
  };
  fields_.argument = text("argument");
  fields_.value = text("value");
  fields_.peer = static_cast<int>(number("peer", ASHLAR_HAS_PEER));
  fields_.peer_host = text("peer_host");
  fields_.tag = static_cast<int>(number("tag", ASHLAR_HAS_TAG));
  fields_.bytes_wanted = static_cast<std::uint64_t>(number("bytes_wanted", ASHLAR_HAS_BYTES_WANTED));
  fields_.bytes_got = static_cast<std::uint64_t>(number("bytes_got", ASHLAR_HAS_BYTES_GOT));
  fields_.component = text("component");
  fields_.lower = text("lower");
}

void ErrorRecord::set_subject(const ErrorSubject& subject) {
  fields_.object_kind = subject.what;
  fields_.object_name = subject.name;
  if (subject.rank < 0) return;
  fields_.has |= ASHLAR_HAS_RANK;
  fields_.rank = subject.rank;
  fields_.object_size = subject.size;
}

void ErrorRecord::put_into_words(const ErrorSubject* subject) {
  TextWriter out(words_);
  out.add(fields_.call);
  if (subject) {
    out.add(" on ").add(subject->what).add(" '").add(subject->name).add("'");
    if (subject->rank >= 0 && !subject->world) {
      char where[48];
      std::snprintf(where, sizeof where, " (rank %d of %d)", subject->rank, subject->size);
      out.add(where);
    }
  }
  out.add(" failed: ").add(fields_.class_name);
  if (const char* const meaning = meaning_beside(fields_.mpi_class, failure_.says)) out.add(" (").add(meaning).add(")");
  if (*failure_.says) out.add(": ").add(failure_.says).stop();
  if (*failure_.because) out.add("\n  ").add(failure_.because).stop();
  if (*failure_.around) out.add("\n  (").add(failure_.around).add(")");
  for (std::string_view rest = failure_.tries; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    out.add("\n  - ").add(line).stop();
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : line.size());
  }
}

}  // namespace ashlar
