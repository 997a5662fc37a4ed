#include "components/tool/trace/otf2.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "framework/plugin/component.h"

namespace ashlar::tool_trace {
namespace {

using Write = const char* (*)(const recording::Records*, const char* folder);

/// The folder of the file that this function is in.
std::string own_folder() {
  Dl_info facts;
  if (dladdr(&ashlar_component_v1, &facts) == 0 || !facts.dli_fname) return ".";
  const std::string file = facts.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

}  // namespace

std::string write_otf2(const recording::Records& records, const std::string& folder) {
  struct stat facts;
  if (lstat(folder.c_str(), &facts) == 0)
    return "an archive is a folder of its own, and there is something of this name";
  // Beside libashlar_tool.so; the second name is for a component that is part of libashlar.so.
  void* library = nullptr;
  for (const char* name : {"../libashlar_otf2.so", "ashlar/libashlar_otf2.so"})
    if (!library) library = dlopen((own_folder() + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "OTF2 cannot be written by this installation: libashlar_otf2.so, or the OTF2 library, is not there";
  const auto write = reinterpret_cast<Write>(dlsym(library, "ashlar_otf2_archive_v1"));
  const char* const trouble = write ? write(&records, folder.c_str()) : "libashlar_otf2.so is of another version";
  return trouble ? trouble : "";
}

}  // namespace ashlar::tool_trace
