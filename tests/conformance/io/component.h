#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "framework/plugin/io.h"

namespace ashlar::plugin {
class Component;
}
namespace ashlar::test {

/// The name of the component under test when it is one of io.
std::vector<std::string> io_components();

/// A component's driver, with those of the installation behind it, and a folder's file to try it on.
class IoTest : public testing::TestWithParam<std::string> {
 protected:
  static constexpr std::uint32_t kReadWrite = ASHLAR_IO_READ | ASHLAR_IO_WRITE;
  void SetUp() override;
  void TearDown() override;

  ashlar_result open(const std::string& path, std::uint32_t mode, ashlar_io_file** out);
  /// Creates `path_`; closed at the end of the test.
  ashlar_io_file* make(std::uint32_t mode = kReadWrite | ASHLAR_IO_CREATE);
  ashlar_result remove(const std::string& path);
  /// The error class of a result; 0: success.
  static int class_of(ashlar_result result) { return result < 0 ? static_cast<int>(-result) : 0; }

  static ashlar_result write(ashlar_io_file* file, std::uint64_t offset, const std::string& bytes);
  /// As many bytes as are there.
  static std::string read(ashlar_io_file* file, std::uint64_t offset, std::uint64_t bytes);
  static std::uint64_t size_of(ashlar_io_file* file);
  /// What is needed before others see what was written, and before it is read.
  static void settle(ashlar_io_file* file);

  ashlar_io_driver* driver_ = nullptr;
  std::vector<std::pair<plugin::Component*, ashlar_io_driver*>> drivers_;  // those behind it first
  std::string path_;
  std::vector<ashlar_io_file*> opened_;
};

}  // namespace ashlar::test
