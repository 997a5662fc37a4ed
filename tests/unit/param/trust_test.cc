// Which files are obeyed: owners, modes, links, folders, and things that are no files.
#include "framework/param/trust.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "framework/base/error_class.h"
#include "framework/param/sources.h"
#include "tests/unit/scratch_folder.h"

namespace ashlar::param {
namespace {

using testing::HasSubstr;

constexpr uid_t kStranger = 4711, kFriend = 4712;

class TrustTest : public testing::Test {
 protected:
  std::string file(const std::string& name, mode_t mode = 0644, const std::string& text = "text") {
    const std::string path = folder_.write(name, text);
    chmod(path.c_str(), mode);
    return path;
  }
  std::string folder(const std::string& name, mode_t mode) {
    const std::string path = folder_ / name;
    mkdir(path.c_str(), 0700);
    chmod(path.c_str(), mode);
    return path;
  }
  static void give(const std::string& path, uid_t owner, gid_t group = 0) {
    ASSERT_EQ(lchown(path.c_str(), owner, group), 0);
  }
  static std::string why(const std::string& path, const Trust& trust = Trust::found(), int expected = kErrOther) {
    std::string text;
    const Status status = read_trusted(path, trust, &text);
    if (status.ok()) return "";
    EXPECT_EQ(status.mpi_class(), expected) << status.text();
    return status.text();
  }
  bool root_ = geteuid() == 0;
  const ScratchFolder folder_;
};

TEST_F(TrustTest, ReadsOnesOwnFile) {
  std::string text;
  ASSERT_TRUE(read_trusted(file("a"), Trust::found(), &text).ok());
  EXPECT_EQ(text, "text");
  EXPECT_EQ(read_trusted(folder_ / "none", Trust::found(), &text).mpi_class(), kErrNoSuchFile);
  EXPECT_EQ(read_trusted(folder_ / "none", Trust::installed(), &text).mpi_class(), kErrNoSuchFile);
}

// The alarm ends a test that hangs.
TEST_F(TrustTest, WaitsForNothingAndReadsNoDevices) {
  alarm(20);
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string zero = folder_ / "zero";
  ASSERT_EQ(symlink("/dev/zero", zero.c_str()), 0);
  for (const Trust& trust : {Trust::found(), Trust::named(), Trust::installed()}) {
    EXPECT_THAT(why(fifo, trust), HasSubstr("fifo is not used: it is a FIFO, not a regular file"));
    EXPECT_THAT(why(zero, trust), HasSubstr("zero is not used: it is a device, not a regular file"));
    EXPECT_THAT(why(folder("sub", 0755), trust), HasSubstr("it is a folder, not a regular file"));
  }
  alarm(0);
}

TEST_F(TrustTest, ReadsNoMoreThanTheLimit) {
  std::string text;
  const std::string path = file("large", 0644, std::string(1001, 'x'));
  EXPECT_TRUE(read_trusted(path, Trust::found(), &text, 1001).ok());
  const Status status = read_trusted(path, Trust::found(), &text, 1000);
  EXPECT_EQ(status.mpi_class(), kErrArg);
  EXPECT_THAT(status.text(), HasSubstr("is larger than 1000 bytes"));
}

TEST_F(TrustTest, WhatEveryUserMayWriteIsRefused) {
  const std::string path = file("a", 0666);
  EXPECT_THAT(why(path), HasSubstr("every user may write to it (mode 666); chmod o-w " + path));
  EXPECT_THAT(why(path, Trust::named()), HasSubstr("every user may write to it"));
  EXPECT_EQ(why(path, Trust::installed()), "");
}

TEST_F(TrustTest, AGroupMayWriteWhenItIsTheUsersOwn) {
  const std::string path = file("a", 0664);
  EXPECT_EQ(why(path).empty(), getegid() == static_cast<gid_t>(geteuid()));
  if (!root_) GTEST_SKIP() << "only root can give files away";
  give(path, 0, 4000);
  EXPECT_THAT(why(path), HasSubstr("its group, number 4000, may write to it (mode 664); chmod g-w"));
  EXPECT_EQ(why(path, Trust::named()), "") << "a shared place that the user names";
}

TEST_F(TrustTest, AStrangersFileIsRefused) {
  if (!root_) GTEST_SKIP() << "only root can give files away";
  const std::string path = file("a");
  give(path, kStranger);
  EXPECT_THAT(why(path), HasSubstr("it belongs to user 4711, who is neither you nor root"));
  EXPECT_EQ(why(path, Trust::named()), "") << "named on purpose";
  EXPECT_EQ(why(path, Trust::installed()), "");
  EXPECT_EQ(why(path, Trust::in_named_folder(kStranger)), "");
  EXPECT_NE(why(path, Trust::in_named_folder(kFriend)), "");
}

TEST_F(TrustTest, AFolderThatEveryUserMayWriteToMakesAFileUntrusted) {
  const std::string open = folder("open", 0777);
  const std::string path = file("open/a");
  EXPECT_THAT(why(path), HasSubstr("every user may replace it, because its folder is writable for all (mode 777)"));
  EXPECT_THAT(why(path, Trust::named()), HasSubstr("every user may replace it"));
  chmod(open.c_str(), 01777);
  EXPECT_EQ(why(path), "") << "with the sticky bit only its owner may";
  if (!root_) return;
  // In such a folder any user may have made the named file first; the sticky bit of a folder does not bind its owner.
  give(path, kStranger);
  EXPECT_THAT(why(path, Trust::named()), HasSubstr("belongs to user 4711"));
  give(path, 0);
  give(open, kStranger);
  EXPECT_THAT(why(path), HasSubstr("every user may replace it"));
}

TEST_F(TrustTest, LinksAreFollowedWhenTheirOwnerIsTrusted) {
  const std::string target = file("target");
  const std::string link = folder_ / "link";
  ASSERT_EQ(symlink("target", link.c_str()), 0);
  const std::string second = folder_ / "second";
  ASSERT_EQ(symlink(link.c_str(), second.c_str()), 0);
  EXPECT_EQ(why(second), "");
  const std::string loop = folder_ / "loop";
  ASSERT_EQ(symlink("loop", loop.c_str()), 0);
  EXPECT_THAT(why(loop), HasSubstr("it leads through more than 16 links"));
  const std::string broken = folder_ / "broken";
  ASSERT_EQ(symlink("nothing", broken.c_str()), 0);
  EXPECT_THAT(why(broken, Trust::found(), kErrNoSuchFile), HasSubstr("there is no file"));
  if (!root_) return;
  give(link, kStranger);
  EXPECT_THAT(why(second), HasSubstr("it is a link of user 4711"));
  give(link, 0);
  give(target, kStranger);
  EXPECT_THAT(why(second), HasSubstr("target is not used: it belongs to user 4711"));
  EXPECT_EQ(why(second, Trust::installed()), "") << "packages and stow link";
}

TEST_F(TrustTest, FoldersThatParametersName) {
  uid_t owner = 0;
  EXPECT_TRUE(check_folder(folder("mine", 0755), &owner).ok());
  EXPECT_EQ(owner, geteuid());
  EXPECT_TRUE(check_folder(folder("groups", 02775), &owner).ok());
  EXPECT_EQ(check_folder(folder_ / "none", &owner).mpi_class(), kErrNoSuchFile);
  EXPECT_THAT(check_folder(file("a"), &owner).text(), HasSubstr("it is no folder"));
  EXPECT_THAT(check_folder(folder("open", 0777), &owner).text(),
              HasSubstr("every user may put files into it (mode 777)"));
  EXPECT_THAT(check_folder(folder("open/inside", 0755), &owner).text(), HasSubstr("every user may replace it"));
  EXPECT_TRUE(check_folder(folder("sticky", 01777), &owner).ok());
  if (!root_) return;
  const std::string inside = folder("sticky/inside", 0755);
  EXPECT_TRUE(check_folder(inside, &owner).ok());
  give(inside, kStranger);
  EXPECT_FALSE(check_folder(inside, &owner).ok()) << "a stranger was there first";
  give(folder_ / "mine", kFriend);
  EXPECT_TRUE(check_folder(folder_ / "mine", &owner).ok()) << "a friend's, named on purpose";
  EXPECT_EQ(owner, kFriend);
}

TEST_F(TrustTest, AProcessWithMoreRightsReadsTheInstallationAlone) {
  file("ashlar.yaml");
  setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
  setenv("ASHLAR_plugin_path", folder_.path().c_str(), 1);
  const Sources normal = standard_sources("/nowhere", false), careful = standard_sources("/nowhere", true);
  unsetenv("ASHLAR_plugin_path");
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(normal.left_out, "");
  EXPECT_NE(normal.environment, nullptr);
  bool own = false;
  for (const SourceFile& f : normal.files) own = own || f.path == folder_ / "ashlar.yaml";
  EXPECT_TRUE(own);
  EXPECT_EQ(careful.environment, nullptr);
  for (const SourceFile& f : careful.files) EXPECT_LE(f.layer, Layer::host_class) << f.path;
  EXPECT_THAT(careful.left_out, HasSubstr("more rights than the user who started it"));
  EXPECT_FALSE(elevated());
}

}  // namespace
}  // namespace ashlar::param
