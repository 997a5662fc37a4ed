#include "framework/plugin/tools.h"

#include <iterator>
#include <string_view>

#include "framework/param/sources.h"
#include "framework/plugin/params.h"

namespace ashlar::plugin {

bool tools_chosen(const param::Store& store) {
  constexpr const ashlar_param& row = kSelection[std::size(kSelection) - 1];
  static_assert(std::string_view(row.name) == "tool");
  return *store.value(row.name, row).text != '\0';
}

std::string wrappers_file(const std::string& prefix) { return param::support_folder(prefix) + "/libashlar_tool.so"; }

}  // namespace ashlar::plugin
