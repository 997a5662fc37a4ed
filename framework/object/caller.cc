#include "framework/object/caller.h"

#include <dlfcn.h>
#include <unwind.h>

#include <cstdint>
#include <string_view>

namespace ashlar {
namespace {

constexpr int kMostFrames = 64, kMostFramesOfTools = 4;

struct Walk {
  int left = kMostFrames;
  int strangers = 0;  // frames that are neither this library's nor that of Fortran
  bool fortran = false;
};

std::string_view file_of(std::uintptr_t address) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || !info.dli_fname) return {};
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

_Unwind_Reason_Code look_at(_Unwind_Context* frame, void* walk) {
  Walk& w = *static_cast<Walk*>(walk);
  // A return address is behind the call, which may be the last instruction of its function.
  const std::string_view file = file_of(_Unwind_GetIP(frame) - 1);
  w.fortran = file.starts_with("libmpifort_abi.");
  const bool ours = file.starts_with("libmpi_abi.") || file.starts_with("libashlar.") || file.starts_with("ashlar_");
  // Calls of Fortran that are further up belong to another call: this one is made by a function that they called back.
  if (!ours && ++w.strangers > kMostFramesOfTools) return _URC_END_OF_STACK;
  return w.fortran || --w.left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

bool called_from_fortran() noexcept {
  Walk walk;
  _Unwind_Backtrace(look_at, &walk);
  return walk.fortran;
}

}  // namespace ashlar
