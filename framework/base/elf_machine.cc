#include "framework/base/elf_machine.h"

#include <elf.h>

#include <cstdio>

namespace ashlar {

const char* elf_machine_name(unsigned machine, char* out, std::size_t room) noexcept {
  static constexpr struct {
    unsigned machine;
    const char* name;
  } kNames[] = {{EM_386, "x86 (32 bits)"},  {EM_X86_64, "x86-64"}, {EM_ARM, "ARM (32 bits)"}, {EM_AARCH64, "AArch64"},
                {EM_PPC, "PowerPC"},        {EM_PPC64, "POWER"},   {EM_S390, "S/390"},        {EM_RISCV, "RISC-V"},
                {258, "LoongArch"},         {EM_MIPS, "MIPS"},     {EM_SPARCV9, "SPARC V9"},  {EM_IA_64, "Itanium"},
                {EM_CUDA, "NVIDIA's GPUs"}, {224, "AMD's GPUs"},   {EM_BPF, "BPF"},           {EM_ALPHA, "Alpha"}};
  for (const auto& known : kNames)
    if (known.machine == machine) {
      std::snprintf(out, room, "%s", known.name);
      return out;
    }
  std::snprintf(out, room, "machine %u", machine);
  return out;
}

}  // namespace ashlar
