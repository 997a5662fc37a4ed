#pragma once
#include <cstdint>
#include <type_traits>

namespace ashlar {

/// The outcome of a kernel function: success, or an MPI error class with a message and facts (failure.h makes them).
/// Eight bytes, returned in one register. The message lives in a ring of the thread that failed; it is overwritten
/// after kRingSlots later failures of that thread, and a Status that outlived its message still has its class.
class [[nodiscard]] Status {
 public:
  static constexpr int kRingSlots = 32;
  static constexpr int kTextBytes = 480;

  constexpr Status() = default;

  /// Records a failure with a sentence made as printf does, for sentences that are not ours: a component's, a test's.
  /// Our own failures are messages of the catalogue, with facts: fail() of failure.h.
  [[gnu::cold]] [[gnu::format(printf, 2, 3)]] static Status fail(int mpi_class, const char* format, ...) noexcept;
  /// The same with a text that is ready.
  [[gnu::cold]] static Status fail_text(int mpi_class, const char* text) noexcept;

  constexpr bool ok() const { return class_ == 0; }
  constexpr int mpi_class() const { return class_; }
  /// The sentence, or "" when success or overwritten. Valid on the thread that failed, until its ring comes round.
  const char* text() const noexcept;

 private:
  friend class FailureRing;
  std::int32_t class_ = 0;   // an MPI error class, or a code a user added
  std::uint32_t stamp_ = 0;  // number of the failure on its thread; its slot is stamp % kRingSlots
};

static_assert(sizeof(Status) == 8 && std::is_trivially_copyable_v<Status>);

}  // namespace ashlar

/// Returns from the calling function when `expression` is a failed Status.
#define ASHLAR_TRY(expression)                                                     \
  do {                                                                             \
    if (::ashlar::Status try_status = (expression); !try_status.ok()) [[unlikely]] \
      return try_status;                                                           \
  } while (0)
