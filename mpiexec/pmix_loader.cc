#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/sources.h"
#include "mpiexec/pmix_server.h"
#include "mpiexec/settings.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

template <class T>
bool read_at(int fd, std::uint64_t offset, T* to, std::size_t count = 1) {
  const auto bytes = static_cast<ssize_t>(sizeof(T) * count);
  return pread(fd, static_cast<void*>(to), static_cast<std::size_t>(bytes), static_cast<off_t>(offset)) == bytes;
}

bool speaks_pmix(const std::string& library) {
  // Open MPI's own libraries (version 5 and later) have no other way to find their job.
  for (const char* name : {"libpmix.so", "libmpi.so.40", "libmpi_mpifh.so.40", "libopen-rte.so", "libopen-pal.so.80"})
    if (library.compare(0, std::strlen(name), name) == 0) return true;
  return false;
}

struct FdGuard {
  int fd;
  ~FdGuard() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

Status load_pmix_server(std::unique_ptr<PmixServer>* server) {
  const std::string file = param::support_folder(own_prefix()) + "/mpiexec_pmix.so";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(kErrOther, "pmix.cannot_run", {{"lower", brief(dlerror())}});
  auto* make = reinterpret_cast<PmixServer* (*)()>(dlsym(library, "ashlar_mpiexec_pmix_server"));
  if (!make)
    return fail(kErrOther, "pmix.cannot_run", {{"lower", "its library is not mpiexec's: " + brief(dlerror())}});
  server->reset(make());
  return {};
}

bool links_pmix(const std::string& file) {
  const FdGuard guard{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  Elf64_Ehdr header;
  if (guard.fd < 0 || !read_at(guard.fd, 0, &header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  if (header.e_phnum > 128 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_at(guard.fd, header.e_phoff, segments.data(), segments.size())) return false;
  auto file_offset = [&](std::uint64_t address) -> std::uint64_t {
    for (const Elf64_Phdr& s : segments)
      if (s.p_type == PT_LOAD && address >= s.p_vaddr && address < s.p_vaddr + s.p_filesz)
        return address - s.p_vaddr + s.p_offset;
    return 0;
  };
  std::vector<Elf64_Dyn> dynamic;
  for (const Elf64_Phdr& s : segments)
    if (s.p_type == PT_DYNAMIC && s.p_filesz < 1u << 16) {
      dynamic.resize(s.p_filesz / sizeof(Elf64_Dyn));
      if (!read_at(guard.fd, s.p_offset, dynamic.data(), dynamic.size())) return false;
    }
  std::uint64_t strings = 0;
  for (const Elf64_Dyn& d : dynamic)
    if (d.d_tag == DT_STRTAB) strings = file_offset(d.d_un.d_ptr);
  for (const Elf64_Dyn& d : dynamic) {
    char name[128] = {};
    if (d.d_tag != DT_NEEDED || strings == 0) continue;
    if (pread(guard.fd, name, sizeof name - 1, static_cast<off_t>(strings + d.d_un.d_val)) <= 0) continue;
    if (speaks_pmix(name)) return true;
  }
  return false;
}

}  // namespace ashlar::mpiexec
