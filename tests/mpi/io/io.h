/* What the programs of this chapter share: files with names of their own, and what is expected of them. */
#ifndef ASHLAR_TESTS_MPI_IO_H
#define ASHLAR_TESTS_MPI_IO_H

#include "check.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A name that no other job uses, the same on all ranks. In the working directory, unless TMPDIR says otherwise. */
__attribute__((unused)) static const char* file_name(const char* what) {
  static char name[512];
  if (check_rank == 0) {
    const char* folder = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/ashlar-%s-%ld.bin", folder ? folder : ".", what, (long)getpid());
  }
  MUST(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
  return name;
}

__attribute__((unused)) static MPI_File file_make(const char* name, int amode) {
  MPI_File file;
  MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | amode, MPI_INFO_NULL, &file));
  return file;
}

/* What others have written is read after this, and what is written after it was not there before. */
__attribute__((unused)) static void file_settle(MPI_File file) {
  MUST(MPI_File_sync(file));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  MUST(MPI_File_sync(file));
}

/* Whether the library maps the file for certain; it may map those of other file systems, too. */
__attribute__((unused)) static int file_is_mapped(const char* name) {
  struct statfs found;
  char from = 1, to = 0;
  const struct iovec source = {&from, 1}, target = {&to, 1};
  if (statfs(name, &found) != 0) return 0;
  if (found.f_type != 0x01021994 /* tmpfs */ && found.f_type != 0xef53 /* ext4 */) return 0;
  return syscall(SYS_process_vm_readv, getpid(), &target, 1L, &source, 1L, 0L) == 1;
}

/* The bytes that a call has moved. */
__attribute__((unused)) static long long moved(const MPI_Status* status) {
  MPI_Count count = -1;
  MUST(MPI_Get_count_c(status, MPI_BYTE, &count));
  return (long long)count;
}

/* The class of an error code. */
__attribute__((unused)) static int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

#define CHECK_CLASS(call, should) CHECK_EQ(class_of(call), should)

#endif
