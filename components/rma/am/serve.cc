// The target's side of operations: what messages ask for is done to this process's memory.
#include <algorithm>
#include <cstring>

#include "components/rma/am/element.h"
#include "components/rma/am/runs.h"
#include "components/rma/am/window.h"
#include "framework/base/failure.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/reduce_op.h"
#include "framework/rma/apply.h"

namespace ashlar::rma::am {
namespace {

/// Whether [address, address + bytes) lies in memory that is attached; regions may adjoin each other.
bool attached(const RmaWindow& window, std::uint64_t address, std::uint64_t bytes) {
  for (const Region& region : *window.regions) {  // by address
    if (address < region.address) return false;
    const std::uint64_t into = address - region.address;
    if (into >= region.size) continue;
    if (bytes <= region.size - into) return true;
    bytes -= region.size - into;
    address = region.address + region.size;
  }
  return false;
}

bool reachable(const RmaWindow& window, std::int64_t offset, std::uint64_t bytes) {
  if (window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return attached(window, static_cast<std::uint64_t>(offset), bytes);
  const auto size = static_cast<std::uint64_t>(window.size);
  return offset >= 0 && static_cast<std::uint64_t>(offset) <= size &&
         bytes <= size - static_cast<std::uint64_t>(offset);
}

/// A fragment taken apart.
struct Fragment {
  Sub sub = Sub::kPut;
  Head head;
  const std::byte* runs = nullptr;  // not aligned
  const std::byte* data = nullptr;
  std::uint64_t bytes = 0;  // of data in all runs
  Datatype* element = nullptr;

  bool fetches() const { return head.fetches != 0; }
  std::uint64_t each() const { return static_cast<std::uint64_t>(element->size()); }
  bool dense() const { return element->size() == element->extent(); }
  std::uint64_t extent_of(std::uint64_t data_bytes) const {
    return data_bytes / each() * static_cast<std::uint64_t>(element->extent());
  }
  Run run(std::uint32_t i) const {
    Run out;
    std::memcpy(&out, runs + i * sizeof out, sizeof out);
    return out;
  }
};

/// Ok when the whole fragment may be done.
Status read(const RmaWindow& window, std::span<const std::byte> payload, Fragment* out, Fault* fault) {
  std::memcpy(&out->head, payload.data(), sizeof out->head);
  out->runs = payload.data() + sizeof out->head;
  out->data = out->runs + out->head.runs * sizeof(Run);
  Status outcome = find_element({.element = out->head.element, .index = out->head.index}, &out->element);
  for (std::uint32_t i = 0; i < out->head.runs; ++i) {
    const Run run = out->run(i);
    out->bytes += run.bytes;
    if (fault->error != 0) continue;
    fault->offset = run.offset;
    fault->bytes = run.bytes;
    if (!outcome.ok()) {
      fault->error = outcome.mpi_class();
    } else if (!reachable(window, run.offset, reach_of(run, *out->element))) {
      fault->error = MPI_ERR_RMA_RANGE;
    }
  }
  return outcome;
}

DataView view_of(const void* data, std::uint64_t bytes, const Fragment& fragment) {
  return DataView::of(data, static_cast<MPI_Count>(bytes / fragment.each()), *fragment.element);
}

Place place_of(const Run& run, const Fragment& fragment) {
  return {.offset = run.offset, .count = static_cast<MPI_Count>(run.bytes / fragment.each()), .type = fragment.element};
}

/// The data of the fragment as elements in memory: aligned, and with the gaps that pairs have.
const std::byte* elements_of(const Fragment& fragment, std::uint64_t values, std::byte* at) {
  const std::uint64_t bytes = fragment.bytes * values;
  if (!fragment.dense()) {
    datatype::unpack(view_of(at, bytes, fragment), 0, fragment.data, bytes);
    return at;
  }
  if (reinterpret_cast<std::uintptr_t>(fragment.data) % alignof(std::max_align_t) == 0) return fragment.data;
  std::memcpy(at, fragment.data, bytes);
  return at;
}

/// An update of the accumulate family, run by run. `results`: where the former elements go, packed; nullptr: nowhere.
Status update(AmWindow& window, const Fragment& fragment, std::byte* results) {
  RmaWindow& of = window.window;
  const bool swaps = fragment.sub == Sub::kSwap;
  const ReduceOp& op = datatype::predefined_op(reinterpret_cast<MPI_Op>(static_cast<std::uintptr_t>(fragment.head.op)));
  const std::uint64_t values = swaps ? 2 : op.code() == ReduceOp::Code::kNoOp ? 0 : 1;
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  const std::uint64_t room = (fragment.extent_of(fragment.bytes) + kAlign) & ~std::uint64_t{kAlign - 1};
  std::byte* const scratch = window.scratch(3 * room);
  if (scratch == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "elements of an accumulate"}});
  const std::byte* const origin = elements_of(fragment, values, scratch);
  std::byte* const fetched = scratch + 2 * room;
  const Guard guard = of.sync->guard(of.me);
  Target self{.rank = of.me};
  std::uint64_t done = 0;
  for (std::uint32_t i = 0; i < fragment.head.runs; ++i) {
    const Run run = fragment.run(i);
    const std::uint64_t into = fragment.extent_of(done);
    Update asked{.window = of,
                 .target = self,
                 .op = op,
                 .element = *fragment.element,
                 .origin = values != 0 ? view_of(origin + into, run.bytes, fragment) : DataView{},
                 .result = results != nullptr ? view_of(fetched + into, run.bytes, fragment) : DataView{},
                 .place = place_of(run, fragment),
                 .compare = swaps ? origin + fragment.extent_of(fragment.bytes) : nullptr,
                 .done = nullptr};
    const Status outcome = apply(guard, static_cast<std::byte*>(of.base), asked);
    if (!outcome.ok()) return outcome;
    done += run.bytes;
  }
  if (results != nullptr) datatype::pack(view_of(fetched, fragment.bytes, fragment), 0, results, fragment.bytes);
  return {};
}

Status execute(AmWindow& window, const Fragment& fragment, std::byte* results) {
  auto* const base = static_cast<std::byte*>(window.window.base);
  if (fragment.sub == Sub::kUpdate || fragment.sub == Sub::kSwap) return update(window, fragment, results);
  std::uint64_t done = 0;
  for (std::uint32_t i = 0; i < fragment.head.runs; ++i) {
    const Run run = fragment.run(i);
    if (fragment.sub == Sub::kPut) {
      put(base, view_of(fragment.data + done, run.bytes, fragment), place_of(run, fragment));
    } else {
      get(base, view_of(results + done, run.bytes, fragment), place_of(run, fragment));
    }
    done += run.bytes;
  }
  return {};
}

/// A fragment that fetches nothing.
void serve_silent(AmWindow& window, Channel& from, const Word& word, const Fragment& fragment, Fault fault) {
  if (fault.error == 0) fault.error = execute(window, fragment, nullptr).mpi_class();
  if (fault.error != 0) return from.answers.keep(fault);  // an answer too
  if ((word.flags & Word::kAnswer) != 0) from.answers.pong();
}

void serve_fetch(AmWindow& window, Channel& from, const Word& word, const Fragment& fragment, Fault fault) {
  fault.missing = fragment.bytes;
  if (fault.error == 0) {
    Answer* const answer = from.answers.losing() ? nullptr : Answers::make(Sub::kData, word.sequence, fragment.bytes);
    if (answer == nullptr) {
      fault.error = MPI_ERR_NO_MEM;
      return from.answers.lose(word.sequence, fault);
    }
    fault.error = execute(window, fragment, answer->payload()).mpi_class();
    if (fault.error == 0) return from.answers.add(answer);
    Answers::drop(answer);
  }
  from.answers.refuse(word.sequence, fault);
}

}  // namespace

void serve(AmWindow& window, Channel& from, const Word& word, std::span<const std::byte> payload) {
  window.counters.served.add();
  from.answers.done(word.sequence);
  Fragment fragment;
  fragment.sub = word.sub;
  Fault fault{.error = 0, .sub = static_cast<std::uint32_t>(word.sub), .offset = 0, .bytes = 0, .missing = 0};
  static_cast<void>(read(window.window, payload, &fragment, &fault));
  if (fragment.fetches()) {
    serve_fetch(window, from, word, fragment, fault);
  } else {
    serve_silent(window, from, word, fragment, fault);
  }
}

}  // namespace ashlar::rma::am
