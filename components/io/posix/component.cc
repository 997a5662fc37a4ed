#include <unistd.h>

#include <cerrno>
#include <cstdio>

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
constexpr ashlar_io_driver kDriver = {.ops = &kOps};

ashlar_result open(const ashlar_host* host, const void*) {
  the_host = host;
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "any file that the system can open");
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<ashlar_io_driver*>(&kDriver);
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
