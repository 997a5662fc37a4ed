#pragma once
#include <cstddef>

namespace ashlar {

/// The name of an ELF file's machine (e_machine) for people, as "AArch64"; of one that is not known here, "machine
/// 999". Into `out`, which is returned.
const char* elf_machine_name(unsigned machine, char* out, std::size_t room) noexcept;

}  // namespace ashlar
