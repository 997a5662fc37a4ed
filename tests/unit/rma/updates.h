#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/op_api.h"
#include "framework/rma/apply.h"
#include "framework/rma/range_gate.h"
#include "framework/rma/window.h"

/// A target's memory with its lines, and updates of it as the calls of the accumulate family make them.
namespace ashlar::rma::test {

inline Datatype& type_of(MPI_Datatype handle) { return datatype::predefined(handle); }
inline ReduceOp& op_of(MPI_Op handle) { return datatype::predefined_op(handle); }

/// Memory that fork() shares, zeroed, with the lines of one target and of `origins` processes.
class Shared {
 public:
  static constexpr std::uint32_t kOrigins = 16;

  explicit Shared(std::size_t bytes) : bytes_(bytes) {
    all_ = mmap(nullptr, sizeof(Lines) + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all_ == MAP_FAILED) std::abort();
    lines_ = new (all_) Lines{};
  }
  ~Shared() { munmap(all_, sizeof(Lines) + bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  std::byte* memory() const { return static_cast<std::byte*>(all_) + sizeof(Lines); }
  template <class T>
  T* words() const {
    return reinterpret_cast<T*>(memory());
  }
  std::size_t bytes() const { return bytes_; }
  UpdateLine& line() { return lines_->line; }
  OriginLine& origin(std::uint32_t i) { return lines_->origins[i]; }
  Guard guard(Guard::Kind kind, std::uint32_t own = 0, std::uint32_t range_elements = RangeLimits{}.elements) {
    Guard guard;
    guard.kind = kind;
    guard.own = own;
    guard.range.elements = range_elements;
    if (kind == Guard::Kind::kOwner) return guard;
    guard.line = &lines_->line;
    guard.origins = lines_->origins;
    guard.count = kOrigins;
    return guard;
  }

 private:
  struct Lines {
    UpdateLine line;
    OriginLine origins[kOrigins];
  };
  std::size_t bytes_;
  void* all_;
  Lines* lines_;
};

/// The arguments of an update; the rest is what every update of a test has in common.
struct Call {
  MPI_Op op = MPI_SUM;
  Datatype* element = nullptr;
  DataView origin;
  DataView result;
  Place place;
  const void* compare = nullptr;
};

inline Update update_of(const Call& call, Target& target) {
  static RmaWindow window;
  return {.window = window,
          .target = target,
          .op = op_of(call.op),
          .element = *call.element,
          .origin = call.origin,
          .result = call.result,
          .place = call.place,
          .compare = call.compare,
          .done = nullptr};
}
inline void update(const Guard& guard, std::byte* window, const Call& call) {
  Target target;
  if (!apply(guard, window, update_of(call, target)).ok()) std::abort();
}

/// An update of `n` elements in a row by ones of type T.
template <class T>
void add(const Guard& guard, std::byte* window, MPI_Aint offset, MPI_Op op, MPI_Datatype type, const T* in, MPI_Count n,
         T* out = nullptr) {
  Datatype& element = type_of(type);
  const bool reads = op != MPI_NO_OP;
  update(guard, window,
         {.op = op,
          .element = &element,
          .origin = reads ? DataView::of(in, n, element) : DataView{},
          .result = out != nullptr ? DataView{.data = out, .count = n, .type = &element} : DataView{},
          .place = {.offset = offset, .count = n, .type = &element}});
}
template <class T>
T fetch(const Guard& guard, std::byte* window, MPI_Aint offset, MPI_Op op, MPI_Datatype type, T in) {
  T out{};
  add(guard, window, offset, op, type, &in, 1, &out);
  return out;
}
template <class T>
T swap(const Guard& guard, std::byte* window, MPI_Aint offset, MPI_Datatype type, T compare, T in) {
  Datatype& element = type_of(type);
  T out{};
  update(guard, window,
         {.op = MPI_REPLACE,
          .element = &element,
          .origin = DataView::of(&in, 1, element),
          .result = {.data = &out, .count = 1, .type = &element},
          .place = {.offset = offset, .count = 1, .type = &element},
          .compare = &compare});
  return out;
}

/// Far memory that is near: what process_vm_readv and writev do, in one process.
class NearMemory final : public FarMemory {
 public:
  using FarMemory::FarMemory;
  int read(void* to, std::span<const iovec> runs) override {
    if (++calls == fail_at) return EFAULT;
    auto* at = static_cast<std::byte*>(to);
    for (const iovec& run : runs) {
      std::memcpy(at, run.iov_base, run.iov_len);
      at += run.iov_len;
    }
    return 0;
  }
  int write(const void* from, std::span<const iovec> runs) override {
    if (++calls == fail_at) return EFAULT;
    const auto* at = static_cast<const std::byte*>(from);
    for (const iovec& run : runs) {
      std::memcpy(run.iov_base, at, run.iov_len);
      at += run.iov_len;
    }
    return 0;
  }
  int calls = 0;
  int fail_at = 0;  // the call that fails; 0: none
};

/// Runs `body(i)` in `n` processes at the same time. Returns how many did not end with true.
int in_processes(std::uint32_t n, const std::function<bool(std::uint32_t)>& body);

}  // namespace ashlar::rma::test
