#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace ashlar::io {

/// Counted by any thread.
class Count {
 public:
  void add(std::uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// What this process did to a file.
struct Counts {
  Count system_calls;   // pieces handed to the component; it may join neighbours
  Count read, written;  // bytes of accesses
  Count sieved;         // windows that were read and written back
  Count windows;        // of collective accesses, that this process moved for all
  Count combined;       // collective accesses in two phases
  Count together;       // collective accesses
  Count asynchronous;   // accesses that a thread of the library made
  Count mapped;         // accesses through a mapping

  void add(const Counts& other) {
    system_calls.add(other.system_calls.get());
    read.add(other.read.get());
    written.add(other.written.get());
    sieved.add(other.sieved.get());
    windows.add(other.windows.get());
    combined.add(other.combined.get());
    together.add(other.together.get());
    asynchronous.add(other.asynchronous.get());
    mapped.add(other.mapped.get());
  }
};

/// Requests of a file that the program has not completed; counted with check.files only.
using RequestsLeft = std::shared_ptr<std::atomic<std::uint64_t>>;

/// A request's part in it.
class CountedRequest {
 public:
  explicit CountedRequest(RequestsLeft all) : all_(std::move(all)) {
    if (all_ != nullptr) all_->fetch_add(1, std::memory_order_relaxed);
  }
  ~CountedRequest() {
    if (all_ != nullptr) all_->fetch_sub(1, std::memory_order_relaxed);
  }
  CountedRequest(const CountedRequest&) = delete;
  CountedRequest& operator=(const CountedRequest&) = delete;

 private:
  const RequestsLeft all_;
};

}  // namespace ashlar::io
