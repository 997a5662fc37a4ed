#include "framework/base/status.h"

#include <cstdarg>
#include <cstdio>

#include "framework/base/failure_ring.h"

namespace ashlar {

Status Status::fail_text(int mpi_class, const char* text) noexcept { return fail(mpi_class, "%s", text); }

Status Status::fail(int mpi_class, const char* format, ...) noexcept {
  FailureSlot slot;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(slot.line, sizeof slot.line, format, arguments);
  va_end(arguments);
  slot.sentence = static_cast<std::uint16_t>(std::string_view(slot.line).size());
  return FailureRing::put(mpi_class, slot);
}

const char* Status::text() const noexcept {
  const FailureSlot* const slot = FailureRing::slot_of(*this);
  return slot ? slot->line : "";
}

}  // namespace ashlar
