#include "mpiexec/start_errors.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "framework/base/elf_machine.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

std::string limit_words(int which) {
  rlimit limit = {};
  if (getrlimit(which, &limit) != 0) return "unknown";
  if (limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return std::to_string(limit.rlim_cur);
}

std::string first_bytes(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string bytes(1u << 16, 0);
  const ssize_t n = read(fd, bytes.data(), bytes.size());
  close(fd);
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

/// The first word behind #!, or the loader that an ELF program asks for; "" when there is neither.
std::string interpreter_of(const std::string& bytes) {
  if (bytes.starts_with("#!")) {
    const std::size_t begin = std::min(bytes.find_first_not_of(" \t", 2), bytes.size());
    return bytes.substr(begin, std::min(bytes.find_first_of(" \t\n", begin), bytes.size()) - begin);
  }
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || bytes.compare(0, SELFMAG, ELFMAG) != 0 || bytes[EI_CLASS] != ELFCLASS64)
    return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (header.e_phoff > bytes.size() || bytes.size() - header.e_phoff < (i + 1) * sizeof part) break;
    std::memcpy(&part, bytes.data() + header.e_phoff + i * sizeof part, sizeof part);
    if (part.p_type != PT_INTERP || part.p_offset >= bytes.size()) continue;
    return bytes.substr(part.p_offset, std::min<std::size_t>(part.p_filesz, 4096)).c_str();
  }
  return {};
}

/// The machine that an ELF file was built for; "" when it is none.
std::string machine_of(const std::string& bytes) {
  if (bytes.size() < 20 || bytes.compare(0, SELFMAG, ELFMAG) != 0) return {};
  const auto byte = [&bytes](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[at])); };
  const bool little = bytes[EI_DATA] == ELFDATA2LSB;
  char name[32];
  return elf_machine_name(little ? byte(18) | byte(19) << 8 : byte(19) | byte(18) << 8, name, sizeof name);
}

}  // namespace

std::string error_words(int error) {
  const std::string words = std::strerror(error);
  switch (error) {
    case EMFILE:
      return text("%s (the limit on open files, ulimit -n, is %s)", words.c_str(), limit_words(RLIMIT_NOFILE).c_str());
    case ENFILE:
      return words + " (the system's limit, /proc/sys/fs/file-max)";
    case EAGAIN:
      return text("%s (the limit on processes, ulimit -u, is %s; a container or a batch job may have a lower one)",
                  words.c_str(), limit_words(RLIMIT_NPROC).c_str());
    case EFBIG:
      return text("%s (the limit on the size of files, ulimit -f, holds for shared memory too; it is %s bytes)",
                  words.c_str(), limit_words(RLIMIT_FSIZE).c_str());
    case E2BIG:
      return words + " (arguments and environment together; ulimit -s bounds them)";
    default:
      return words;
  }
}

Status cannot(std::string_view what, int error) {
  return fail(kErrOther, "start.system", {{"what", what}, {"lower", error_words(error)}});
}

std::string exec_error_words(const std::string& file, int error) {
  const std::string bytes = first_bytes(file);
  const std::string interpreter = interpreter_of(bytes), machine = machine_of(bytes);
  if ((error == ENOENT || error == EACCES || error == ENOTDIR) && !interpreter.empty() &&
      access(interpreter.c_str(), X_OK) != 0) {
    const bool script = machine.empty();
    return text("the %s that it asks for%s, %s, cannot be run: %s%s", script ? "interpreter" : "loader",
                script ? " in its first line" : "", brief(interpreter).c_str(), std::strerror(errno),
                interpreter.ends_with('\r') ? " (the line ends with a carriage return, as files from Windows do)" : "");
  }
  if (error == ENOEXEC && !machine.empty())
    return text("%s (it was built for %s, or is damaged)", std::strerror(error), machine.c_str());
  return error_words(error);
}

}  // namespace ashlar::mpiexec
