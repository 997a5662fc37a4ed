#include "framework/io/hints.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "framework/io/engine.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"

namespace ashlar::io {
namespace {

/// The keys that are kept: those that say something about the program that MPI_File_get_info gives back.
constexpr const char* kKept[] = {"access_style", "file_perm"};
constexpr std::uint32_t kUsualPermissions = 0666;
constexpr std::uint64_t kLeastWindow = 4096, kMostWindow = std::uint64_t{1} << 30;

const std::string* find(const OpenFile& file, const char* key) {
  for (const auto& [name, value] : file.hints)
    if (name == key) return &value;
  return nullptr;
}

void keep(OpenFile& file, const char* key, const std::string& value) {
  for (auto& [name, old] : file.hints) {
    if (name != key) continue;
    old = value;
    return;
  }
  file.hints.emplace_back(key, value);
}

bool read_number(const std::string& text, int base, std::uint64_t* value) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  char* end = nullptr;
  *value = std::strtoull(text.c_str(), &end, base);
  return *end == '\0';
}

}  // namespace

Status read_hints(const Info* info, OpenFile* file) {
  if (file->sieve_bytes == 0) file->sieve_bytes = Engine::current().config.sieve_bytes;
  if (info == nullptr) return {};
  for (const char* key : kKept) {
    const std::string* const value = info->find(key);
    std::uint64_t number = 0;
    if (value != nullptr && (std::string(key) != "file_perm" || read_number(*value, 8, &number)))
      keep(*file, key, *value);
  }
  std::uint64_t bytes = 0;
  if (const std::string* const value = info->find("ind_rd_buffer_size");
      value != nullptr && read_number(*value, 10, &bytes))
    file->sieve_bytes = std::clamp(bytes, kLeastWindow, kMostWindow);
  return {};
}

Status write_hints(const OpenFile& file, Info& info) {
  for (const auto& [key, value] : file.hints) ASHLAR_TRY(info::set(&info, key.c_str(), value.c_str()));
  // A path that is longer than values of info objects may be is left out.
  if (file.path.size() < MPI_MAX_INFO_VAL) ASHLAR_TRY(info::set(&info, "filename", file.path.c_str()));
  ASHLAR_TRY(info::set(&info, "nb_proc", std::to_string(file.comm->size).c_str()));
  ASHLAR_TRY(info::set(&info, "ind_rd_buffer_size", std::to_string(file.sieve_bytes).c_str()));
  return info::set(&info, "ashlar_driver", file.driver);
}

std::uint32_t permissions_of(const OpenFile& file) {
  std::uint64_t permissions = kUsualPermissions;
  if (const std::string* const value = find(file, "file_perm"); value != nullptr) read_number(*value, 8, &permissions);
  return static_cast<std::uint32_t>(permissions & 07777);
}

}  // namespace ashlar::io
