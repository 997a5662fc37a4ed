#include "framework/plugin/statement.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "framework/base/elf_machine.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/parse.h"
#include "framework/param/trust.h"
#include "framework/plugin/coll_interface.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/report.h"
#include "framework/plugin/tool.h"
#include "framework/plugin/topology.h"
#include "framework/plugin/transport.h"

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

// The file as the loader would lay it out, without loading: addresses are translated to offsets through the segments.
class Image {
 public:
  ~Image() {
    if (base_) munmap(const_cast<char*>(base_), size_);
  }
  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  Status open(const char* path) {
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

  // Where `bytes` bytes at `address` lie in the file, or nullptr.
  const char* at(std::uint64_t address, std::uint64_t bytes) const {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr <= p.p_filesz &&
          bytes <= p.p_filesz - (address - p.p_vaddr))
        return file(p.p_offset + (address - p.p_vaddr), bytes);
    }
    return nullptr;
  }
  template <class T>
  bool read(std::uint64_t address, T* out) const {
    const char* from = at(address, sizeof(T));
    if (from) std::memcpy(out, from, sizeof(T));
    return from != nullptr;
  }
  // The NUL-terminated text at `address`; nullptr when there is none.
  const char* text(std::uint64_t address) const {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz) continue;
      const std::uint64_t room = p.p_filesz - (address - p.p_vaddr);
      const char* from = file(p.p_offset + (address - p.p_vaddr), room);
      return from && std::memchr(from, 0, room) ? from : nullptr;
    }
    return nullptr;
  }
  // The pointer that the loader would store at `address` (relative to the library's start); 0 for null.
  std::uint64_t pointer(std::uint64_t address) const {
    const auto found = std::lower_bound(relocations_.begin(), relocations_.end(), address,
                                        [](const Relocation& r, std::uint64_t a) { return r.at < a; });
    if (found != relocations_.end() && found->at == address) return found->value;
    std::uint64_t stored = 0;  // null, or a packed relocation (RELR), which keeps its addend in place
    read(address, &stored);
    return stored;
  }
  // The address of the defined symbol `name`; 0 when this very file does not define it.
  std::uint64_t symbol(const char* name) const {
    for (std::uint64_t i = 1; i < symbol_count_; ++i) {
      Elf64_Sym s;
      if (!read(symbols_ + i * sizeof s, &s)) return 0;
      const char* its_name = text(strings_ + s.st_name);
      if (s.st_shndx != SHN_UNDEF && its_name && std::strcmp(its_name, name) == 0) return s.st_value;
    }
    return 0;
  }

 private:
  struct Relocation {
    std::uint64_t at, value;
  };

  const char* file(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset ? base_ + offset : nullptr;
  }

  Status headers() {
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

  Status dynamic(const Elf64_Phdr& segment) {
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
      } else if (type == kAbsolute && read(symbols_ + ELF64_R_SYM(r.r_info) * sizeof s, &s) &&
                 s.st_shndx != SHN_UNDEF) {
        relocations_.push_back({r.r_offset, s.st_value + addend});
      }
    }
    const auto by_address = [](const Relocation& a, const Relocation& b) { return a.at < b.at; };
    if (!std::is_sorted(relocations_.begin(), relocations_.end(), by_address))
      std::sort(relocations_.begin(), relocations_.end(), by_address);
    return {};
  }

  // The symbol table does not say its length; the hash tables do.
  void count_symbols(std::uint64_t hash, std::uint64_t gnu_hash) {
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

  const char* base_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Relocation> relocations_;  // sorted by address
  std::uint64_t symbols_ = 0, strings_ = 0, symbol_count_ = 0;
};

// Reads the constant object member by member, as the loader would have relocated it.
class Reader {
 public:
  Reader(const Image& image, param::TextPool* pool) : image_(image), pool_(pool) {}

  // The text a pointer at `address` points to; "" for null.
  const char* text(std::uint64_t address) {
    const std::uint64_t to = image_.pointer(address);
    const char* from = to ? image_.text(to) : "";
    if (!from) bad_ = true;
    return from && *from ? pool_->keep(from) : "";
  }

  void params(std::uint64_t address, std::uint32_t count, std::vector<ashlar_param>* out) {
    if (count > 4096) bad_ = true;
    for (std::uint32_t i = 0; i < count && !bad_; ++i, address += sizeof(ashlar_param)) {
      ashlar_param raw;
      if (!image_.read(address, &raw)) {
        bad_ = true;
        return;
      }
      raw.name = text(address + offsetof(ashlar_param, name));
      raw.fallback = text(address + offsetof(ashlar_param, fallback));
      raw.help = text(address + offsetof(ashlar_param, help));
      raw.choices = choices(image_.pointer(address + offsetof(ashlar_param, choices)));
      out->push_back(raw);
    }
  }
  bool bad() const { return bad_; }

 private:
  const char* const* choices(std::uint64_t address) {
    if (!address) return nullptr;
    std::vector<const char*> words;
    for (; image_.pointer(address) && words.size() < 1000; address += 8) words.push_back(text(address));
    words.push_back(nullptr);
    // The pool gives characters; one pointer's size more lets the array start where pointers may.
    char* room = pool_->take((words.size() + 1) * sizeof(char*));
    room += (sizeof(char*) - reinterpret_cast<std::uintptr_t>(room) % sizeof(char*)) % sizeof(char*);
    std::memcpy(room, words.data(), words.size() * sizeof(char*));
    return reinterpret_cast<const char* const*>(room);
  }

  const Image& image_;
  param::TextPool* pool_;
  bool bad_ = false;
};

// A framework without a macro has no interface header yet, and no component.
constexpr Framework kFrameworks[] = {{.name = "launch", .interface_version = ASHLAR_LAUNCH_INTERFACE},
                                     {.name = "transport", .interface_version = ASHLAR_TRANSPORT_INTERFACE},
                                     {.name = "coll", .interface_version = ASHLAR_COLL_INTERFACE},
                                     {.name = "rma", .interface_version = 1},
                                     {.name = "io", .interface_version = 1},
                                     {.name = "topology", .interface_version = ASHLAR_TOPOLOGY_INTERFACE},
                                     {.name = "report", .interface_version = ASHLAR_REPORT_INTERFACE},
                                     {.name = "tool", .interface_version = ASHLAR_TOOL_INTERFACE}};

}  // namespace

Status read_statement(const char* path, param::TextPool* pool, Statement* out) {
  Image image;
  ASHLAR_TRY(image.open(path));
  const std::uint64_t at = image.symbol(ASHLAR_COMPONENT_SYMBOL);
  if (!at) return fail(kErrOther, "plugin.no_statement", {{"symbol", ASHLAR_COMPONENT_SYMBOL}});
  ashlar_component raw;
  std::memset(static_cast<void*>(&raw), 0, sizeof raw);
  std::uint32_t size = 0;
  if (!image.read(at, &size) || size == 0)
    return fail(kErrOther, "plugin.empty_statement", {{"symbol", ASHLAR_COMPONENT_SYMBOL}});
  const char* from = image.at(at, std::min<std::size_t>(size, sizeof raw));
  if (!from) return fail(kErrOther, "plugin.statement_past_end", {{"symbol", ASHLAR_COMPONENT_SYMBOL}});
  std::memcpy(static_cast<void*>(&raw), from, std::min<std::size_t>(size, sizeof raw));
  out->size = size;
  out->abi_major = raw.abi_major;
  out->abi_minor = raw.abi_minor;
  // Only what every major and minor has in this place is read before the sizes are known to be right.
  if (raw.abi_major != ASHLAR_COMPONENT_MAJOR || size < sizeof raw) return {};
  Reader reader(image, pool);
  out->framework = reader.text(at + offsetof(ashlar_component, framework));
  out->name = reader.text(at + offsetof(ashlar_component, name));
  out->version = reader.text(at + offsetof(ashlar_component, version));
  out->description = reader.text(at + offsetof(ashlar_component, description));
  out->interface_version = raw.interface_version;
  out->config_size = raw.config_size;
  out->build_id = raw.build_id;
  const std::uint64_t rows = image.pointer(at + offsetof(ashlar_component, params));
  if (raw.param_count && !rows) return fail(kErrOther, "plugin.no_parameter_table");
  reader.params(rows, raw.param_count, &out->params);
  if (reader.bad()) return fail(kErrOther, "plugin.unreadable_statement");
  return {};
}

const Framework* frameworks(std::size_t* count) {
  *count = std::size(kFrameworks);
  return kFrameworks;
}

const Framework* find_framework(const char* name) {
  for (const Framework& f : kFrameworks) {
    if (std::strcmp(f.name, name) == 0) return &f;
  }
  return nullptr;
}

namespace {

// What Store::fill writes for a value of this type.
std::size_t bytes_of(ashlar_param_type type) {
  if (type == ASHLAR_PARAM_BOOL) return sizeof(bool);
  return type == ASHLAR_PARAM_ENUM ? sizeof(std::int32_t) : sizeof(std::uint64_t);
}

}  // namespace

Accepts this_kernel() { return {ASHLAR_BUILD_ID}; }

std::uint32_t type_number(const ashlar_param& p) {
  std::uint32_t number = 0;
  static_assert(sizeof number == sizeof p.type);
  std::memcpy(&number, &p.type, sizeof number);
  return number;
}

Status acceptable(const Statement& s, const Accepts& kernel) {
  if (s.abi_major != ASHLAR_COMPONENT_MAJOR)
    return fail(kErrOther, "plugin.other_contract",
                {{"major", s.abi_major},
                 {"minor", s.abi_minor},
                 {"kernel_major", ASHLAR_COMPONENT_MAJOR},
                 {"kernel_minor", ASHLAR_COMPONENT_MINOR}});
  if (s.size < sizeof(ashlar_component))
    return fail(kErrOther, "plugin.structure_size",
                {{"size", s.size},
                 {"kernel_major", ASHLAR_COMPONENT_MAJOR},
                 {"kernel_minor", ASHLAR_COMPONENT_MINOR},
                 {"kernel_size", sizeof(ashlar_component)}});
  if (!*s.framework || !*s.name) return fail(kErrOther, "plugin.no_name");
  const Framework* framework = find_framework(s.framework);
  if (!framework) return fail(kErrOther, "plugin.no_framework", {{"framework", s.framework}});
  if (s.interface_version != framework->interface_version)
    return fail(kErrOther, "plugin.other_interface",
                {{"framework", s.framework},
                 {"interface", s.interface_version},
                 {"kernel_interface", framework->interface_version}});
  if (s.build_id != 0 && s.build_id != kernel.build_id)
    return fail(kErrOther, "plugin.other_build",
                {{"build", reinterpret_cast<const void*>(s.build_id)},
                 {"kernel_build", reinterpret_cast<const void*>(kernel.build_id)}});
  for (const ashlar_param& p : s.params) {
    if (const std::uint32_t type = type_number(p); !*p.name || type < ASHLAR_PARAM_BOOL || type > ASHLAR_PARAM_DURATION)
      return fail(kErrOther, "plugin.parameter_type", {{"parameter", p.name}, {"value", type}});
    if (!(p.flags & ASHLAR_PARAM_SYNONYM) && std::uint64_t{p.offset} + bytes_of(p.type) > s.config_size)
      return fail(kErrOther, "plugin.parameter_outside", {{"parameter", p.name}});
    if (p.flags & ASHLAR_PARAM_SYNONYM) continue;
    if (const Status range = param::check_range(p); !range.ok())
      return fail(kErrOther, "plugin.parameter_range", {{"parameter", p.name}, {"reason", range.text()}});
    if (p.type == ASHLAR_PARAM_ENUM && !(p.flags & ASHLAR_PARAM_SYNONYM) && !p.choices)
      return fail(kErrOther, "plugin.parameter_choices", {{"parameter", p.name}});
  }
  return {};
}

}  // namespace ashlar::plugin
