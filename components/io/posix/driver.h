#pragma once
#include <cstdint>
#include <string>

#include "framework/plugin/io.h"

/// Files through the system calls of POSIX.
namespace ashlar::io::posix {

extern const ashlar_host* the_host;

struct Driver {
  ashlar_io_driver head;    // what the kernel knows
  std::uint64_t coherence;  // capability bits of its files
  bool mappable = false;    // stores in a mapping and pwrite(2) meet in the same pages
};

/// The failure of a system call with `error`, an errno, on `path`.
ashlar_result failed(int error, const char* call, const char* path);
/// The same of a transfer at `offset`.
ashlar_result failed_at(int error, const char* call, const char* path, std::uint64_t offset);

ashlar_result open_file(ashlar_io_driver*, const ashlar_io_open* wanted, ashlar_io_file** out);

}  // namespace ashlar::io::posix
