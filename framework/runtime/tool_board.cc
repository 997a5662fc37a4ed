#include "framework/runtime/tool_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <mpi.h>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/base/shared_file.h"

namespace ashlar::runtime {
namespace {

constexpr const char* kKey = "tools.board";
constexpr std::uint64_t kMagic = 0x31424c4f4f544741;  // "AGTOOLB1"

}  // namespace

struct ToolBoard::Head {
  std::atomic<std::uint64_t> magic;  // set last
  std::uint64_t cookie;              // of the job
  std::uint64_t slot_bytes;
  std::uint64_t began_ns;
  std::uint32_t slots;
  std::atomic<std::uint32_t> came, left;  // ranks
};

/// Where the board is, as the first rank of the node publishes it.
struct ToolBoard::Place {
  std::uint64_t bytes;
  std::int32_t pid, fd;
};

ToolBoard::~ToolBoard() {
  if (head_) munmap(static_cast<void*>(head_), mapped_);
  if (fd_ >= 0) close(fd_);
}

plugin::ToolMemory* ToolBoard::slot(std::uint32_t index) const {
  return reinterpret_cast<plugin::ToolMemory*>(reinterpret_cast<std::byte*>(head_) + plugin::kToolPage +
                                               index * head_->slot_bytes);
}

plugin::ToolMemory* ToolBoard::of(std::uint32_t local_rank) const {
  if (local_rank >= head_->slots) return nullptr;
  plugin::ToolMemory* const memory = slot(local_rank);
  return memory->count.load(std::memory_order_acquire) > 0 ? memory : nullptr;
}

std::uint64_t ToolBoard::bytes() const { return head_->slot_bytes; }
std::uint64_t ToolBoard::began_ns() const { return head_->began_ns; }

bool ToolBoard::map(int fd, std::size_t bytes) {
  const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return false;
  head_ = static_cast<Head*>(at);
  mapped_ = bytes;
  return true;
}

/// Makes a board; the memory of a job of one rank is not shared.
bool ToolBoard::begin(const ashlar_job& job, std::uint32_t slots, std::uint64_t slot_bytes, bool shared) {
  const std::size_t bytes = plugin::kToolPage + slots * slot_bytes;
  char why[300];
  const int fd = shared ? make_shared_file("ashlar-tools", false, why, sizeof why) : -1;
  if (shared && (fd < 0 || size_whole_shared_file(fd, bytes) != 0 || !map(fd, bytes))) {
    if (fd >= 0) close(fd);
    return false;
  }
  if (!shared && !map(-1, bytes)) return false;
  fd_ = fd;
  head_->cookie = job.cookie;
  head_->slots = slots;
  head_->slot_bytes = slot_bytes;
  head_->began_ns = now_ns();
  head_->magic.store(kMagic, std::memory_order_release);
  return true;
}

void ToolBoard::offer(const ashlar_job& job, ashlar_launch* launch, std::uint64_t bytes) {
  if (job.tool_memory || job.ranks == 1 || job.local_rank != 0) return;
  if (!begin(job, job.local_size, bytes, true)) return;  // attach() takes memory of the process's own
  const Place place{.bytes = mapped_, .pid = getpid(), .fd = fd_};
  (void)launch->ops->put(launch, kKey, &place, sizeof place);
}

Status ToolBoard::open(const Place& place, const ashlar_job& job) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", place.pid, place.fd);
  const int fd = ::open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return fail(MPI_ERR_OTHER, "tool.board_unread", {{"file", path}, {"lower", std::strerror(errno)}});
  struct stat facts;
  const bool whole = fstat(fd, &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) == place.bytes &&
                     place.bytes > plugin::kToolPage && map(fd, place.bytes);
  close(fd);
  if (whole && head_->magic.load(std::memory_order_acquire) == kMagic && head_->cookie == job.cookie &&
      job.local_rank < head_->slots && head_->slots * head_->slot_bytes == place.bytes - plugin::kToolPage)
    return {};
  if (head_) munmap(static_cast<void*>(head_), mapped_);
  head_ = nullptr;
  return fail(MPI_ERR_OTHER, "tool.board_foreign", {{"file", path}});
}

Status ToolBoard::find(const ashlar_job& job, ashlar_launch* launch) {
  if (head_ || job.ranks == 1) return {};
  const std::uint32_t first = job.local_peers ? job.local_peers[0] : 0;
  Place place{};
  std::size_t length = sizeof place;
  if (job.local_rank == 0 || launch->ops->get(launch, first, kKey, &place, &length) != ASHLAR_OK ||
      length != sizeof place)
    return fail(MPI_ERR_OTHER, "tool.board_missing", {{"peer", first}});
  return open(place, job);
}

Status ToolBoard::attach(const ashlar_job& job, ashlar_launch* launch, std::uint64_t bytes) {
  const Status found = find(job, launch);
  if (head_)
    index_ = job.local_rank;
  else if (alone_ = job.ranks > 1; !begin(job, 1, bytes, false))
    return found;
  head_->came.fetch_add(1);
  return found;
}

bool ToolBoard::leave() {
  if (!head_) return false;
  const std::uint32_t left = head_->left.fetch_add(1) + 1;
  return !alone_ && left == head_->came.load();
}

}  // namespace ashlar::runtime
