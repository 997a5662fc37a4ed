#pragma once
#include <cstdio>
#include <new>

#include "framework/plugin/io_in_front.h"

/// What components of io for tests have alike: each stands in front of the driver that would serve otherwise.
namespace ashlar::test {

inline const ashlar_host* host;  // since the component is open

inline void query(const void*, ashlar_answer* answer) {
  answer->priority = 100;
  std::snprintf(answer->reason, sizeof answer->reason, "a test asks for it");
}

template <const ashlar_io_driver_ops& ops>
ashlar_result create(const void* context, void** module) {
  const auto& of_driver = *static_cast<const ashlar_io_context*>(context);
  if (of_driver.next == nullptr) return host->fail(ASHLAR_ERR_OTHER, "there is no driver behind it");
  auto* const driver = new (std::nothrow) ashlar_io_front_driver{.head = {.ops = &ops}, .next = of_driver.next};
  if (driver == nullptr) return ashlar_fail_no_memory(host, "a driver", sizeof *driver);
  *module = driver;
  return ASHLAR_OK;
}

inline void destroy(void* module) { delete static_cast<ashlar_io_front_driver*>(module); }

}  // namespace ashlar::test
