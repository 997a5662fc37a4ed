#include "framework/mpit/pvars.h"

#include <algorithm>
#include <bit>

#include "framework/mpit/kernel_pvars.h"
#include "framework/plugin/pvar_lock.h"

namespace ashlar::mpit {
namespace {

constexpr std::uint32_t kAtOnce = 16;

}  // namespace

void Pvar::read(const void* object, std::uint64_t* values, std::uint32_t how_many) const {
  source.set->read(source.row, object, values, how_many);
  if (how_many > kAtOnce) return;
  for (const Source* s = &source; (s = s->next.load(std::memory_order_acquire)) != nullptr;) {
    std::uint64_t more[kAtOnce];
    s->set->read(s->row, object, more, how_many);
    for (std::uint32_t at = 0; at < how_many; ++at) {
      // Of a percentage's sources one has blocks, and the others are zero.
      values[at] =
          kind == MPI_T_PVAR_CLASS_PERCENTAGE
              ? std::bit_cast<std::uint64_t>(std::bit_cast<double>(values[at]) + std::bit_cast<double>(more[at]))
              : values[at] + more[at];
    }
  }
}

Pvars& pvars() {
  static Pvars& all = *new Pvars;  // indices stay good for as long as the program runs
  return all;
}

void Pvars::add(const plugin::PvarSet& set, std::uint32_t row) {
  const ashlar_pvar_row& r = set.rows()[row];
  const std::string name = set.prefix() + "." + r.name;
  if (const auto at = by_name_.find({r.kind, name}); at != by_name_.end()) {
    Pvar& known = list_[static_cast<std::size_t>(at->second)];
    // Of a second life of its owner: both count.
    auto* const more = new Pvar::Source{.set = &set, .row = row, .next = nullptr};
    known.newest->next.store(more, std::memory_order_release);
    known.newest = more;
    return;
  }
  Pvar& p = list_.emplace_back();
  try {
    describe(set, r, &p);
    p.source.set = &set;
    p.source.row = row;
    p.newest = &p.source;
    by_name_.emplace(std::pair(r.kind, name), static_cast<int>(list_.size()) - 1);
  } catch (...) {
    list_.pop_back();
    throw;
  }
}

void Pvars::describe(const plugin::PvarSet& set, const ashlar_pvar_row& r, Pvar* p) {
  p->name = set.prefix() + "." + r.name;
  p->category = set.prefix();
  p->description = r.help;
  p->kind = r.kind;
  p->verbosity = r.verbosity;
  p->bind = r.bind;
  p->count = r.count;
  p->locks = plugin::takes_lane_lock(r);
  const bool mark = r.kind == ASHLAR_PVAR_HIGHWATERMARK && r.read == nullptr;
  p->readonly = p->continuous = !p->adds_up() && !mark;
  p->atomic = !p->readonly;
  if (r.kind == ASHLAR_PVAR_STATE) p->words = enumeration(p->name, r.choices);
}

// A failure half-way is taken up where it happened.
void Pvars::know() {
  if (!kernel_known_) add_kernel_pvars();
  kernel_known_ = true;
  (void)plugin::pvar_sets().each_from(sets_seen_, [this](const plugin::PvarSet& set) {
    for (; rows_seen_ < set.rows().size(); ++rows_seen_) add(set, rows_seen_);
    rows_seen_ = 0;
    ++sets_seen_;
  });
}

int Pvars::size() {
  const std::lock_guard guard(mutex_);
  know();
  return static_cast<int>(list_.size());
}

Pvar* Pvars::at(int index) {
  const std::lock_guard guard(mutex_);
  know();
  return index >= 0 && static_cast<std::size_t>(index) < list_.size() ? &list_[static_cast<std::size_t>(index)]
                                                                      : nullptr;
}

int Pvars::find(std::string_view name, int kind) {
  const std::lock_guard guard(mutex_);
  know();
  const auto at = by_name_.find({kind, std::string(name)});
  return at != by_name_.end() ? at->second : -1;
}

}  // namespace ashlar::mpit
