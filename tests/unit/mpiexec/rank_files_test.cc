#include "mpiexec/rank_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "framework/base/failure.h"
#include "mpiexec/safe_open.h"

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

/// A folder of the test's own, gone afterwards.
struct Scratch {
  Scratch() { EXPECT_NE(mkdtemp(name), nullptr); }
  ~Scratch() { EXPECT_EQ(std::system((std::string("rm -r ") + name).c_str()), 0); }
  std::string file(const std::string& below) const { return std::string(name) + "/" + below; }
  char name[32] = "/tmp/rank-files-test-XXXXXX";
};

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
  const Scratch scratch;
  std::ofstream(scratch.file("old")) << "old text";
  EXPECT_EQ(reason(scratch.file("old")), "");
  EXPECT_EQ(contents(scratch.file("old")), "");
  ASSERT_EQ(symlink(".", scratch.file("link").c_str()), 0);
  EXPECT_EQ(reason(scratch.file("link/a/.././b/c")), "");
  EXPECT_EQ(reason(scratch.file("b//c")), "");
}

TEST(SafeOpen, NeverFollowsTheLastPart) {
  const Scratch scratch;
  std::ofstream(scratch.file("target")) << "precious";
  ASSERT_EQ(symlink("target", scratch.file("link").c_str()), 0);
  EXPECT_EQ(reason(scratch.file("link")), "it is a symbolic link, which mpiexec does not follow");
  ASSERT_EQ(mkfifo(scratch.file("pipe").c_str(), 0666), 0);
  EXPECT_EQ(reason(scratch.file("pipe")), "it is there, and no ordinary file");
  EXPECT_EQ(contents(scratch.file("target")), "precious");
  EXPECT_EQ(reason(scratch.file("target/x")), "target is a file, and no folder");
}

TEST(SafeOpen, OthersPrepareNothingInAFolderForAll) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  constexpr uid_t kOther = 65534;
  const Scratch scratch;
  const std::string shared = scratch.file("shared");
  ASSERT_EQ(mkdir(shared.c_str(), 0700), 0);
  ASSERT_EQ(chmod(shared.c_str(), 01777), 0);
  std::ofstream(scratch.file("precious")) << "precious";
  // A file to read our output from, a link to lead it elsewhere, a second name of a file of ours.
  std::ofstream(shared + "/theirs") << "x";
  ASSERT_EQ(chown((shared + "/theirs").c_str(), kOther, kOther), 0);
  ASSERT_EQ(symlink("..", (shared + "/link").c_str()), 0);
  ASSERT_EQ(lchown((shared + "/link").c_str(), kOther, kOther), 0);
  ASSERT_EQ(link(scratch.file("precious").c_str(), (shared + "/second").c_str()), 0);
  const std::string owned = "belongs to another user (number 65534), in a folder that everybody can write to";
  EXPECT_EQ(reason(shared + "/theirs"), "it " + owned);
  EXPECT_EQ(reason(shared + "/link/precious"), "the symbolic link link " + owned);
  EXPECT_EQ(reason(shared + "/second"), "it has a second name, in a folder that everybody can write to");
  EXPECT_EQ(contents(scratch.file("precious")), "precious");
  EXPECT_EQ(contents(shared + "/theirs"), "x");
  EXPECT_EQ(reason(shared + "/new/rank.0.out"), "");
}

TEST(RankFiles, FoldersAreMadeAndOneNameIsOneFile) {
  char folder[] = "/tmp/rank-files-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string pattern = std::string(folder) + "/a/b/%r";
  int out = -1, err = -1;
  const Status opened = open_rank_files(pattern, {0, 2, 0, "h"}, &out, &err);
  ASSERT_TRUE(opened.ok()) << opened.text();
  EXPECT_EQ(out, err);
  ASSERT_EQ(write(out, "x\n", 2), 2);
  ASSERT_EQ(write(err, "y\n", 2), 2);
  close(out);
  EXPECT_EQ(contents(std::string(folder) + "/a/b/0"), "x\ny\n");
  const Status below_file = open_rank_files(std::string(folder) + "/a/b/0/z%r", {0, 2, 0, "h"}, &out, &err);
  EXPECT_EQ(below_file.text(), "cannot write to " + std::string(folder) +
                                   "/a/b/0/z0: 0 is a file, and no folder. The output of rank 0 goes there.");
  EXPECT_EQ(std::system((std::string("rm -r ") + folder).c_str()), 0);
}

}  // namespace
}  // namespace ashlar::mpiexec
