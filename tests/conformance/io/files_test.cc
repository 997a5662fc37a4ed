// Components of io: files are made, found, measured and removed, and what is wrong has its class.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/conformance/io/component.h"

namespace ashlar::test {
namespace {

class Files : public IoTest {};

TEST_P(Files, AreMadeAndRemoved) {
  ashlar_io_file* file = nullptr;
  EXPECT_EQ(class_of(open(path_, kReadWrite, &file)), MPI_ERR_NO_SUCH_FILE);
  ASSERT_NE(make(), nullptr);
  EXPECT_EQ(open(path_, kReadWrite | ASHLAR_IO_CREATE, &file), ASHLAR_OK) << "a file that is there is opened";
  EXPECT_EQ(class_of(open(path_, kReadWrite | ASHLAR_IO_CREATE | ASHLAR_IO_EXCLUSIVE, &file)), MPI_ERR_FILE_EXISTS);
  EXPECT_EQ(remove(path_), ASHLAR_OK);
  EXPECT_EQ(class_of(remove(path_)), MPI_ERR_NO_SUCH_FILE);
  EXPECT_EQ(open(path_, kReadWrite | ASHLAR_IO_CREATE | ASHLAR_IO_EXCLUSIVE, &file), ASHLAR_OK);
}

TEST_P(Files, WhatIsNoFileIsRefused) {
  ashlar_io_file* file = nullptr;
  EXPECT_EQ(class_of(open(".", ASHLAR_IO_READ, &file)), MPI_ERR_BAD_FILE);
  EXPECT_EQ(class_of(open(std::string(5000, 'x'), ASHLAR_IO_READ, &file)), MPI_ERR_BAD_FILE);
  ASSERT_NE(make(), nullptr);
  EXPECT_EQ(class_of(open(path_ + "/below", ASHLAR_IO_READ, &file)), MPI_ERR_BAD_FILE);
  EXPECT_EQ(file, nullptr);
}

TEST_P(Files, WritingNeedsNoPermissionToRead) {
  ASSERT_NE(make(), nullptr);
  ASSERT_EQ(::chmod(path_.c_str(), 0200), 0);
  ashlar_io_file* file = nullptr;
  EXPECT_EQ(open(path_, ASHLAR_IO_WRITE, &file), ASHLAR_OK);
  if (getuid() != 0) {
    EXPECT_EQ(class_of(open(path_, ASHLAR_IO_READ, &file)), MPI_ERR_ACCESS);
  }
}

TEST_P(Files, AreTheSameOrNot) {
  ashlar_io_file* const first = make();
  ashlar_io_file *same = nullptr, *other = nullptr;
  ASSERT_EQ(open(path_, ASHLAR_IO_READ, &same), ASHLAR_OK);
  ASSERT_EQ(open(path_ + "-other", kReadWrite | ASHLAR_IO_CREATE, &other), ASHLAR_OK);
  ashlar_io_stat of_first = {}, of_same = {}, of_other = {};
  of_first.size = of_same.size = of_other.size = sizeof(ashlar_io_stat);
  ASSERT_EQ(first->ops->stat(first, &of_first), ASHLAR_OK);
  ASSERT_EQ(same->ops->stat(same, &of_same), ASHLAR_OK);
  ASSERT_EQ(other->ops->stat(other, &of_other), ASHLAR_OK);
  EXPECT_EQ(of_first.device, of_same.device);
  EXPECT_EQ(of_first.inode, of_same.inode);
  EXPECT_FALSE(of_first.device == of_other.device && of_first.inode == of_other.inode);
  ::unlink((path_ + "-other").c_str());
}

TEST_P(Files, ChangeTheirSize) {
  ashlar_io_file* const file = make();
  EXPECT_EQ(size_of(file), 0u);
  ASSERT_EQ(write(file, 0, "0123456789"), ASHLAR_OK);
  EXPECT_EQ(size_of(file), 10u);
  ASSERT_EQ(file->ops->truncate(file, 4), ASHLAR_OK);
  EXPECT_EQ(size_of(file), 4u);
  EXPECT_EQ(read(file, 0, 100), "0123");
  ASSERT_EQ(file->ops->truncate(file, 9000), ASHLAR_OK);
  EXPECT_EQ(size_of(file), 9000u);
  EXPECT_EQ(read(file, 0, 6), std::string("0123\0\0", 6)) << "what was cut off does not come back";
  EXPECT_EQ(read(file, 8999, 10), std::string(1, '\0'));
}

TEST_P(Files, AllocatingKeepsWhatIsThere) {
  ashlar_io_file* const file = make();
  ASSERT_EQ(write(file, 5000, "abc"), ASHLAR_OK);
  const ashlar_result allocated = file->ops->allocate(file, 100'000);
  if (class_of(allocated) == MPI_ERR_UNSUPPORTED_OPERATION) GTEST_SKIP() << "the file system allocates nothing";
  ASSERT_EQ(allocated, ASHLAR_OK);
  EXPECT_EQ(size_of(file), 100'000u);
  EXPECT_EQ(file->ops->allocate(file, 10), ASHLAR_OK);
  EXPECT_EQ(file->ops->allocate(file, 0), ASHLAR_OK);
  EXPECT_EQ(size_of(file), 100'000u) << "it never shrinks";
  EXPECT_EQ(read(file, 4999, 5), std::string("\0abc\0", 5));
}

TEST_P(Files, AFullDeviceIsTold) {
  ashlar_io_file* file = nullptr;
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  ASSERT_EQ(open("/dev/full", ASHLAR_IO_WRITE, &file), ASHLAR_OK);
  ashlar_result result = write(file, 0, "lost");
  if (result == ASHLAR_OK) result = file->ops->sync(file);
  EXPECT_EQ(class_of(result), MPI_ERR_NO_SPACE);
  if ((file->capabilities & ASHLAR_IO_NODE_COHERENT) != 0) return;
  opened_.clear();  // what it could not write is still there
  file->ops->close(file);
}

INSTANTIATE_TEST_SUITE_P(Installed, Files, testing::ValuesIn(io_components()));

}  // namespace
}  // namespace ashlar::test
