#include "mpiexec/rank_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "framework/base/failure.h"
#include "mpiexec/safe_open.h"
#include "tests/unit/scratch_folder.h"

namespace ashlar::mpiexec {
namespace {

std::string contents(const std::string& file) {
  std::ifstream in(file);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(RankFiles, Names) {
  const RankFileFacts facts{7, 128, 1, "node1"};
  EXPECT_EQ(rank_file_name("/x/", facts, "out"), "/x/rank.007.out");
  EXPECT_EQ(rank_file_name("/tmp", facts, "err"), "/tmp/rank.007.err");
  EXPECT_EQ(rank_file_name("log.%r.%s", facts, "err"), "log.007.err");
  EXPECT_EQ(rank_file_name("log", facts, "out"), "log/rank.007.out");
  EXPECT_EQ(rank_file_name("log%a", facts, "out"), "log1.007");
  EXPECT_EQ(rank_file_name("%h-%a-%r%%", facts, "out"), "node1-1-007%");
  EXPECT_EQ(rank_file_name("l%p.%r", facts, "out"), "l" + std::to_string(getpid()) + ".007");
}

TEST(RankFiles, UnknownLettersAreNotTakenAsTheyAre) {
  for (const char* good : {"a/b", "a/%r", "%h-%a-%r%%", "%s%p/"}) EXPECT_TRUE(check_output(good).ok()) << good;
  const Status status = check_output("a.%q");
  EXPECT_STREQ(Failure(status).id, "option.output_letter");
  EXPECT_STREQ(status.text(), "--output a.%q: %q is not known");
  for (const char* bad : {"", "%", "%r%", "%%%", "%\n"}) EXPECT_FALSE(check_output(bad).ok()) << bad;
}

std::string reason(const std::string& path) {
  int fd = -1;
  const Status status = open_output_file(path, &fd);
  EXPECT_EQ(fd >= 0, status.ok());
  if (fd >= 0) close(fd);
  const std::string words = status.text(), head = "cannot write to " + path + ": ";
  EXPECT_TRUE(status.ok() || words.starts_with(head)) << words;
  return status.ok() ? "" : words.substr(head.size());
}

TEST(SafeOpen, TruncatesOwnFilesAndFollowsOwnLinksToFolders) {
  const ScratchFolder scratch;
  scratch.write("old", "old text");
  EXPECT_EQ(reason(scratch / "old"), "");
  EXPECT_EQ(contents(scratch / "old"), "");
  ASSERT_EQ(symlink(".", (scratch / "link").c_str()), 0);
  EXPECT_EQ(reason(scratch / "link/a/.././b/c"), "");
  EXPECT_EQ(reason(scratch / "b//c"), "");
}

TEST(SafeOpen, NeverFollowsTheLastPart) {
  const ScratchFolder scratch;
  scratch.write("target", "precious");
  ASSERT_EQ(symlink("target", (scratch / "link").c_str()), 0);
  EXPECT_EQ(reason(scratch / "link"), "it is a symbolic link, which mpiexec does not follow");
  ASSERT_EQ(mkfifo((scratch / "pipe").c_str(), 0666), 0);
  EXPECT_EQ(reason(scratch / "pipe"), "it is there, and no ordinary file");
  EXPECT_EQ(contents(scratch / "target"), "precious");
  EXPECT_EQ(reason(scratch / "target/x"), "target is a file, and no folder");
}

TEST(SafeOpen, OthersPrepareNothingInAFolderForAll) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  constexpr uid_t kOther = 65534;
  const ScratchFolder scratch;
  const std::string shared = scratch / "shared";
  ASSERT_EQ(mkdir(shared.c_str(), 0700), 0);
  ASSERT_EQ(chmod(shared.c_str(), 01777), 0);
  scratch.write("precious", "precious");
  // A file to read our output from, a link to lead it elsewhere, a second name of a file of ours.
  std::ofstream(shared + "/theirs") << "x";
  ASSERT_EQ(chown((shared + "/theirs").c_str(), kOther, kOther), 0);
  ASSERT_EQ(symlink("..", (shared + "/link").c_str()), 0);
  ASSERT_EQ(lchown((shared + "/link").c_str(), kOther, kOther), 0);
  ASSERT_EQ(link((scratch / "precious").c_str(), (shared + "/second").c_str()), 0);
  const std::string owned = "belongs to another user (number 65534), in a folder that everybody can write to";
  EXPECT_EQ(reason(shared + "/theirs"), "it " + owned);
  EXPECT_EQ(reason(shared + "/link/precious"), "the symbolic link link " + owned);
  EXPECT_EQ(reason(shared + "/second"), "it has a second name, in a folder that everybody can write to");
  EXPECT_EQ(contents(scratch / "precious"), "precious");
  EXPECT_EQ(contents(shared + "/theirs"), "x");
  EXPECT_EQ(reason(shared + "/new/rank.0.out"), "");
}

TEST(RankFiles, FoldersAreMadeAndOneNameIsOneFile) {
  const ScratchFolder scratch;
  const std::string pattern = scratch / "a/b/%r";
  int out = -1, err = -1;
  const Status opened = open_rank_files(pattern, {0, 2, 0, "h"}, &out, &err);
  ASSERT_TRUE(opened.ok()) << opened.text();
  EXPECT_EQ(out, err);
  ASSERT_EQ(write(out, "x\n", 2), 2);
  ASSERT_EQ(write(err, "y\n", 2), 2);
  close(out);
  EXPECT_EQ(contents(scratch / "a/b/0"), "x\ny\n");
  const Status below_file = open_rank_files(scratch / "a/b/0/z%r", {0, 2, 0, "h"}, &out, &err);
  EXPECT_EQ(below_file.text(), "cannot write to " + scratch / "a/b/0/z0" +
                                   ": 0 is a file, and no folder. The output of rank 0 goes there.");
}

}  // namespace
}  // namespace ashlar::mpiexec
