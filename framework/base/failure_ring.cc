#include "framework/base/failure_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace ashlar {
namespace {

// Mapped at the first failure of a thread, not part of its thread-local storage: that would take room from the stacks
// of all threads of the program. Without memory for it the thread has the one slot that is always there.
struct Ring {
  ~Ring() {
    if (slots != nullptr && slots != &spare) {
      munmap(slots, kBytes);
      FailureRing::counters.rings.fetch_sub(1, std::memory_order_relaxed);
    }
    slots = nullptr;  // a failure after this, in another destructor of the thread, maps a ring that stays
  }
  FailureSlot& slot(std::uint32_t stamp) { return slots[slots == &spare ? 0 : stamp % Status::kRingSlots]; }

  static constexpr std::size_t kBytes = sizeof(FailureSlot) * Status::kRingSlots;
  std::uint32_t next = 0;
  FailureSlot* slots = nullptr;
  FailureSlot spare;
};

// initial-exec would spare a call per access but costs static TLS, which a dlopened libmpi_abi may not find.
thread_local Ring ring;

// Calls and communicators of the operations that fail together are few.
constexpr std::uint32_t kNewest = 8;

}  // namespace

constinit FailureRing::Counters FailureRing::counters;

Status FailureRing::put(int mpi_class, FailureSlot& slot) noexcept {
  Ring& r = ring;
  if (r.slots == nullptr) {
    void* const at = mmap(nullptr, Ring::kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    r.slots = at == MAP_FAILED ? &r.spare : static_cast<FailureSlot*>(at);
    if (at != MAP_FAILED) counters.rings.fetch_add(1, std::memory_order_relaxed);
  }
  counters.failures.fetch_add(1, std::memory_order_relaxed);
  Status status;
  status.class_ = slot.mpi_class = mpi_class;
  status.stamp_ = slot.stamp = ++r.next;
  r.slot(slot.stamp) = slot;
  return status;
}

Status FailureRing::find(int mpi_class, const FailureSlot& slot) noexcept {
  Status status;
  if (ring.slots == nullptr) return status;
  for (std::uint32_t age = 0; age < kNewest && age < ring.next; ++age) {
    const std::uint32_t stamp = ring.next - age;
    const FailureSlot& other = ring.slot(stamp);
    if (other.stamp != stamp || other.mpi_class != mpi_class || !other.has_facts_of(slot)) continue;
    counters.failures.fetch_add(1, std::memory_order_relaxed);
    status.class_ = mpi_class;
    status.stamp_ = stamp;
    break;
  }
  return status;
}

FailureSlot* FailureRing::slot_of(Status status) noexcept {
  if (status.ok() || ring.slots == nullptr) return nullptr;
  FailureSlot& slot = ring.slot(status.stamp_);
  return slot.stamp == status.stamp_ ? &slot : nullptr;
}

bool FailureSlot::has_facts_of(const FailureSlot& other) const noexcept {
  return row == other.row && from_one == other.from_one && count == other.count && used == other.used &&
         std::memcmp(arena, other.arena, used) == 0;
}

void FailureSlot::add(const Fact& fact) noexcept {
  if (count == Failure::kFacts || text_of(fact.name()).data() != nullptr) return;
  char number[Fact::kNumberBytes];
  const std::string_view text = fact.text(number);
  const std::string_view name = fact.name();
  // A number that does not fit is dropped; half of it would be another one.
  const std::size_t least = name.size() + 2 + (fact.is_number() ? text.size() : 0);
  if (used + least > sizeof arena) return;
  const auto store = [&](std::string_view t) {
    const std::size_t at = used;
    TextWriter writer(arena + at, sizeof arena - at);
    used = static_cast<std::uint16_t>(at + writer.add(t).size() + 1);
    return static_cast<std::uint16_t>(at);
  };
  Entry& entry = facts[count++];
  entry.name = store(name);
  entry.text = store(text);
  entry.is_number = fact.is_number();
}

std::string_view FailureSlot::text_of(std::string_view name) const noexcept {
  for (int i = 0; i < count; ++i)
    if (name == arena + facts[i].name) return arena + facts[i].text;
  return {};
}

}  // namespace ashlar
