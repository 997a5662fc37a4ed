#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "framework/base/failure.h"
#include "framework/base/sanitizers.h"
#include "framework/base/shared_file.h"
#include "framework/memory/backing.h"
#include "framework/memory/heap.h"

namespace ashlar::memory {
namespace {

/// What became of the heap of another process, or of the own one.
struct Neighbour {
  MappedHeap heap;
  std::string what;  // what was refused; "": the heap is mapped
  std::string error;
  bool own = false;
};

/// The heaps that were asked for. Windows may outlive the Process that made them, so this does, too.
struct Neighbours {
  std::mutex mutex;  // guards the rest
  std::map<std::pair<std::int32_t, std::uint64_t>, Neighbour> by_process_and_nonce;
};
Neighbours& neighbours() {
  static auto* const all = new Neighbours;
  return *all;
}

void attach(const HeapHandle& handle, Neighbour* out) {
  const auto refuse = [out](const std::string& what, const char* error) {
    out->what = what;
    out->error = error;
  };
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.fd);
  const int fd = open_shared_file_of(handle.pid, handle.fd);
  if (fd < 0) return refuse(std::string("opening ") + path, std::strerror(errno));
  // A mapping of a shorter file could not be read.
  const off_t size = lseek(fd, 0, SEEK_END);
  std::byte* at = nullptr;
  if (size < 0 || static_cast<std::uint64_t>(size) != handle.bytes || handle.bytes < sizeof(HeapHead))
    refuse(path, "it is another file, by its size");
  else if (at = map_sparse(fd, handle.bytes); !at)
    refuse("mapping its " + std::to_string(handle.bytes) + " bytes (ulimit -v)", std::strerror(errno));
  else if (const auto* const head = reinterpret_cast<const HeapHead*>(at);
           head->nonce != handle.nonce || head->bytes != handle.bytes) {
    refuse(path, "it is another file, by its nonce");
    munmap(at, handle.bytes);
    at = nullptr;
  }
  close(fd);
  if (!at) return;
  out->what.clear();
  out->heap = {.base = at, .address = handle.address, .bytes = handle.bytes};
}

void find(const HeapHandle& handle, Neighbour* out) {
  const HeapHandle own = Heap::own().handle();
  out->own = own.pid == handle.pid && own.nonce == handle.nonce;
  if (!out->own) return attach(handle, out);
  // One mapping for all of this process: no other address means the same memory, and sanitizers see one object.
  out->heap = {.base = reinterpret_cast<std::byte*>(own.address), .address = own.address, .bytes = own.bytes};
  out->what.clear();
}

}  // namespace

Status map_heap(const HeapHandle& handle, const MappedHeap** out) try {
  Neighbours& all = neighbours();
  const std::lock_guard guard(all.mutex);
  const std::pair key{handle.pid, handle.nonce};
  auto at = all.by_process_and_nonce.find(key);
  if (at == all.by_process_and_nonce.end()) {
    at = all.by_process_and_nonce.try_emplace(key).first;
    at->second.what = "finding it";
    at->second.error = "it has none";
    if (handle.pid != 0) find(handle, &at->second);
  }
  const Neighbour& neighbour = at->second;
  if (!neighbour.what.empty())
    return fail(MPI_ERR_OTHER, "memory.heap_not_mapped",
                {{"pid", handle.pid}, {"what", neighbour.what}, {"error", neighbour.error}});
  *out = &neighbour.heap;
  return {};
} catch (const std::bad_alloc&) {
  return fail(MPI_ERR_OTHER, "memory.heap_not_mapped",
              {{"pid", handle.pid}, {"what", "noting it"}, {"error", std::strerror(ENOMEM)}});
}

void forget_neighbours() {
  Neighbours& all = neighbours();
  const std::lock_guard guard(all.mutex);
  for (auto& [key, neighbour] : all.by_process_and_nonce)
    if (neighbour.heap.base && !neighbour.own) munmap(neighbour.heap.base, neighbour.heap.bytes);
  all.by_process_and_nonce.clear();
}

}  // namespace ashlar::memory
