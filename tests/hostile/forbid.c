/* forbid ERRNO SYSCALL... -- COMMAND...: runs a command for which the named system calls fail, as under a container
 * runtime's seccomp profile. ERRNO is EPERM or ENOSYS. Exit status 77 when filters cannot be installed here. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  unsigned number;
} kCalls[] = {{"process_vm_readv", SYS_process_vm_readv},
              {"process_vm_writev", SYS_process_vm_writev},
              {"membarrier", SYS_membarrier},
              {"pidfd_open", SYS_pidfd_open},
              {"pidfd_getfd", SYS_pidfd_getfd},
              {"ptrace", SYS_ptrace},
              {"kcmp", SYS_kcmp},
              {"memfd_create", SYS_memfd_create},
              {"pipe2", SYS_pipe2},
              {"sched_setaffinity", SYS_sched_setaffinity},
              {"io_uring_setup", SYS_io_uring_setup}};

enum { kMostCalls = 16 };

int main(int argc, char** argv) {
  struct sock_filter code[2 * kMostCalls + 2];
  unsigned short n = 0;
  if (argc < 4) return 2;
  const unsigned failure = strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM;
  int i = 2;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (; i < argc && strcmp(argv[i], "--") != 0 && i < 2 + kMostCalls; i++) {
    size_t k = 0;
    while (k < sizeof kCalls / sizeof *kCalls && strcmp(kCalls[k].name, argv[i]) != 0) k++;
    if (k == sizeof kCalls / sizeof *kCalls) {
      fprintf(stderr, "forbid: no number known for %s\n", argv[i]);
      return 2;
    }
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kCalls[k].number, 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | failure);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {n, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    printf("seccomp filters cannot be installed here: %s\n", strerror(errno));
    return 77;
  }
  if (i + 1 >= argc) return 2;
  execvp(argv[i + 1], argv + i + 1);
  perror(argv[i + 1]);
  return 2;
}
