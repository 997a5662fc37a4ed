#include "mpiexec/dynamic_section.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ashlar::mpiexec {
namespace {

/// A file that is read in pieces. Reading past its end, or more than any table of an ELF file needs, gives nothing.
class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  template <class T>
  std::vector<T> read(std::uint64_t offset, std::uint64_t count) const {
    constexpr std::uint64_t kMostOfTable = 1u << 20;
    if (fd_ < 0 || count > kMostOfTable / sizeof(T)) return {};
    std::vector<T> out(count);
    const ssize_t bytes = pread(fd_, out.data(), count * sizeof(T), static_cast<off_t>(offset));
    if (bytes != static_cast<ssize_t>(count * sizeof(T))) return {};
    return out;
  }
  /// A text that ends with a zero byte, of at most 4095 characters.
  std::string text_at(std::uint64_t offset) const {
    char buffer[4096] = {};
    if (fd_ < 0 || pread(fd_, buffer, sizeof buffer - 1, static_cast<off_t>(offset)) <= 0) return {};
    return buffer;
  }

 private:
  const int fd_;
};

}  // namespace

DynamicSection dynamic_section_of(const std::string& path) {
  const File file(path);
  const auto header = file.read<ElfW(Ehdr)>(0, 1);
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 || header[0].e_ident[EI_CLASS] != kClass)
    return {};
  const auto parts = file.read<ElfW(Phdr)>(header[0].e_phoff, header[0].e_phnum);
  const auto offset_of = [&parts](std::uint64_t address) -> std::uint64_t {
    for (const ElfW(Phdr) & part : parts)
      if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
        return part.p_offset + (address - part.p_vaddr);
    return 0;
  };
  std::vector<ElfW(Dyn)> entries;
  for (const ElfW(Phdr) & part : parts)
    if (part.p_type == PT_DYNAMIC) entries = file.read<ElfW(Dyn)>(part.p_offset, part.p_filesz / sizeof(ElfW(Dyn)));
  std::uint64_t strings = 0;
  for (const ElfW(Dyn) & entry : entries)
    if (entry.d_tag == DT_STRTAB) strings = offset_of(entry.d_un.d_ptr);
  DynamicSection out;
  for (const ElfW(Dyn) & entry : entries) {
    if (strings == 0 || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) out.needed.push_back(file.text_at(strings + entry.d_un.d_val));
    if (entry.d_tag == DT_SONAME) out.soname = file.text_at(strings + entry.d_un.d_val);
    if (entry.d_tag == DT_RPATH) out.rpath = file.text_at(strings + entry.d_un.d_val);
    if (entry.d_tag == DT_RUNPATH) out.runpath = file.text_at(strings + entry.d_un.d_val);
  }
  return out;
}

}  // namespace ashlar::mpiexec
