#include <mutex>

#include "framework/datatype/copy.h"
#include "framework/datatype/layout_make.h"
#include "framework/datatype/pvars.h"

namespace ashlar::datatype {
namespace {

// Sets of borrowed pointers: a layout removes itself when its last reference is released. A full set drops one; that
// only costs sharing, never correctness.
constexpr std::size_t kSets = 128, kWays = 4;
std::mutex cache_mutex;
const Layout* sets[kSets][kWays];

bool equal(const Layout& a, const Layout& b) {
  if (a.hash != b.hash || a.form != b.form || a.bytes != b.bytes || a.count != b.count || a.stride != b.stride ||
      a.wide != b.wide || a.child.get() != b.child.get() || a.children.size() != b.children.size())
    return false;
  for (std::size_t i = 0; i < a.children.size(); ++i)
    if (a.children[i].get() != b.children[i].get()) return false;
  const bool starts = a.form == Layout::Form::kBlocks || a.form == Layout::Form::kSequence;
  if (!a.table) return true;
  for (std::size_t i = 0; i < a.count; ++i)
    if (a.displacement(i) != b.displacement(i) || (starts && a.start(i) != b.start(i))) return false;
  return true;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

Layout::Shortcut shortcut_of(const Layout& l) {
  using Form = Layout::Form;
  const bool runs = l.child && l.child->form == Form::kRun;
  if (l.form == Form::kStrided && runs) return Layout::Shortcut::kRow;
  if (l.form == Form::kIndexed && runs) return Layout::Shortcut::kScattered;
  if (l.form != Form::kBlocks || l.count > 3) return Layout::Shortcut::kNone;
  bool pairs = l.count == 2, triples = l.count == 3;
  for (std::size_t i = 0; i < l.count; ++i) {
    const std::size_t length = l.start(i + 1) - l.start(i);
    pairs = pairs && paired(length);
    triples = triples && tripled(length);
  }
  return pairs ? Layout::Shortcut::kPairs : triples ? Layout::Shortcut::kTriples : Layout::Shortcut::kNone;
}

// Long tables are sampled: the hash only picks a slot, equality is checked in full.
std::uint64_t hash_of(const Layout& l) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(l.form), l.bytes);
  hash = mix(hash, l.count);
  hash = mix(hash, static_cast<std::uint64_t>(l.stride));
  hash = mix(hash, reinterpret_cast<std::uintptr_t>(l.child.get()));
  if (l.table) {
    const std::size_t step = l.count / 64 + 1;
    for (std::size_t i = 0; i < l.count; i += step) hash = mix(hash, static_cast<std::uint64_t>(l.displacement(i)));
  }
  for (const LayoutRef& child : l.children) hash = mix(hash, reinterpret_cast<std::uintptr_t>(child.get()));
  return hash;
}

}  // namespace

constinit LayoutCounters layout_counters;  // guarded by the mutex

LayoutRef share_equal(Layout* fresh) {
  fresh->hash = hash_of(*fresh);
  fresh->shortcut = shortcut_of(*fresh);
  LayoutRef mine = LayoutRef::adopt(fresh);
  LayoutRef found;
  {
    const std::lock_guard guard(cache_mutex);
    layout_counters.alive.add();
    layout_counters.made.add();
    auto& set = sets[fresh->hash % kSets];
    const Layout** free_way = &set[fresh->hash / kSets % kWays];
    for (const Layout*& way : set) {
      if (!way) {
        free_way = &way;
      } else if (equal(*way, *fresh)) {
        // A count of zero means that another thread is about to take the node out: leave that one alone.
        std::int32_t held = way->references.load(std::memory_order_relaxed);
        while (held > 0 && !way->references.compare_exchange_weak(held, held + 1, std::memory_order_acq_rel)) {
        }
        if (held == 0) continue;
        found = LayoutRef::adopt(way);
        layout_counters.shared.add();
        break;
      }
    }
    if (!found) *free_way = fresh;
  }
  return found ? found : mine;
}

void drop(const Layout* layout) noexcept {
  if (layout->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    const std::lock_guard guard(cache_mutex);
    for (const Layout*& way : sets[layout->hash % kSets])
      if (way == layout) way = nullptr;
    layout_counters.alive.subtract();
  }
  delete layout;  // outside the lock: children are dropped in turn
}

std::size_t layouts_alive() {
  const std::lock_guard guard(cache_mutex);
  return layout_counters.alive;
}

}  // namespace ashlar::datatype
