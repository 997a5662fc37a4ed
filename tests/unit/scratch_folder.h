#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ashlar {

/// A temporary folder of one test's own, so that tests of two builds, or of two users, can run at once; it goes with
/// everything in it when the test is over.
class ScratchFolder {
 public:
  ScratchFolder() : path_(testing::TempDir() + "ashlar-test-XXXXXX") { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  /// The path of `below`, which need not exist: "a", "a/b".
  std::string operator/(std::string_view below) const { return path_ + "/" + std::string(below); }
  /// Makes the file `below`, with the folders that lead to it, and returns its path.
  std::string write(std::string_view below, std::string_view text) const {
    const std::string file = *this / below;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::string path_;
};

}  // namespace ashlar
