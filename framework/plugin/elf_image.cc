#include "framework/plugin/elf_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "framework/base/elf_machine.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/trust.h"

namespace ashlar::plugin {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
constexpr std::uint32_t kRelative = R_X86_64_RELATIVE, kAbsolute = R_X86_64_64;
constexpr const char* kMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
constexpr std::uint32_t kRelative = R_AARCH64_RELATIVE, kAbsolute = R_AARCH64_ABS64;
constexpr const char* kMachineName = "AArch64";
#else
#error "name this machine's two relocations of a 64-bit pointer"
#endif

}  // namespace

ElfImage::~ElfImage() {
  if (base_) munmap(const_cast<char*>(base_), size_);
}

Status ElfImage::open(const char* path) {
  int fd = -1;
  ASHLAR_TRY(param::open_trusted(path, param::Trust::installed(), &fd));
  struct stat info;
  void* at = MAP_FAILED;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= static_cast<off_t>(sizeof(Elf64_Ehdr)))
    at = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) return fail(kErrOther, "plugin.no_library");
  base_ = static_cast<const char*>(at);
  size_ = static_cast<std::size_t>(info.st_size);
  return headers();
}

const char* ElfImage::at(std::uint64_t address, std::uint64_t bytes) const {
  for (const Elf64_Phdr& p : segments_) {
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr <= p.p_filesz &&
        bytes <= p.p_filesz - (address - p.p_vaddr))
      return file(p.p_offset + (address - p.p_vaddr), bytes);
  }
  return nullptr;
}

const char* ElfImage::text(std::uint64_t address) const {
  for (const Elf64_Phdr& p : segments_) {
    if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz) continue;
    const std::uint64_t room = p.p_filesz - (address - p.p_vaddr);
    const char* from = file(p.p_offset + (address - p.p_vaddr), room);
    return from && std::memchr(from, 0, room) ? from : nullptr;
  }
  return nullptr;
}

std::uint64_t ElfImage::pointer(std::uint64_t address) const {
  const auto found = std::lower_bound(relocations_.begin(), relocations_.end(), address,
                                      [](const Relocation& r, std::uint64_t a) { return r.at < a; });
  if (found != relocations_.end() && found->at == address) return found->value;
  std::uint64_t stored = 0;  // null, or a packed relocation (RELR), which keeps its addend in place
  read(address, &stored);
  return stored;
}

std::uint64_t ElfImage::symbol(const char* name) const {
  for (std::uint64_t i = 1; i < symbol_count_; ++i) {
    Elf64_Sym s;
    if (!read(symbols_ + i * sizeof s, &s)) return 0;
    const char* its_name = text(strings_ + s.st_name);
    if (s.st_shndx != SHN_UNDEF && its_name && std::strcmp(its_name, name) == 0) return s.st_value;
  }
  return 0;
}

const char* ElfImage::file(std::uint64_t offset, std::uint64_t bytes) const {
  return offset <= size_ && bytes <= size_ - offset ? base_ + offset : nullptr;
}

Status ElfImage::headers() {
  Elf64_Ehdr h;
  std::memcpy(&h, base_, sizeof h);
  if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) return fail(kErrOther, "plugin.no_library");
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != kMachine) {
    char name[32];
    return fail(kErrOther, "plugin.other_machine",
                {{"machine", elf_machine_name(h.e_machine, name, sizeof name)}, {"kernel", kMachineName}});
  }
  if (h.e_type != ET_DYN || h.e_phentsize != sizeof(Elf64_Phdr)) return fail(kErrOther, "plugin.no_library");
  const char* table = file(h.e_phoff, std::uint64_t{h.e_phnum} * sizeof(Elf64_Phdr));
  if (!table) return fail(kErrOther, "plugin.cut_short");
  segments_.resize(h.e_phnum);
  if (h.e_phnum == 0) return fail(kErrOther, "plugin.no_library");
  std::memcpy(segments_.data(), table, std::size_t{h.e_phnum} * sizeof(Elf64_Phdr));
  for (const Elf64_Phdr& p : segments_) {
    if (p.p_type == PT_DYNAMIC) return dynamic(p);
  }
  return fail(kErrOther, "plugin.no_library");
}

Status ElfImage::dynamic(const Elf64_Phdr& segment) {
  std::uint64_t rela = 0, rela_bytes = 0, hash = 0, gnu_hash = 0;
  for (std::uint64_t i = 0; i + sizeof(Elf64_Dyn) <= segment.p_filesz; i += sizeof(Elf64_Dyn)) {
    Elf64_Dyn d;
    const char* from = file(segment.p_offset + i, sizeof d);
    if (!from) return fail(kErrOther, "plugin.cut_short");
    std::memcpy(&d, from, sizeof d);
    switch (d.d_tag) {
      case DT_SYMTAB:
        symbols_ = d.d_un.d_ptr;
        break;
      case DT_STRTAB:
        strings_ = d.d_un.d_ptr;
        break;
      case DT_RELA:
        rela = d.d_un.d_ptr;
        break;
      case DT_RELASZ:
        rela_bytes = d.d_un.d_val;
        break;
      case DT_HASH:
        hash = d.d_un.d_ptr;
        break;
      case DT_GNU_HASH:
        gnu_hash = d.d_un.d_ptr;
        break;
      default:
        break;
    }
    if (d.d_tag == DT_NULL) break;
  }
  count_symbols(hash, gnu_hash);
  for (std::uint64_t i = 0; i + sizeof(Elf64_Rela) <= rela_bytes; i += sizeof(Elf64_Rela)) {
    Elf64_Rela r;
    if (!read(rela + i, &r)) return fail(kErrOther, "plugin.cut_short");
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(r.r_info));
    const auto addend = static_cast<std::uint64_t>(r.r_addend);
    Elf64_Sym s;
    if (type == kRelative) {
      relocations_.push_back({r.r_offset, addend});
    } else if (type == kAbsolute && read(symbols_ + ELF64_R_SYM(r.r_info) * sizeof s, &s) && s.st_shndx != SHN_UNDEF) {
      relocations_.push_back({r.r_offset, s.st_value + addend});
    }
  }
  const auto by_address = [](const Relocation& a, const Relocation& b) { return a.at < b.at; };
  if (!std::is_sorted(relocations_.begin(), relocations_.end(), by_address))
    std::sort(relocations_.begin(), relocations_.end(), by_address);
  return {};
}

void ElfImage::count_symbols(std::uint64_t hash, std::uint64_t gnu_hash) {
  if (hash) {
    std::uint32_t chains = 0;
    if (read(hash + 4, &chains)) symbol_count_ = chains;
    return;
  }
  std::uint32_t head[4];  // buckets, first hashed symbol, words of the filter, its shift
  if (!gnu_hash || !read(gnu_hash, &head)) return;
  const std::uint64_t buckets = gnu_hash + 16 + std::uint64_t{head[2]} * 8;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < head[0]; ++i) {
    std::uint32_t first = 0;
    if (!read(buckets + std::uint64_t{i} * 4, &first)) return;
    last = std::max(last, first);
  }
  if (last < head[1]) return;
  const std::uint64_t chains = buckets + std::uint64_t{head[0]} * 4;
  for (std::uint32_t word = 0; read(chains + std::uint64_t{last - head[1]} * 4, &word); ++last) {
    if (word & 1) {  // ends the last bucket's chain
      symbol_count_ = std::uint64_t{last} + 1;
      return;
    }
  }
}

}  // namespace ashlar::plugin
