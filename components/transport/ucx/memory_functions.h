#pragma once
#include <array>
#include <cstddef>

namespace ashlar::ucx {

/// The code of the functions that give memory to the process and take it, as it is when this is made. UCX writes jumps
/// into it when it is loaded, to hear of memory that is freed; nothing but its environment can tell it not to.
class MemoryFunctions {
 public:
  MemoryFunctions();
  /// Puts back what has changed. nullptr, or the function that the system does not let be written.
  const char* restore() const;
  /// The first function whose code differs; nullptr: none.
  const char* changed() const;

 private:
  static constexpr std::size_t kBytes = 32;  // more than any jump has

  struct Function {
    const char* name = nullptr;
    unsigned char* code = nullptr;
    std::array<unsigned char, kBytes> bytes = {};
  };
  std::array<Function, 16> functions_ = {};
};

}  // namespace ashlar::ucx
