#pragma once
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ashlar::datatype {

struct Layout;
void drop(const Layout* layout) noexcept;  // one reference

/// Shared ownership of an immutable Layout.
class LayoutRef {
 public:
  LayoutRef() = default;
  static LayoutRef adopt(const Layout* layout) { return LayoutRef(layout); }
  static LayoutRef share(const Layout* layout);
  LayoutRef(const LayoutRef& other) : LayoutRef(share(other.layout_)) {}
  LayoutRef(LayoutRef&& other) noexcept : layout_(std::exchange(other.layout_, nullptr)) {}
  LayoutRef& operator=(LayoutRef other) noexcept {
    std::swap(layout_, other.layout_);
    return *this;
  }
  ~LayoutRef() {
    if (layout_) drop(layout_);
  }
  const Layout* get() const { return layout_; }
  const Layout& operator*() const { return *layout_; }
  const Layout* operator->() const { return layout_; }
  explicit operator bool() const { return layout_ != nullptr; }
  const Layout* detach() { return std::exchange(layout_, nullptr); }

 private:
  explicit LayoutRef(const Layout* layout) : layout_(layout) {}
  const Layout* layout_ = nullptr;
};

/// The compiled form of a datatype: which bytes of memory make up the packed stream of one item, in packed order.
/// A node says nothing about where it lies: its first packed byte is at offset 0, so equal layouts share one node
/// (see layout_cache). Immutable.
///
///   kEmpty     no data
///   kRun       `bytes` contiguous bytes
///   kStrided   `count` copies of `child`, `stride` bytes apart
///   kIndexed   `count` copies of `child`, at displacement(i)
///   kBlocks    `count` runs, at displacement(i), run i being start(i + 1) - start(i) bytes long
///   kSequence  `count` different children, at displacement(i), child i starting at packed byte start(i)
///
/// No node has a single part, and neighbouring runs of a table are joined unless the compiler chose otherwise: the
/// makers in layout_make.h see to it. Offsets into tables are 32 bits wide when all fit, which halves what the kernels
/// read.
struct Layout {
  enum class Form : std::uint8_t { kEmpty, kRun, kStrided, kIndexed, kBlocks, kSequence };

  /// Forms for whose whole items LayoutLoops has a loop that it can go to at once: a row of equal runs, equal runs
  /// scattered, structs of two or three members of usual sizes.
  enum class Shortcut : std::uint8_t { kNone, kRow, kScattered, kPairs, kTriples };

  mutable std::atomic<std::int32_t> references{1};
  Form form = Form::kEmpty;
  Shortcut shortcut = Shortcut::kNone;
  bool wide = false;        // tables of 64-bit numbers
  std::uint16_t depth = 1;  // nodes on the longest path down
  std::size_t bytes = 0;    // packed
  std::size_t count = 1;    // parts
  std::ptrdiff_t stride = 0;
  std::size_t runs = 0;  // contiguous pieces in one item
  std::uint64_t hash = 0;
  LayoutRef child;
  std::unique_ptr<std::byte[]> table;  // displacements [count], then starts [count + 1] (kBlocks, kSequence)
  std::vector<LayoutRef> children;

  /// What spans.h has found out of a table, in all of whose entries the answer lies; the first question stores it.
  struct Known {
    std::atomic<std::int64_t> last{0}, end{0};
    std::atomic<std::uint8_t> ascent{0};  // 0: not known; else one more than the Ascent
  };
  mutable Known known;

  template <class Number>
  const Number* displacements() const {
    return reinterpret_cast<const Number*>(table.get());
  }
  template <class Number>
  const Number* starts() const {
    return displacements<Number>() + count;
  }
  std::ptrdiff_t displacement(std::size_t i) const {
    return wide ? static_cast<std::ptrdiff_t>(displacements<std::int64_t>()[i]) : displacements<std::int32_t>()[i];
  }
  std::size_t start(std::size_t i) const {
    return static_cast<std::size_t>(wide ? starts<std::int64_t>()[i] : starts<std::int32_t>()[i]);
  }
  /// The part of kBlocks or kSequence in which packed byte `at` < bytes lies.
  std::size_t part_at(std::size_t at) const;
};

inline LayoutRef LayoutRef::share(const Layout* layout) {
  if (layout) layout->references.fetch_add(1, std::memory_order_relaxed);
  return LayoutRef(layout);
}

/// A layout whose first packed byte lies `offset` bytes from the item's origin.
struct Placed {
  std::ptrdiff_t offset = 0;
  LayoutRef layout;
};

}  // namespace ashlar::datatype
