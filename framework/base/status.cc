#include "framework/base/status.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace ashlar {
namespace {

struct Ring {
  std::uint32_t next = 0;
  std::uint32_t stamp[Status::kRingSlots] = {};
  char text[Status::kRingSlots][Status::kTextBytes] = {};
};

// initial-exec would spare a call per access but costs static TLS, which a dlopened libmpi_abi may not find.
thread_local Ring ring;

}  // namespace

Status Status::fail_text(int mpi_class, const char* text) noexcept { return fail(mpi_class, "%s", text); }

Status Status::fail(int mpi_class, const char* format, ...) noexcept {
  Ring& r = ring;
  Status status;
  status.class_ = mpi_class;
  status.stamp_ = ++r.next;
  const std::uint32_t slot = status.stamp_ % kRingSlots;
  r.stamp[slot] = status.stamp_;
  // Formatted beside the slot first: an argument may be the text of an older failure that lives in it.
  char line[kTextBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::memcpy(r.text[slot], line, sizeof line);
  return status;
}

const char* Status::text() const noexcept {
  if (class_ == 0) return "";
  const Ring& r = ring;
  const std::uint32_t slot = stamp_ % kRingSlots;
  return r.stamp[slot] == stamp_ ? r.text[slot] : "";
}

}  // namespace ashlar
