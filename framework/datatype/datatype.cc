#include "framework/datatype/datatype.h"

#include <mpi_removed.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/datatype/compile.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/layout.h"
#include "framework/datatype/layout_make.h"
#include "framework/datatype/layout_words.h"
#include "framework/datatype/pvars.h"
#include "framework/object/pool.h"

namespace ashlar {
namespace {

constinit Pool<Datatype> pool{PoolName::kDatatypes};

void read_alive(const ashlar_pvar_row*, const void*, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = pool.out_level().get();
}
void read_operations(const ashlar_pvar_row*, const void*, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = datatype::ops_alive().get();
}
template <auto counter>
void read_counter(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = (static_cast<const datatype::TypeCounters*>(block)->*counter).load(std::memory_order_relaxed);
}

constexpr ashlar_pvar_row kTypeRows[] = {
    plugin::computed_pvar("alive",
                          "datatypes that exist, in use by others or by messages included; not predefined ones",
                          ASHLAR_PVAR_LEVEL, read_alive, ASHLAR_USER_BASIC),
    plugin::computed_pvar("operations", "operations that exist, predefined ones included", ASHLAR_PVAR_LEVEL,
                          read_operations),
    plugin::computed_pvar("committed", "datatypes committed, again and again included", ASHLAR_PVAR_COUNTER,
                          read_counter<&datatype::TypeCounters::committed>, ASHLAR_USER_BASIC),
    plugin::computed_pvar("freed", "handles of datatypes freed", ASHLAR_PVAR_COUNTER,
                          read_counter<&datatype::TypeCounters::freed>, ASHLAR_USER_BASIC),
};

}  // namespace

namespace datatype {
constinit TypeCounters type_counters;
const std::span<const ashlar_pvar_row> type_rows = kTypeRows;
const Counter& types_alive() { return pool.out_level(); }
}  // namespace datatype

Datatype::Datatype() : Object(Kind::kDatatype) {}

Datatype::~Datatype() {
  if (layout_) datatype::drop(layout_);
}

datatype::Bounds Datatype::bounds() const {
  datatype::Bounds b;
  b.data_lb = true_lb_;
  b.data_ub = true_lb_ + true_extent_;
  b.mark_lb = lb_;
  b.mark_ub = lb_ + extent_;
  b.align = align_;
  b.has_data = has_data_;
  b.has_mark_lb = has_mark_lb_;
  b.has_mark_ub = has_mark_ub_;
  return b;
}

const char* Datatype::name() const {
  if (cold_ && !cold_->name.empty()) return cold_->name.c_str();
  if (predefined != 0)
    for (const BasicRow& row : basic_rows())
      if (reinterpret_cast<std::uintptr_t>(row.handle) == predefined) return row.name;
  return "";
}

const char* Datatype::described() const {
  const char* own = name();
  if (*own || !cold_) return own;
  switch (cold_->contents.combiner) {
    case MPI_COMBINER_DUP:
      return "a duplicated datatype without a name";
    case MPI_COMBINER_CONTIGUOUS:
      return "a contiguous datatype without a name";
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return "a vector datatype without a name";
    case MPI_COMBINER_STRUCT:
      return "a struct datatype without a name";
    case MPI_COMBINER_SUBARRAY:
      return "a subarray datatype without a name";
    case MPI_COMBINER_DARRAY:
      return "a distributed-array datatype without a name";
    case MPI_COMBINER_RESIZED:
      return "a resized datatype without a name";
    case MPI_COMBINER_F90_REAL:
      return "a Fortran real datatype made from its precision";
    case MPI_COMBINER_F90_COMPLEX:
      return "a Fortran complex datatype made from its precision";
    case MPI_COMBINER_F90_INTEGER:
      return "a Fortran integer datatype made from its range";
    case MPI_COMBINER_VALUE_INDEX:
      return "a pair of a value and an index without a name";
    default:
      return "an indexed datatype without a name";
  }
}

void destroy(Datatype* type) {
  if (type->is_predefined()) return;
  // A datatype's parts are released after it, because destroying one takes the pool's lock again; and one by one,
  // because a nest of datatypes may be deeper than the stack.
  std::vector<Ref<Datatype>> parts;
  const auto put = [&parts](Datatype* dead) {
    const std::unique_ptr<datatype::Cold> cold = datatype::Builder::take_cold(*dead);
    pool.put(dead);
    for (Ref<Datatype>& part : cold->contents.types) parts.push_back(std::move(part));
  };
  put(type);
  while (!parts.empty()) {
    Datatype* part = parts.back().detach();
    parts.pop_back();
    if (part->references.fetch_sub(1, std::memory_order_acq_rel) == 1 && !part->is_predefined()) put(part);
  }
}

namespace datatype {
namespace {

std::mutex change_mutex;  // guards handle counts and the entry of layouts; no message takes it

}  // namespace

void Contents::add(What what, MPI_Count number) {
  if (segments.empty() || segments.back().what != what) segments.push_back({what, 0});
  ++segments.back().numbers;
  numbers.push_back(number);
  if (what == What::kCount && (number > INT32_MAX || number < INT32_MIN)) large = true;
}

void Contents::add(What what, IntArray array, std::size_t n) {
  if (segments.empty() || segments.back().what != what) segments.push_back({what, 0});
  segments.back().numbers += n;
  numbers.reserve(numbers.size() + n);
  for (std::size_t i = 0; i < n; ++i) numbers.push_back(array[i]);
  if (what == What::kCount && array.wide()) large = true;
}

std::size_t Contents::count_of(What what) const {
  std::size_t n = 0;
  for (const Segment& s : segments)
    if (s.what == what) n += s.numbers;
  return n;
}

Status Builder::make(Contents&& contents, const Bounds& bounds, MPI_Count size, const Signature& signature,
                     Datatype** out) {
  auto cold = std::make_unique<Cold>();
  cold->contents = std::move(contents);
  Datatype* type = pool.take();
  if (!type) return object::none_left("a datatype", pool.out_level());
  type->cold_ = std::move(cold);
  type->size_ = size;
  type->lb_ = bounds.lb();
  type->extent_ = bounds.ub() - bounds.lb();
  type->true_lb_ = bounds.true_lb();
  type->true_extent_ = bounds.true_extent();
  type->align_ = bounds.align;
  type->has_data_ = bounds.has_data;
  type->has_mark_lb_ = bounds.has_mark_lb;
  type->has_mark_ub_ = bounds.has_mark_ub;
  type->signature_ = signature;
  *out = type;
  return {};
}

Datatype* Builder::predefined(const BasicRow& row) {
  Datatype* type = pool.take();
  if (type) fit(*type, row);
  return type;
}

void Builder::fit(Datatype& of, const BasicRow& row) {
  Datatype* const type = &of;
  type->size_ = row.size;
  type->extent_ = row.extent;
  type->align_ = row.align;
  type->has_data_ = row.size > 0;
  type->has_mark_lb_ = row.handle == MPI_LB;
  type->has_mark_ub_ = row.handle == MPI_UB;
  type->basic_ = row.basic;
  type->class_ = row.of;
  const bool padded = row.basic == Basic::kI16Int;  // the only pair with a hole inside
  type->true_extent_ = padded ? row.extent : row.size;
  type->signature_ = signature_of(row);
  Placed placed = layout_of(row);
  type->origin_ = placed.offset;
  if (type->layout_) datatype::drop(type->layout_);
  type->layout_ = placed.layout.detach();
  type->dense_ = row.size == row.extent && !padded;
  type->committed_ = true;
  type->predefined = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(row.handle));
}

void Builder::compile(Datatype& type) {
  const auto compiled = [](const Datatype& t) {
    const std::lock_guard guard(change_mutex);
    return t.layout_ != nullptr;
  };
  // Compiles the innermost first, with a list instead of recursion: a nest may be deeper than the stack.
  std::vector<Datatype*> waiting{&type};
  while (!waiting.empty()) {
    Datatype& next = *waiting.back();
    if (compiled(next)) {
      waiting.pop_back();
      continue;
    }
    const std::size_t before = waiting.size();
    for (const Ref<Datatype>& part : next.cold_->contents.types)
      if (!compiled(*part)) waiting.push_back(part.get());
    if (waiting.size() > before) continue;
    waiting.pop_back();
    Placed placed = compile_contents(next.cold_->contents);
    const std::lock_guard guard(change_mutex);
    if (next.layout_) continue;  // another thread was faster
    next.origin_ = placed.offset;
    next.dense_ = next.lb_ == 0 && next.size_ == next.extent_ &&
                  (next.size_ == 0 || (placed.layout->form == Layout::Form::kRun && placed.offset == 0));
    next.layout_ = placed.layout.detach();
  }
}

void Builder::commit(Datatype& type) {
  compile(type);
  if (log::enabled(log::Level::debug)) [[unlikely]] {
    char words[400];
    describe_layout(type, words, sizeof words);
    const bool shared = type.layout().references.load(std::memory_order_relaxed) > 1;
    log::line(log::Level::debug, "datatype", "committed %s: %lld bytes in %zu piece%s: %s%s", type.described(),
              static_cast<long long>(type.size()), type.layout().runs, type.layout().runs == 1 ? "" : "s", words,
              shared ? " (shared)" : "");
  }
  type_counters.committed.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard guard(change_mutex);
  type.committed_ = true;
  if (type.cold_) type.cold_->was_committed = true;
}

Status Builder::free(Datatype** type) {
  Datatype* mine = *type;
  if (mine->is_predefined())
    return fail(MPI_ERR_TYPE, "object.predefined", {{"argument", "datatype"}, {"value", mine->described()}});
  const auto last_handle = [mine] {
    const std::lock_guard guard(change_mutex);
    return mine->cold_->handles == 1;
  };
  if (!mine->cold_->attributes.entries.empty() && last_handle()) ASHLAR_TRY(delete_attributes(*mine));
  {
    const std::lock_guard guard(change_mutex);
    if (mine->cold_->handles == 0)
      return fail(MPI_ERR_TYPE, "type.freed", {{"argument", "datatype"}, {"value", mine->described()}});
    // Messages and other datatypes may go on using it; the user may not.
    if (--mine->cold_->handles == 0) mine->committed_ = false;
  }
  type_counters.freed.fetch_add(1, std::memory_order_relaxed);
  *type = nullptr;
  release(mine);
  return {};
}

void Builder::give_handle(Datatype& type) {
  if (type.is_predefined()) return;
  const std::lock_guard guard(change_mutex);
  ++type.cold_->handles;
  type.committed_ = type.cold_->was_committed;
  Ref<Datatype>::share(type).detach();
}

Cold& Builder::cold_of(Datatype& type) {
  if (!type.cold_) {
    const std::lock_guard guard(change_mutex);
    if (!type.cold_) {
      // Leak checkers find the pointer here; they do not scan the arena.
      static auto* const kept = new std::map<std::uint32_t, const Cold*>;
      type.cold_ = std::make_unique<Cold>();
      (*kept)[type.predefined] = type.cold_.get();
    }
  }
  return *type.cold_;
}

Datatype* Builder::unnamed(const Unnamed& wanted) {
  auto cold = std::make_unique<Cold>();
  cold->contents = wanted.contents;
  Datatype* type = pool.take();
  if (!type) return nullptr;
  type->cold_ = std::move(cold);
  type->size_ = wanted.size;
  type->extent_ = wanted.extent;
  type->align_ = wanted.align;
  type->has_data_ = true;
  type->true_extent_ = wanted.true_extent;
  type->basic_ = wanted.basic;
  type->class_ = wanted.of;
  type->signature_ = wanted.signature;
  Placed placed = wanted.placed;
  type->dense_ = wanted.size == wanted.extent && placed.layout->form == Layout::Form::kRun;
  type->layout_ = placed.layout.detach();
  type->committed_ = true;
  return type;
}

void Builder::make_packed_form(Datatype& type) {
  Placed placed = make_run(0, static_cast<std::size_t>(type.size_));
  type.layout_ = placed.layout.detach();
  type.dense_ = type.committed_ = true;
}

Status check_committed(const Datatype& type) {
  if (type.committed()) [[likely]]
    return {};
  return fail(MPI_ERR_TYPE, "type.uncommitted", {{"value", type.described()}});
}

}  // namespace datatype
}  // namespace ashlar
