#include <cstdio>
#include <cstring>
#include <new>

#include "components/io/uring/config.h"
#include "components/io/uring/driver.h"
#include "framework/plugin/component.h"

namespace ashlar::io::uring {

const ashlar_host* the_host = nullptr;
constinit Rings the_rings;
std::uint64_t least_pieces = 0;

namespace {

constexpr std::int32_t kPriority = 20;  // in front of io/posix
Use use = Use::kAuto;

constexpr ashlar_io_driver_ops kOps = {
    .size = sizeof(ashlar_io_driver_ops), .open = open_file, .remove = ashlar_io_remove_behind};

ashlar_result open(const ashlar_host* host, const void* config) {
  const auto& parameters = *static_cast<const Config*>(config);
  the_host = host;
  use = static_cast<Use>(parameters.use);
  least_pieces = parameters.pieces;
  the_rings.begin(parameters.rings, static_cast<unsigned>(parameters.entries));
  return ASHLAR_OK;
}

/// File systems without a device, by statfs(2)'s type: nothing is gained by several transfers at a time.
bool in_memory(const void* context) {
  if (context == nullptr) return false;
  const std::uint64_t type = static_cast<const ashlar_io_context*>(context)->file_system;
  return type == 0x01021994 /* tmpfs */ || type == 0x858458f6 /* ramfs */ || type == 0x958458f6 /* hugetlbfs */;
}

/// Why it does not serve; nullptr: it may.
const char* why_not(const void* context) {
  if (use == Use::kNever) return "io.uring.use is never";
  if (use == Use::kAuto && in_memory(context))
    return "the file system is in memory, where system calls cost less (io.uring.use)";
  return nullptr;
}

void query(const void* context, ashlar_answer* answer) {
  answer->priority = -1;
  if (const char* const no = why_not(context); no != nullptr) {
    std::snprintf(answer->reason, sizeof answer->reason, "%s", no);
    return;
  }
  std::unique_ptr<Ring> ring;
  if (const int error = Ring::make(1, &ring); error != 0) {
    std::snprintf(answer->reason, sizeof answer->reason, "io_uring_setup: %s", std::strerror(error));
    return;
  }
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason,
                "the system has io_uring: a device is asked for many pieces at a time");
}

ashlar_result create(const void* of, void** module) {
  ashlar_io_driver* const next = static_cast<const ashlar_io_context*>(of)->next;
  if (next == nullptr) {
    const ashlar_fact facts[] = {{"component", "uring", 0}};
    return ashlar_fail_with(the_host, ASHLAR_ERR_OTHER, "io.nothing_behind", facts, 1);
  }
  auto* const driver = new (std::nothrow) Driver{{.head = {.ops = &kOps}, .next = next}, use == Use::kAlways};
  if (driver == nullptr) return ashlar_fail_no_memory(the_host, "a driver", sizeof *driver);
  *module = driver;
  return ASHLAR_OK;
}

void destroy(void* module) { delete static_cast<Driver*>(module); }

void close() { the_rings.clear(); }

}  // namespace
}  // namespace ashlar::io::uring

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "io",
                                              .name = "uring",
                                              .version = "1.0.0",
                                              .description = "many pieces of a file at a time through io_uring",
                                              .interface_version = ASHLAR_IO_INTERFACE,
                                              .config_size = sizeof(ashlar::io::uring::Config),
                                              .param_count = ashlar::io::uring::kParamCount,
                                              .params = ashlar::io::uring::kParams,
                                              .build_id = 0,
                                              .open = ashlar::io::uring::open,
                                              .query = ashlar::io::uring::query,
                                              .create = ashlar::io::uring::create,
                                              .destroy = ashlar::io::uring::destroy,
                                              .close = ashlar::io::uring::close};
