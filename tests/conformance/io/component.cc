#include "tests/conformance/io/component.h"

#include <sys/vfs.h>
#include <unistd.h>

#include "tests/conformance/check/subject.h"

namespace ashlar::test {
namespace {

ashlar_io_context context_here() {
  struct statfs found = {};
  ::statfs(".", &found);
  return {.size = sizeof(ashlar_io_context), .file_system = static_cast<std::uint64_t>(found.f_type), .next = nullptr};
}

}  // namespace

std::vector<std::string> io_components() {
  return subject().framework == "io" ? std::vector<std::string>{subject().name} : std::vector<std::string>{};
}

void IoTest::SetUp() {
  static ashlar_io_context context = context_here();
  static auto* const registry = new SubjectRegistry(&context, true);  // a component that made a driver is not unloaded
  if (registry->component() == nullptr) GTEST_SKIP() << kServesNone << registry->why();
  const auto& chosen = registry->chosen();
  for (auto one = chosen.rbegin(); one != chosen.rend(); ++one) {
    context.next = driver_;
    ASSERT_TRUE(one->component->create(&context, &driver_).ok()) << one->component->prefix();
    drivers_.emplace_back(one->component, driver_);
    if (one->component == registry->component()) break;
  }
  path_ = "io-" + std::to_string(getpid());
}

void IoTest::TearDown() {
  for (ashlar_io_file* const file : opened_) EXPECT_EQ(file->ops->close(file), ASHLAR_OK);
  ::unlink(path_.c_str());
  for (auto made = drivers_.rbegin(); made != drivers_.rend(); ++made) made->first->destroy(made->second);
}

ashlar_result IoTest::open(const std::string& path, std::uint32_t mode, ashlar_io_file** out) {
  const ashlar_io_open wanted = {.size = sizeof wanted, .path = path.c_str(), .mode = mode, .permissions = 0644};
  *out = nullptr;
  const ashlar_result result = driver_->ops->open(driver_, &wanted, out);
  if (result == ASHLAR_OK) {
    EXPECT_NE(*out, nullptr);
    opened_.push_back(*out);
  }
  return result;
}

ashlar_io_file* IoTest::make(std::uint32_t mode) {
  ashlar_io_file* file = nullptr;
  EXPECT_EQ(open(path_, mode, &file), ASHLAR_OK);
  return file;
}

ashlar_result IoTest::remove(const std::string& path) { return driver_->ops->remove(driver_, path.c_str()); }

ashlar_result IoTest::write(ashlar_io_file* file, std::uint64_t offset, const std::string& bytes) {
  const ashlar_io_piece piece = {.offset = offset, .length = bytes.size(), .memory = const_cast<char*>(bytes.data())};
  std::uint64_t done = 0;
  const ashlar_result result = file->ops->write(file, &piece, 1, &done);
  if (result == ASHLAR_OK) {
    EXPECT_EQ(done, bytes.size()) << "a write is whole or an error";
  }
  return result;
}

std::string IoTest::read(ashlar_io_file* file, std::uint64_t offset, std::uint64_t bytes) {
  std::string out(bytes, '?');
  const ashlar_io_piece piece = {.offset = offset, .length = bytes, .memory = out.data()};
  std::uint64_t done = 0;
  EXPECT_EQ(file->ops->read(file, &piece, 1, &done), ASHLAR_OK);
  EXPECT_LE(done, bytes);
  out.resize(done);
  return out;
}

std::uint64_t IoTest::size_of(ashlar_io_file* file) {
  ashlar_io_stat found = {};
  found.size = sizeof found;
  EXPECT_EQ(file->ops->stat(file, &found), ASHLAR_OK);
  return found.bytes;
}

void IoTest::settle(ashlar_io_file* file) {
  EXPECT_EQ(file->ops->sync(file), ASHLAR_OK);
  if (ASHLAR_HAS(file->ops, refresh) && file->ops->refresh != nullptr) {
    EXPECT_EQ(file->ops->refresh(file), ASHLAR_OK);
  }
}

}  // namespace ashlar::test
