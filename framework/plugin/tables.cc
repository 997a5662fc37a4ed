#include "framework/plugin/tables.h"

#include <map>
#include <memory>
#include <mutex>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"

namespace ashlar::plugin {

Status check_table(const void* ops, std::size_t bytes, std::span<const Needed> needed, const char* component) {
  if (!ops) return fail(kErrOther, "component.no_table", {{"component", component}});
  for (const Needed& n : needed) {
    const void* function = nullptr;
    if (n.offset + sizeof function <= bytes)
      std::memcpy(&function, static_cast<const std::byte*>(ops) + n.offset, sizeof function);
    if (!function)
      return fail(kErrOther, "component.no_table_function",
                  {{"component", component}, {"function", n.name}, {"size", bytes}});
  }
  return {};
}

const void* lengthened(const void* ops, std::size_t bytes, std::size_t wanted) {
  static std::mutex mutex;
  static std::map<const void*, std::unique_ptr<std::byte[]>> copies;
  const std::lock_guard guard(mutex);
  std::unique_ptr<std::byte[]>& copy = copies[ops];
  if (!copy) {
    copy = std::make_unique<std::byte[]>(wanted);
    std::memcpy(copy.get(), ops, bytes < wanted ? bytes : wanted);
  }
  return copy.get();
}

}  // namespace ashlar::plugin
