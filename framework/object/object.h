#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace ashlar {

/// The first word of everything an MPI handle can point to. Predefined handles are constants below 4096, all others are
/// the address of an Object in the arena, so a handle is checked with a range compare and one word.
enum class Kind : std::uint32_t {
  kComm = 0x6d6d6f63,
  kGroup = 0x70756f72,
  kDatatype = 0x65707974,
  kRequest = 0x73716572,
  kReduceOp = 0x706f6572,
  kErrhandler = 0x72727265,
  kInfo = 0x6f666e69,
  kMessage = 0x6773656d,
  kSession = 0x73736573,
  kWin = 0x776e6977,
  kFile = 0x656c6966,
};

/// Base of the objects behind handles: kind, then the number of references (the user's handle is one of them).
struct Object {
  constexpr explicit Object(Kind k) : kind(k) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const Kind kind;
  std::atomic<std::int32_t> references{1};
  /// The constant that is this object's handle when it is predefined (MPI_INT, MPI_COMM_WORLD ...), else 0.
  std::uint32_t predefined = 0;
};

/// Drops one reference; at zero calls `destroy(T*)` of T's room (found by argument-dependent look-up).
template <class T>
void release(T* object) {
  if (object && object->references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(object);
}

/// Shared ownership of an Object. `share` adds a reference, `adopt` takes over one that exists.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref share(T& object) {
    object.references.fetch_add(1, std::memory_order_relaxed);
    return Ref(&object);
  }
  static Ref adopt(T* object) { return Ref(object); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref(const Ref& other) : object_(other.object_) {
    if (object_) object_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { ashlar::release(object_); }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  /// Gives the reference to the caller.
  T* detach() { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(T* object) : object_(object) {}
  T* object_ = nullptr;
};

}  // namespace ashlar
