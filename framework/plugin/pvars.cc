#include "framework/plugin/pvars.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "framework/param/param_row.h"

namespace ashlar::plugin {
namespace {

bool adds_up(std::uint8_t kind) {
  return kind == ASHLAR_PVAR_COUNTER || kind == ASHLAR_PVAR_AGGREGATE || kind == ASHLAR_PVAR_TIMER;
}

const std::uint64_t* word_at(const void* block, std::uint32_t offset) {
  return reinterpret_cast<const std::uint64_t*>(static_cast<const std::byte*>(block) + offset);
}

/// Adds what `block` holds for `row`.
void add_block(const ashlar_pvar_row& row, const void* block, const void* object, std::uint64_t* values,
               std::uint32_t count) {
  if (row.read == nullptr) {
    values[0] += __atomic_load_n(word_at(block, row.offset), __ATOMIC_RELAXED);
    return;
  }
  constexpr std::uint32_t kAtOnce = 64;
  std::uint64_t some[kAtOnce];
  if (count <= kAtOnce) {
    std::fill_n(some, count, 0);
    row.read(&row, block, object, some, count);
    for (std::uint32_t i = 0; i < count; ++i) values[i] += some[i];
    return;
  }
  // So many values belong to an object, whose rows have one block: they are computed where they are wanted.
  row.read(&row, block, object, values, count);
}

/// The mean of what `blocks` hold for `row`, the bits of a double: of a percentage a sum says nothing.
std::uint64_t mean_of(const ashlar_pvar_row& row, const std::vector<const void*>& blocks, const void* object) {
  double sum = 0;
  for (const void* block : blocks) {
    std::uint64_t bits = 0;
    add_block(row, block, object, &bits, 1);
    sum += std::bit_cast<double>(bits);
  }
  return std::bit_cast<std::uint64_t>(sum / static_cast<double>(blocks.size()));
}

/// Reads a row that was converted from the first form; its block is the array of those.
void read_first_form(const ashlar_pvar_row* row, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = __atomic_load_n(static_cast<const ashlar_pvar*>(block)[row->offset].value, __ATOMIC_RELAXED);
}

}  // namespace

class PvarSet::Pin {
 public:
  explicit Pin(const PvarSet& set) : set_(set) {
    set_.readers_.fetch_add(1, std::memory_order_seq_cst);
    blocks_ = set_.blocks_.load(std::memory_order_seq_cst);
  }
  ~Pin() { set_.readers_.fetch_sub(1, std::memory_order_release); }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  const Blocks* operator->() const { return blocks_; }

 private:
  const PvarSet& set_;
  const Blocks* blocks_;
};

PvarSet::PvarSet(std::string prefix, std::span<const ashlar_pvar_row> rows) : prefix_(std::move(prefix)), rows_(rows) {
  for (const ashlar_pvar_row& row : rows) adds_.push_back(adds_up(row.kind));
  spare_ = std::make_unique<Blocks>(Blocks{.now = {}, .counted = std::vector<std::uint64_t>(rows.size())});
  blocks_.store(new Blocks(*spare_), std::memory_order_relaxed);
}

PvarSet::~PvarSet() { delete blocks_.load(); }

// Readers that have the old blocks finish with them first: they hold the pin for as long as a few loads take.
void PvarSet::replace() {
  Blocks* const old = blocks_.exchange(spare_.release(), std::memory_order_seq_cst);
  while (readers_.load(std::memory_order_seq_cst) != 0) sched_yield();
  spare_.reset(old);
}

void PvarSet::read(std::uint32_t row, const void* object, std::uint64_t* values, std::uint32_t count) const {
  const Pin blocks(*this);
  std::fill_n(values, count, 0);
  if (!blocks->now.empty() && rows_[row].kind == ASHLAR_PVAR_PERCENTAGE) {
    values[0] = mean_of(rows_[row], blocks->now, object);
    return;
  }
  values[0] = blocks->counted[row];
  for (const void* block : blocks->now) add_block(rows_[row], block, object, values, count);
}

void PvarSet::lower_mark(std::uint32_t row) const {
  const Pin blocks(*this);
  if (blocks->now.empty() || rows_[row].read != nullptr) return;
  for (const void* block : blocks->now) {
    const std::uint64_t* const mark = word_at(block, rows_[row].offset);
    __atomic_store_n(const_cast<std::uint64_t*>(mark), __atomic_load_n(mark - 1, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  }
}

PvarSet* PvarSets::find(const ashlar_pvar_row* rows) {
  const auto at = std::find_if(sets_.begin(), sets_.end(),
                               [&](const PvarSet& set) { return set.open() && set.rows_.data() == rows; });
  return at != sets_.end() ? &*at : nullptr;
}

PvarSet& PvarSets::make(std::string_view prefix, std::span<const ashlar_pvar_row> rows) {
  PvarSet& set = sets_.emplace_back(std::string(prefix), rows);
  size_.store(sets_.size(), std::memory_order_release);
  return set;
}

void PvarSets::add(std::string_view prefix, std::span<const ashlar_pvar_row> rows, const void* block) {
  const std::lock_guard guard(mutex_);
  PvarSet* set = find(rows.data());
  if (set == nullptr) set = &make(prefix, rows);
  if (block == nullptr) return;
  const PvarSet::Blocks& before = *set->blocks_.load();
  if (std::find(before.now.begin(), before.now.end(), block) != before.now.end()) return;
  set->spare_->now.reserve(before.now.size() + 1);
  *set->spare_ = before;
  set->spare_->now.push_back(block);
  set->replace();
}

void PvarSets::remove(const ashlar_pvar_row* rows, const void* block) {
  const std::lock_guard guard(mutex_);
  PvarSet* const set = find(rows);
  if (set == nullptr) return;
  const PvarSet::Blocks& before = *set->blocks_.load();
  if (std::find(before.now.begin(), before.now.end(), block) == before.now.end()) return;
  PvarSet::Blocks& next = *set->spare_;
  next.counted = before.counted;
  next.now.clear();
  std::remove_copy(before.now.begin(), before.now.end(), std::back_inserter(next.now), block);
  for (std::size_t row = 0; row < set->rows_.size(); ++row) {
    if (set->adds_[row] && set->rows_[row].bind == ASHLAR_PVAR_OF_PROCESS)
      add_block(set->rows_[row], block, nullptr, &next.counted[row], 1);
  }
  set->replace();
}

void PvarSets::add(std::string prefix, std::span<const ashlar_pvar> rows) {
  if (rows.empty()) return;
  std::vector<ashlar_pvar_row>* converted = nullptr;
  {
    const std::lock_guard guard(mutex_);
    converted = &converted_.emplace_back();
  }
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    converted->push_back({.name = rows[i].name,
                          .help = rows[i].help,
                          .kind = static_cast<std::uint8_t>(rows[i].kind),
                          .bind = ASHLAR_PVAR_OF_PROCESS,
                          .verbosity = ASHLAR_TUNER_DETAIL,
                          .reserved = 0,
                          .offset = i,
                          .read = read_first_form,
                          .count = nullptr,
                          .choices = nullptr});
  }
  add(prefix, *converted, rows.data());
}

// The rows stay readable for those who have the set: what they point at is gone, what was counted is not.
void PvarSets::close(std::string_view prefix) {
  const std::lock_guard guard(mutex_);
  for (PvarSet& set : sets_) {
    if (set.prefix_ != prefix || !set.open()) continue;
    const PvarSet::Blocks& before = *set.blocks_.load();
    PvarSet::Blocks& next = *set.spare_;
    next.counted = before.counted;
    next.now.clear();
    for (std::size_t row = 0; row < set.rows_.size(); ++row) {
      for (const void* block : before.now) {
        if (set.adds_[row] && set.rows_[row].bind == ASHLAR_PVAR_OF_PROCESS)
          add_block(set.rows_[row], block, nullptr, &next.counted[row], 1);
      }
    }
    set.open_.store(false, std::memory_order_release);
    set.replace();
    set.rows_ = {};
  }
}

// Never destroyed: threads of tools may read until the process is gone.
PvarSets& pvar_sets() {
  static PvarSets& sets = *new PvarSets;
  return sets;
}

}  // namespace ashlar::plugin
