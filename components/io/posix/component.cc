#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>

#include "components/io/posix/driver.h"
#include "framework/plugin/component.h"

namespace ashlar::io::posix {

const ashlar_host* the_host = nullptr;

namespace {

constexpr std::int32_t kPriority = 10;  // serves every file, so any other that takes part knows the file system better

ashlar_result remove(ashlar_io_driver*, const char* path) {
  return ::unlink(path) == 0 ? ASHLAR_OK : failed(errno, "unlink", path);
}

constexpr ashlar_io_driver_ops kOps = {.size = sizeof(ashlar_io_driver_ops), .open = open_file, .remove = remove};
/// What processes of other nodes have written is seen at once, or later.
constexpr Driver kCoherent = {.head = {.ops = &kOps}, .coherence = ASHLAR_IO_COHERENT | ASHLAR_IO_NODE_COHERENT};
constexpr Driver kLocal = {
    .head = {.ops = &kOps}, .coherence = ASHLAR_IO_COHERENT | ASHLAR_IO_NODE_COHERENT, .mappable = true};
constexpr Driver kInMemory = {.head = {.ops = &kOps},
                              .coherence = ASHLAR_IO_COHERENT | ASHLAR_IO_NODE_COHERENT | ASHLAR_IO_NO_DEVICE,
                              .mappable = true};
constexpr Driver kOfNode = {.head = {.ops = &kOps}, .coherence = ASHLAR_IO_NODE_COHERENT};

/// File systems over a network whose clients keep what they have read or written, by statfs(2)'s type.
bool keeps_copies(std::uint64_t file_system) {
  constexpr std::uint64_t kTypes[] = {0x6969 /* nfs */, 0xff534d42 /* cifs */, 0xfe534d42 /* smb2 */,
                                      0x517b /* smb */, 0x5346414f /* afs */,  0x01021997 /* 9p */,
                                      0x65735546 /* fuse */};
  return std::find(std::begin(kTypes), std::end(kTypes), file_system) != std::end(kTypes);
}

/// File systems of this machine that read, write and map the same pages.
bool has_pages(std::uint64_t file_system) {
  constexpr std::uint64_t kTypes[] = {0xef53 /* ext2, ext3, ext4 */, 0x58465342 /* xfs */, 0x9123683e /* btrfs */,
                                      0xf2f52010 /* f2fs */, 0x794c7630 /* overlay */};
  return std::find(std::begin(kTypes), std::end(kTypes), file_system) != std::end(kTypes);
}

bool in_memory(std::uint64_t file_system) {
  return file_system == 0x01021994 /* tmpfs */ || file_system == 0x858458f6 /* ramfs */ ||
         file_system == 0x958458f6 /* hugetlbfs */;
}

ashlar_result open(const ashlar_host* host, const void*) {
  the_host = host;
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "any file that the system can open");
}

ashlar_result create(const void* of, void** module) {
  const std::uint64_t type = static_cast<const ashlar_io_context*>(of)->file_system;
  const Driver& one = keeps_copies(type) ? kOfNode : in_memory(type) ? kInMemory : has_pages(type) ? kLocal : kCoherent;
  *module = const_cast<Driver*>(&one);
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace
}  // namespace ashlar::io::posix

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "io",
                                              .name = "posix",
                                              .version = "1.0.0",
                                              .description = "files through the system calls of POSIX",
                                              .interface_version = ASHLAR_IO_INTERFACE,
                                              .config_size = 0,
                                              .param_count = 0,
                                              .params = nullptr,
                                              .build_id = 0,
                                              .open = ashlar::io::posix::open,
                                              .query = ashlar::io::posix::query,
                                              .create = ashlar::io::posix::create,
                                              .destroy = ashlar::io::posix::destroy,
                                              .close = nullptr};
