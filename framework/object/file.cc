#include "framework/object/file.h"

namespace ashlar {

NoFile::NoFile() : File(errors_return()) {
  predefined = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(MPI_FILE_NULL));
}

void NoFile::open_failed(const std::string& path, const char* words) {
  const std::lock_guard guard(mutex_);
  failed_path_ = path;
  failed_words_ = words;
}

void NoFile::last_failure(std::string* path, std::string* words) {
  const std::lock_guard guard(mutex_);
  *path = failed_path_;
  *words = failed_words_;
}

void NoFile::set_file_of(const Comm& own, File* file) {
  const std::lock_guard guard(mutex_);
  if (file != nullptr)
    files_[&own] = file;
  else
    files_.erase(&own);
}

File* NoFile::file_of(const Comm& own) {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(&own);
  return found != files_.end() ? found->second : nullptr;
}

File::File() : File(*no_file().errhandler) {}

NoFile& no_file() {
  static NoFile stands_for_all;
  return stands_for_all;
}

}  // namespace ashlar
