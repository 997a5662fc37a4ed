#include "mpiexec/rank_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

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
  EXPECT_EQ(rank_file_name("log", facts, "out"), "log.007");
  EXPECT_EQ(rank_file_name("%h-%a-%r%%%z%", facts, "out"), "node1-1-007%%z%");
  EXPECT_EQ(rank_file_name("l%p.%r", facts, "out"), "l" + std::to_string(getpid()) + ".007");
}

TEST(RankFiles, FoldersAreMadeAndOneNameIsOneFile) {
  char folder[] = "/tmp/rank-files-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string pattern = std::string(folder) + "/a/b/%r";
  int out = -1, err = -1;
  std::string error;
  ASSERT_TRUE(open_rank_files(pattern, {0, 2, 0, "h"}, &out, &err, &error)) << error;
  EXPECT_EQ(out, err);
  ASSERT_EQ(write(out, "x\n", 2), 2);
  ASSERT_EQ(write(err, "y\n", 2), 2);
  close(out);
  EXPECT_EQ(contents(std::string(folder) + "/a/b/0"), "x\ny\n");
  EXPECT_FALSE(open_rank_files(std::string(folder) + "/a/b/0/z%r", {0, 2, 0, "h"}, &out, &err, &error));
  EXPECT_NE(error.find("Not a directory"), std::string::npos);
  EXPECT_EQ(std::system((std::string("rm -r ") + folder).c_str()), 0);
}

}  // namespace
}  // namespace ashlar::mpiexec
