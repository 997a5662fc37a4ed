#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/status.h"
#include "framework/param/text_pool.h"
#include "framework/plugin/component.h"
#include "framework/plugin/elf_image.h"

namespace ashlar::plugin {

/// What a component says of itself, without its functions: the constant members of its ashlar_component_v1.
struct Statement {
  std::uint32_t size = 0;
  std::uint16_t abi_major = 0, abi_minor = 0;
  const char* framework = "";
  const char* name = "";
  const char* version = "";
  const char* description = "";
  std::uint32_t interface_version = 0;
  std::uint32_t config_size = 0;
  std::uint64_t build_id = 0;
  std::vector<ashlar_param> params;
};

/// An older major version of the contract that a kernel still takes: how its objects are read, and what makes
/// components of the present contract of them.
struct Adapter {
  const char* symbol;  // "ashlar_component_v1", once there is a v2
  std::uint16_t major;
  /// Reads the statement of the object at `address` of the file, which is not loaded. Texts are kept in `pool`.
  Status (*read)(const ElfImage& image, std::uint64_t address, param::TextPool* pool, Statement* out);
  /// Makes a component of the loaded object. Its functions call the old ones; texts and tables live as long as those.
  Status (*adapt)(const void* object, ashlar_component* out);
};

/// What this kernel takes.
struct Accepts {
  std::uint64_t build_id;
  std::span<const Adapter> adapters = {};  // by symbol; besides the present major version

  const Adapter* adapter_of(std::uint16_t major) const;
};
Accepts this_kernel();

/// Reads the statement from the file itself: nothing is loaded and no code of the component runs, so a file of another
/// version or machine is known for what it is before it can do harm, and listing opens nothing.
/// Texts are kept in `pool`. Fails with MPI_ERR_OTHER and a sentence (without the file's name) that says what is wrong.
Status read_statement(const char* path, const Accepts& kernel, param::TextPool* pool, Statement* out);

/// The type of a row as it stands in the file, where it may be any number; reading it as the enumeration is undefined.
std::uint32_t type_number(const ashlar_param& row);

/// Whether a component of this statement may be opened; otherwise a sentence that names what it was built for and what
/// this kernel speaks.
Status acceptable(const Statement& statement, const Accepts& kernel);

/// A framework of this kernel and the versions of its interface that it speaks. What is only appended to a table
/// changes no version: a table says its size.
struct Framework {
  const char* name;
  std::uint32_t oldest, newest;
  std::uint32_t cxx = 0;  // up to this version the interface is C++, which only a build id pins

  bool speaks(std::uint32_t interface_version) const {
    return interface_version >= oldest && interface_version <= newest;
  }
};
/// nullptr when there is no framework of that name.
const Framework* find_framework(const char* name);
const Framework* frameworks(std::size_t* count);

}  // namespace ashlar::plugin
