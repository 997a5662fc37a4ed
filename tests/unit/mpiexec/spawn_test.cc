#include "mpiexec/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "framework/base/processors.h"
#include "mpiexec/pmix_server.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

using testing::HasSubstr;

struct Started {
  SpawnResult result;
  int status = -1;
  std::string output;
};

Started start(std::vector<const char*> argv, const char* wdir = nullptr, const std::vector<unsigned>* cpus = nullptr) {
  Started run;
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return run;
  Inherited inherited;
  sigprocmask(SIG_SETMASK, nullptr, &inherited.mask);
  getrlimit(RLIMIT_NOFILE, &inherited.files);
  const char* env[] = {"ONE=1", nullptr};
  SpawnRequest request;
  request.file = argv[0];
  request.argv = argv.data();
  request.envp = env;
  request.wdir = wdir;
  request.in = 0;
  request.out = request.err = ends[1];
  request.cpus = cpus;
  request.inherited = &inherited;
  run.result = spawn(request);
  close(ends[1]);
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    run.output.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  if (run.result.pid > 0) waitpid(run.result.pid, &run.status, 0);
  return run;
}

TEST(Spawn, RunsInItsFolderAndGroupWithItsEnvironment) {
  const Started r = start({"/bin/sh", "-c", "echo $ONE $(pwd) $(ps -o pgid= -p $$) $$; exit 3"}, "/usr");
  ASSERT_GT(r.result.pid, 0) << r.result.step;
  EXPECT_EQ(WEXITSTATUS(r.status), 3);
  const std::string pid = std::to_string(r.result.pid);
  EXPECT_THAT(r.output, HasSubstr("1 /usr"));
  EXPECT_THAT(r.output, HasSubstr(pid + " " + pid));
}

TEST(Spawn, SaysWhichStepFailed) {
  const Started missing = start({"/nonexistent/program"});
  EXPECT_EQ(missing.result.pid, -1);
  EXPECT_STREQ(missing.result.step, "execve");
  EXPECT_EQ(missing.result.error, ENOENT);
  const Started folder = start({"/bin/true"}, "/nonexistent");
  EXPECT_STREQ(folder.result.step, "chdir");
}

TEST(Spawn, BindsWhereItIsTold) {
  const std::vector<unsigned> one = {own_processors().back()};
  const Started r = start({"/usr/bin/nproc"}, nullptr, &one);
  EXPECT_EQ(r.output, "1\n");
  EXPECT_EQ(r.result.bind_error, 0);
}

TEST(Spawn, RunsUnboundWhereItCannotBind) {
  const std::vector<unsigned> none = {100000};
  const Started r = start({"/bin/echo", "there"}, nullptr, &none);
  EXPECT_EQ(r.output, "there\n");
  EXPECT_EQ(r.result.bind_error, EINVAL);
}

/// The file that is found, or the failure in words.
std::string found(const char* name, const char* path, const char* wdir, const char* environment_path) {
  std::string file;
  const Status status = find_program(name, path, wdir, environment_path, &file);
  EXPECT_EQ(status.ok(), !file.empty());
  return status.ok() ? file : in_words(status);
}

TEST(FindProgram, LooksInPathFirstThenInTheEnvironments) {
  EXPECT_EQ(found("sh", "", "", "/nowhere:/bin"), "/bin/sh");
  EXPECT_EQ(found("sh", "/usr/bin", "", "/bin"), "/usr/bin/sh");
  EXPECT_EQ(found("/bin/sh", "", "", ""), "/bin/sh");
  EXPECT_EQ(found("./sh", "", "/bin", ""), "./sh");
}

TEST(FindProgram, SaysWhatIsWrong) {
  EXPECT_EQ(found("no-such-program", "", "", "/bin"), "there is no program no-such-program in PATH");
  EXPECT_EQ(found("no-such-program", "/a:/b", "", "/bin"), "there is no program no-such-program in PATH or in /a:/b");
  EXPECT_EQ(found("/etc", "", "", "/bin"), "cannot run /etc: Is a directory");
  EXPECT_EQ(found("/etc/passwd", "", "", "/bin"), "cannot run /etc/passwd: Permission denied");
  EXPECT_EQ(found("sh", "", "/bin", "/nowhere"), "there is no program sh in PATH\n- Did you mean ./sh?");
  // The reason is there however long the name is.
  EXPECT_THAT(found(("/" + std::string(3000, 'x')).c_str(), "", "", ""),
              testing::AllOf(testing::StartsWith("cannot run /xxx"), HasSubstr("xxx...xxx"),
                             testing::EndsWith(": File name too long")));
}

/// A file with this text that may be run; gone afterwards.
struct Script {
  explicit Script(const std::string& content) {
    const int fd = mkstemp(name);
    EXPECT_EQ(write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    EXPECT_EQ(fchmod(fd, 0755), 0);
    close(fd);
  }
  ~Script() { unlink(name); }
  char name[32] = "/tmp/ashlar-spawn-test-XXXXXX";
};

TEST(ExecErrors, AMissingInterpreterIsNamed) {
  const Script script("#! /no/such/sh -e\necho\n");
  EXPECT_EQ(start({script.name}).result.error, ENOENT);
  EXPECT_EQ(
      exec_error_words(script.name, ENOENT),
      "the interpreter that it asks for in its first line, /no/such/sh, cannot be run: No such file or directory");
  const Script windows("#!/bin/sh\r\necho\r\n");
  EXPECT_THAT(exec_error_words(windows.name, ENOENT), HasSubstr("/bin/sh\\r, cannot be run"));
  EXPECT_THAT(exec_error_words(windows.name, ENOENT), HasSubstr("carriage return"));
}

TEST(ExecErrors, AProgramForAnotherMachineIsNoScript) {
  std::string arm(
      "\x7f"
      "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\xb7\0\1\0\0\0",
      24);
  const Script program(arm + std::string(40, '\0'));
  const Started run = start({program.name});
  EXPECT_EQ(run.result.pid, -1);
  EXPECT_EQ(run.result.error, ENOEXEC);
  EXPECT_THAT(exec_error_words(program.name, ENOEXEC), HasSubstr("built for AArch64"));
}

TEST(ExecErrors, ScriptsWithoutAFirstLineStillRun) {
  const Script script("echo $ONE from a script\n");
  EXPECT_EQ(start({script.name}).output, "1 from a script\n");
}

TEST(ExecErrors, LimitsAreNamed) {
  EXPECT_THAT(error_words(EMFILE), HasSubstr("ulimit -n"));
  EXPECT_THAT(error_words(EAGAIN), HasSubstr("ulimit -u"));
  EXPECT_EQ(error_words(ENOENT), "No such file or directory");
}

TEST(LinksPmix, ReadsTheProgramsOwnList) {
  EXPECT_FALSE(links_pmix("/bin/sh"));
  EXPECT_FALSE(links_pmix("/etc/passwd"));
  EXPECT_FALSE(links_pmix("/nonexistent"));
  EXPECT_TRUE(links_pmix(PMIX_PROGRAM));
}

}  // namespace
}  // namespace ashlar::mpiexec
