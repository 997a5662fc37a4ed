#pragma once
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace ashlar::fuzz {

/// An input as a file, for code that takes a path. The file goes away with the object.
class AsFile {
 public:
  /// `name` is the file's in a folder of its own: some formats are known by their name.
  explicit AsFile(const std::string& name) {
    // In memory where that is possible: a disk takes milliseconds for each input.
    const std::filesystem::path place =
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string folder = (place / "ashlar-fuzz.XXXXXX").string();
    if (!mkdtemp(folder.data())) std::abort();
    folder_ = folder;
    path_ = folder + "/" + name;
  }
  ~AsFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  AsFile(const AsFile&) = delete;
  AsFile& operator=(const AsFile&) = delete;

  void write(const std::uint8_t* data, std::size_t size) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_, path_;
};

}  // namespace ashlar::fuzz
