#include "framework/mpit/pvar_handle.h"

#include <algorithm>
#include <cstring>

#include "framework/base/event.h"
#include "framework/mpit/marks.h"
#include "framework/runtime/threads.h"

namespace ashlar::mpit {
namespace {

constexpr std::uint32_t kOnStack = 64;

/// Room for the values of a variable: on the stack, but for the large ones, of which each communicator has one a rank.
class Values {
 public:
  explicit Values(std::uint32_t count) {
    if (count > kOnStack) many_ = std::make_unique<std::uint64_t[]>(count);
  }
  std::uint64_t* get() { return many_ ? many_.get() : few_; }
  std::uint64_t& operator[](std::uint32_t i) { return get()[i]; }

 private:
  std::uint64_t few_[kOnStack];
  std::unique_ptr<std::uint64_t[]> many_;
};

std::uint64_t element(const void* values, std::uint32_t i) {
  std::uint64_t value;
  std::memcpy(&value, static_cast<const std::byte*>(values) + i * sizeof value, sizeof value);
  return value;
}

}  // namespace

bool PvarHandle::count_now(std::uint64_t* values) const {
  const void* object = nullptr;
  if (pvar->bind == MPI_T_BIND_MPI_COMM) {
    object = bound.comm();
    if (object == nullptr) return false;
    const event::Hold hold;  // such a variable may take a lane's lock, and give it up
    pvar->read(object, values, count);
    return true;
  }
  pvar->read(object, values, count);
  return true;
}

int PvarHandle::give(const std::uint64_t* values, void* out) const {
  if (pvar->kind == MPI_T_PVAR_CLASS_STATE) {
    for (std::uint32_t i = 0; i < count; ++i) static_cast<int*>(out)[i] = static_cast<int>(values[i]);
  } else {
    std::memcpy(out, values, count * sizeof *values);
  }
  return MPI_SUCCESS;
}

int PvarHandle::read(void* out) {
  if (pvar->locks && !runtime::may_look_into_lanes()) return MPI_T_ERR_NOT_ACCESSIBLE;
  Values now(count);
  if (pvar->marks() && running.load(std::memory_order_acquire)) {
    now[0] = marks::most(*this);
    return give(now.get(), out);
  }
  if (!pvar->adds_up() && !pvar->marks()) {
    if (!count_now(now.get())) return MPI_T_ERR_INVALID_HANDLE;
    return give(now.get(), out);
  }
  if (!running.load(std::memory_order_acquire)) {
    for (std::uint32_t i = 0; i < count; ++i) now[i] = words[i].kept.load(std::memory_order_relaxed);
    return give(now.get(), out);
  }
  // The base first: it never is more than what is counted after it was set.
  Values base(count);
  for (std::uint32_t i = 0; i < count; ++i) base[i] = words[i].base.load(std::memory_order_acquire);
  if (!count_now(now.get())) return MPI_T_ERR_INVALID_HANDLE;
  for (std::uint32_t i = 0; i < count; ++i) now[i] -= base[i];
  return give(now.get(), out);
}

// What is read and what the next value counts from are one number, so nothing is lost and nothing counted twice, with
// any number of threads.
int PvarHandle::read_and_reset(void* out) {
  if (!pvar->atomic) return MPI_T_ERR_PVAR_NO_ATOMIC;
  Values value(count);
  if (!running.load(std::memory_order_acquire)) {
    const std::uint64_t start = pvar->marks() ? marks::level(*this) : 0;
    for (std::uint32_t i = 0; i < count; ++i) value[i] = words[i].kept.exchange(start, std::memory_order_relaxed);
    return give(value.get(), out);
  }
  if (pvar->marks()) {
    value[0] = marks::restart(*this, 0);
    return give(value.get(), out);
  }
  Values now(count), base(count);
  for (std::uint32_t i = 0; i < count; ++i) base[i] = words[i].base.load(std::memory_order_acquire);
  if (!count_now(now.get())) return MPI_T_ERR_INVALID_HANDLE;
  for (std::uint32_t i = 0; i < count; ++i) {
    while (!words[i].base.compare_exchange_weak(base[i], now[i], std::memory_order_acq_rel)) {
      // Another thread has reset it: what was counted has to be read after that.
      Values again(count);
      if (!count_now(again.get())) return MPI_T_ERR_INVALID_HANDLE;
      now[i] = again[i];
    }
    value[i] = now[i] - base[i];
  }
  return give(value.get(), out);
}

int PvarHandle::write(const void* values) {
  if (pvar->readonly) return MPI_T_ERR_PVAR_NO_WRITE;
  const bool runs = running.load(std::memory_order_acquire);
  if (pvar->marks() && runs) {
    (void)marks::restart(*this, element(values, 0));
    return MPI_SUCCESS;
  }
  Values now(count);
  if (runs && !count_now(now.get())) return MPI_T_ERR_INVALID_HANDLE;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (runs)
      words[i].base.store(now[i] - element(values, i), std::memory_order_release);
    else
      words[i].kept.store(element(values, i), std::memory_order_relaxed);
  }
  return MPI_SUCCESS;
}

int PvarHandle::reset() {
  if (pvar->readonly) return MPI_T_ERR_PVAR_NO_WRITE;
  const bool runs = running.load(std::memory_order_acquire);
  if (pvar->marks() && runs) {
    (void)marks::restart(*this, 0);
    return MPI_SUCCESS;
  }
  Values now(count);
  if (runs && !count_now(now.get())) return MPI_T_ERR_INVALID_HANDLE;
  const std::uint64_t start = pvar->marks() ? marks::level(*this) : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (runs)
      words[i].base.store(now[i], std::memory_order_release);
    else
      words[i].kept.store(start, std::memory_order_relaxed);
  }
  return MPI_SUCCESS;
}

int PvarHandle::start() {
  if (pvar->continuous) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  if (pvar->marks()) {
    if (!running.exchange(true)) marks::start(*this, words[0].kept.load(std::memory_order_relaxed));
    return MPI_SUCCESS;
  }
  if (running.load(std::memory_order_acquire)) return MPI_SUCCESS;
  Values now(count);
  if (!count_now(now.get())) return MPI_T_ERR_INVALID_HANDLE;
  for (std::uint32_t i = 0; i < count; ++i)
    words[i].base.store(now[i] - words[i].kept.load(std::memory_order_relaxed), std::memory_order_relaxed);
  running.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

int PvarHandle::stop() {
  if (pvar->continuous) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  if (pvar->marks()) {
    if (running.exchange(false)) words[0].kept.store(marks::stop(*this), std::memory_order_relaxed);
    return MPI_SUCCESS;
  }
  if (!running.load(std::memory_order_acquire)) return MPI_SUCCESS;
  Values now(count);
  if (!count_now(now.get())) return MPI_T_ERR_INVALID_HANDLE;
  for (std::uint32_t i = 0; i < count; ++i)
    words[i].kept.store(now[i] - words[i].base.load(std::memory_order_relaxed), std::memory_order_relaxed);
  running.store(false, std::memory_order_release);
  return MPI_SUCCESS;
}

}  // namespace ashlar::mpit
