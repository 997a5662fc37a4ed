#include "components/transport/ucx/memory_functions.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace ashlar::ucx {
namespace {

constexpr const char* kNames[] = {"mmap", "munmap", "mremap", "madvise", "shmat", "shmdt", "brk", "sbrk"};

/// Writes code of the process. False: the system does not allow it.
bool write_code(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(to) / page * page;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(to) + bytes + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(first);
  if (mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(to, from, bytes);
  __builtin___clear_cache(reinterpret_cast<char*>(to), reinterpret_cast<char*>(to + bytes));
  return mprotect(pages, end - first, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace

MemoryFunctions::MemoryFunctions() {
  // The C library's, and those that a library in front of it has.
  void* const c_library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  std::size_t count = 0;
  for (const char* const name : kNames)
    for (void* const where : {RTLD_DEFAULT, c_library}) {
      void* const code = dlsym(where, name);
      if (code == nullptr || (count > 0 && functions_[count - 1].code == code)) continue;
      Function& function = functions_[count];
      function.name = name;
      function.code = static_cast<unsigned char*>(code);
      std::memcpy(function.bytes.data(), function.code, kBytes);
      ++count;
    }
  if (c_library != nullptr) dlclose(c_library);
}

const char* MemoryFunctions::changed() const {
  for (const Function& function : functions_)
    if (function.code != nullptr && std::memcmp(function.code, function.bytes.data(), kBytes) != 0)
      return function.name;
  return nullptr;
}

const char* MemoryFunctions::restore() const {
  for (const Function& function : functions_)
    if (function.code != nullptr && std::memcmp(function.code, function.bytes.data(), kBytes) != 0 &&
        !write_code(function.code, function.bytes.data(), kBytes))
      return function.name;
  return nullptr;
}

}  // namespace ashlar::ucx
