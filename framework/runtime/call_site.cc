#include "framework/runtime/call_site.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace ashlar::runtime {
namespace {

/// A file's bytes for reading.
class Mapped {
 public:
  explicit Mapped(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0) return;
    if (fstat(fd, &about) == 0 && about.st_size > 0) {
      void* const at = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (at != MAP_FAILED) {
        bytes_ = static_cast<const char*>(at);
        size_ = static_cast<std::size_t>(about.st_size);
      }
    }
    close(fd);
  }
  ~Mapped() {
    if (bytes_) munmap(const_cast<char*>(bytes_), size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  /// `count` objects at `offset`, or nullptr when the file ends before.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count) const {
    if (!bytes_ || offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(bytes_ + offset);
  }

 private:
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// The function at `place` by the file's full table of symbols: programs show the dynamic linker almost none of theirs.
std::string function_at(const char* path, std::uintptr_t place) {
  const Mapped file(path);
  const auto* const head = file.at<ElfW(Ehdr)>(0, 1);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return "";
  const auto* const sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  for (unsigned s = 0; sections && s < head->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB || sections[s].sh_link >= head->e_shnum) continue;
    const auto& names = sections[sections[s].sh_link];
    const std::uint64_t count = sections[s].sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = file.at<ElfW(Sym)>(sections[s].sh_offset, count);
    for (std::uint64_t i = 0; symbols && i < count; ++i) {
      const ElfW(Sym)& symbol = symbols[i];
      if ((symbol.st_info & 0xf) != STT_FUNC || place < symbol.st_value || place - symbol.st_value >= symbol.st_size)
        continue;
      const char* const name = symbol.st_name < names.sh_size
                                   ? file.at<char>(names.sh_offset + symbol.st_name, names.sh_size - symbol.st_name)
                                   : nullptr;
      return name ? std::string(name, strnlen(name, names.sh_size - symbol.st_name)) : "";
    }
  }
  return "";
}

}  // namespace

CallSite call_site(const void* return_address) {
  // The call ends where the return address begins.
  const auto* const inside = static_cast<const char*>(return_address) - 1;
  Dl_info info;
  CallSite site;
  if (dladdr(inside, &info) == 0 || !info.dli_fname) return site;
  site.file = info.dli_fname;
  const auto* const head = static_cast<const ElfW(Ehdr)*>(info.dli_fbase);
  site.place = reinterpret_cast<std::uintptr_t>(inside);
  if (head->e_type == ET_DYN) site.place -= reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  // The main program's name is argv[0], which need not be a path.
  const char* const path = access(info.dli_fname, R_OK) == 0 ? info.dli_fname : "/proc/self/exe";
  site.function = function_at(path, site.place);
  if (site.function.empty() && info.dli_sname) site.function = info.dli_sname;
  return site;
}

std::string to_text(const CallSite& site) {
  if (site.file.empty()) return "an unknown place";
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", site.place);
  const std::string name = site.file.substr(site.file.rfind('/') + 1) + offset;
  return site.function.empty() ? name : name + " (" + site.function + ")";
}

}  // namespace ashlar::runtime
