#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

#include "framework/base/catalogue.h"
#include "framework/base/failure.h"
#include "framework/base/text_writer.h"

namespace ashlar {

/// One failure of a thread. Plain data: a slot is filled beside the ring and copied into it, because a fact may be the
/// text of an older failure that lives in the slot which is overwritten.
struct FailureSlot {
  struct Entry {
    std::uint16_t name, text;  // offsets in `arena`
    bool is_number;
  };

  std::int32_t mpi_class = 0;
  std::uint32_t stamp = 0;
  const catalogue::Row* row = nullptr;  // nullptr: `line` is all there is, and the facts that were added to it
  std::uint16_t used = 0;               // of the arena
  std::uint8_t count = 0;
  Entry facts[Failure::kFacts];
  char arena[Failure::kFactBytes];
  char line[Status::kTextBytes];  // what Status::text() gives
  bool from_one = false;          // elements of arrays count from one: "ranks(2)" for "ranks[1]"
  std::uint16_t sentence = 0;     // of the line: the characters in front of what stands around

  void add(const Fact& fact) noexcept;
  /// Whether message and facts are those of the other one.
  bool has_facts_of(const FailureSlot& other) const noexcept;
  /// The text of a fact; a view without data when there is none of that name.
  std::string_view text_of(std::string_view name) const noexcept;
  /// Writes `line` anew.
  void render() noexcept;
  void render_around(TextWriter& out, bool because_shown) const noexcept;
};

/// The failures of one thread, newest overwriting oldest.
class FailureRing {
 public:
  static Status put(int mpi_class, FailureSlot& slot) noexcept;
  /// One of the newest failures with the same class, message and facts; a success when there is none.
  static Status find(int mpi_class, const FailureSlot& slot) noexcept;
  /// The slot of a failed status on this thread; nullptr when it was overwritten.
  static FailureSlot* slot_of(Status status) noexcept;

  /// Of all threads: failures recorded, and rings that are mapped.
  struct Counters {
    std::atomic<std::uint64_t> failures{0}, rings{0};
  };
  static constinit Counters counters;
};

/// For callers in Fortran: the texts of the failure name elements of arrays as that language does.
void name_elements_from_one(Status status) noexcept;

}  // namespace ashlar
