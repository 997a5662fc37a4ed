#pragma once
#include <rdma/fabric.h>

#include <cstdint>
#include <cstring>

#include "framework/plugin/component.h"

namespace ashlar::ofi {

/// Version of libfabric's interface that we request.
inline constexpr std::uint32_t kVersion = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

/// Compares two names of libfabric, either of which may be null.
inline bool same(const char* a, const char* b) {
  return std::strcmp(a != nullptr ? a : "", b != nullptr ? b : "") == 0;
}

/// The functions of libfabric that are symbols, found at run time: a process that does not use this transport never
/// loads the library, and an installation without it works. All others are reached through the objects that these make.
struct Library {
  decltype(&fi_getinfo) getinfo = nullptr;
  decltype(&fi_freeinfo) freeinfo = nullptr;
  decltype(&fi_dupinfo) dupinfo = nullptr;
  decltype(&fi_fabric) fabric = nullptr;
  decltype(&fi_open) open = nullptr;
  decltype(&fi_strerror) strerror = nullptr;
  decltype(&fi_version) version = nullptr;

  bool has_hooks = false;  // its monitor of memory is its own

  /// The process's, loaded from `file` at the first call, which alone says whether it has hooks. nullptr with
  /// `*failed`.
  static const Library* of_process(const ashlar_host& host, const char* file, bool hooks, ashlar_result* failed);
  /// What the library logs from here on, up to the end of the process, is dropped.
  static void forget_host();
};

}  // namespace ashlar::ofi
