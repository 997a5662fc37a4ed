#include "mpiexec/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

struct Child {
  const SpawnRequest* request;
  SpawnResult* result;  // in the parent's memory, which the child shares until execve
  pid_t parent;
  const cpu_set_t* cpus;
  std::size_t cpu_bytes;
};

int give_up(const Child& c, const char* step) {
  c.result->error = errno;
  c.result->step = step;
  return 127;
}

// A program for another machine, which a shell would take for a script.
bool is_elf(const char* file) {
  const int before = errno;
  char magic[4] = {};
  const int fd = open(file, O_RDONLY | O_CLOEXEC);
  const bool elf = fd >= 0 && read(fd, magic, sizeof magic) == 4 &&
                   std::memcmp(magic,
                               "\x7f"
                               "ELF",
                               4) == 0;
  if (fd >= 0) close(fd);
  errno = before;
  return elf;
}

// Runs on its own stack in the parent's memory: system calls only, nothing that takes a lock or allocates.
int child_main(void* argument) {
  const Child& c = *static_cast<Child*>(argument);
  const SpawnRequest& r = *c.request;
  if (r.own_group && setpgid(0, 0) != 0) return give_up(c, "setpgid");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return give_up(c, "prctl(PR_SET_PDEATHSIG)");
  if (getppid() != c.parent) _exit(127);  // mpiexec died before the line above
  // A binding that fails is a fact to report, not a reason to stop.
  if (c.cpus && sched_setaffinity(0, c.cpu_bytes, c.cpus) != 0) c.result->bind_error = errno;
  if (r.wdir && chdir(r.wdir) != 0) return give_up(c, "chdir");
  const int streams[3] = {r.in, r.out, r.err};
  // Lift them above 2 first, or putting one in place could overwrite another.
  int lifted[3];
  for (int i = 0; i < 3; ++i)
    if ((lifted[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, 3)) < 0) return give_up(c, "fcntl(F_DUPFD)");
  for (int i = 0; i < 3; ++i)
    if (dup2(lifted[i], i) < 0) return give_up(c, "dup2");
  for (int fd : r.keep)
    if (fd >= 0 && fcntl(fd, F_SETFD, 0) != 0) return give_up(c, "fcntl(F_SETFD)");
  struct sigaction standard = {};
  standard.sa_handler = r.inherited->pipe_ignored ? SIG_IGN : SIG_DFL;
  sigaction(SIGPIPE, &standard, nullptr);
  standard.sa_handler = r.inherited->file_size_ignored ? SIG_IGN : SIG_DFL;
  sigaction(SIGXFSZ, &standard, nullptr);
  setrlimit(RLIMIT_NOFILE, &r.inherited->files);
  sigprocmask(SIG_SETMASK, &r.inherited->mask, nullptr);
  execve(r.file, const_cast<char* const*>(r.argv), const_cast<char* const*>(r.envp));
  if (errno == ENOEXEC && !is_elf(r.file)) {
    // A script without a first line, as every shell and execvp run it.
    const char* argv[256] = {"/bin/sh", r.file};
    std::size_t n = 2;
    for (std::size_t i = 1; r.argv[0] && r.argv[i] && n < 255; ++i) argv[n++] = r.argv[i];
    execve("/bin/sh", const_cast<char* const*>(argv), const_cast<char* const*>(r.envp));
  }
  return give_up(c, "execve");
}

bool runnable(const std::string& file, int* reason) {
  struct stat facts;
  if (stat(file.c_str(), &facts) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) *reason = errno;
    return false;
  }
  if (S_ISDIR(facts.st_mode)) {
    *reason = EISDIR;
    return false;
  }
  if (access(file.c_str(), X_OK) != 0) {
    *reason = errno;
    return false;
  }
  return true;
}

}  // namespace

SpawnResult spawn(const SpawnRequest& request) {
  static char stack[64 * 1024] __attribute__((aligned(64)));
  SpawnResult result;
  Child child{&request, &result, getpid(), nullptr, 0};
  cpu_set_t* set = nullptr;
  if (request.cpus && !request.cpus->empty()) {
    unsigned highest = 0;
    for (unsigned cpu : *request.cpus) highest = cpu > highest ? cpu : highest;
    set = CPU_ALLOC(highest + 1);
    child.cpu_bytes = CPU_ALLOC_SIZE(highest + 1);
    CPU_ZERO_S(child.cpu_bytes, set);
    for (unsigned cpu : *request.cpus) CPU_SET_S(cpu, child.cpu_bytes, set);
    child.cpus = set;
  }
  result.pid = clone(child_main, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
  if (result.pid < 0) {
    result.error = errno;
    result.step = "clone";
  } else if (result.error) {
    waitpid(result.pid, nullptr, 0);
    result.pid = -1;
  }
  if (set) CPU_FREE(set);
  return result;
}

Status find_program(const std::string& name, const std::string& path, const std::string& wdir,
                    const std::string& environment_path, std::string* found) {
  int reason = 0;
  auto at = [&](const std::string& folder) {
    const std::string file = folder.empty() ? name : text("%s/%s", folder.c_str(), name.c_str());
    // Relative names are meant from where the rank starts.
    return file[0] == '/' || wdir.empty() ? file : text("%s/%s", wdir.c_str(), file.c_str());
  };
  if (name.find('/') != std::string::npos) {
    if (!runnable(at(""), &reason))
      return fail(kErrArg, "start.cannot_run",
                  {{"lower", std::strerror(reason ? reason : ENOENT)}, {"program", brief(at(""))}, {"suggestion", ""}});
    *found = name;
    return {};
  }
  const std::string all = path.empty() ? environment_path : path + ":" + environment_path;
  for (std::size_t begin = 0; begin <= all.size();) {
    std::size_t end = all.find(':', begin);
    if (end == std::string::npos) end = all.size();
    std::string folder = all.substr(begin, end - begin);
    if (folder.empty()) folder.push_back('.');
    if (runnable(at(folder), &reason)) {
      *found = folder + "/" + name;
      return {};
    }
    begin = end + 1;
  }
  int here = 0;
  const std::string suggestion = runnable(at("."), &here) ? "./" + brief(name) : "";
  if (reason)
    return fail(kErrArg, "start.cannot_run",
                {{"lower", std::strerror(reason)}, {"program", brief(name)}, {"suggestion", suggestion}});
  return fail(kErrArg, "start.no_program",
              {{"program", brief(name)},
               {"suggestion", suggestion},
               {"folders", path.empty() ? "PATH" : "PATH or in " + brief(path)}});
}

}  // namespace ashlar::mpiexec
