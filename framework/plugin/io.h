/* The io framework's interface, version 1: how the bytes of files are reached. Views, pointers, data representations
 * and collective algorithms are the kernel's; a component moves pieces of contiguous bytes.
 *
 * A module is a driver (`ashlar_io_driver`): a way to open files. Functions are called by any thread, several at a
 * time, under no lock of the kernel; they may block. Failures are made with fail_with() of the host and carry the error
 * class of the standard (MPI-5.0, 14.7); messages of the kernel's catalogue for them begin with "io.". */
#ifndef ASHLAR_IO_H
#define ASHLAR_IO_H

#include "framework/plugin/component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_IO_INTERFACE 1

enum {                                    /* capability bits of an open file */
       ASHLAR_IO_SEEKABLE = 1u << 0,      /* bytes have offsets; a pipe or a terminal has none */
       ASHLAR_IO_COHERENT = 1u << 1,      /* what one process has written every other one reads at once, on any node */
       ASHLAR_IO_NODE_COHERENT = 1u << 2, /* the same of the processes of one node */
       ASHLAR_IO_NO_DEVICE = 1u << 3 /* bytes are in memory alone: sync() has nothing to do, and need not be called */
};

/* What a file is opened for: bits, with the meaning of MPI_File_open's modes. */
enum {
  ASHLAR_IO_READ = 1u << 0,
  ASHLAR_IO_WRITE = 1u << 1,
  ASHLAR_IO_CREATE = 1u << 2,
  ASHLAR_IO_EXCLUSIVE = 1u << 3 /* with CREATE: fails where the file exists */
};

typedef struct ashlar_io_driver ashlar_io_driver;

/* Context of query(), which is asked once for each kind of file system that a process meets: a component that does not
 * serve one says so by its answer. And of create(). */
typedef struct ashlar_io_context {
  uint32_t size;
  uint64_t file_system; /* statfs(2)'s type of the file system that holds, or is to hold, the file; 0: unknown */
  /* create() only: the driver that would serve if this component did not, for one that adds something to it. It lives
   * as long as the process. NULL: there is none. */
  ashlar_io_driver* next;
} ashlar_io_context;

typedef struct ashlar_io_open {
  uint32_t size;
  const char* path;
  uint32_t mode;        /* ASHLAR_IO_READ, ... */
  uint32_t permissions; /* of a file that is created, before the process's mask; 0666 is usual */
} ashlar_io_open;

/* A contiguous piece of a file and of memory. */
typedef struct ashlar_io_piece {
  uint64_t offset;
  uint64_t length;
  void* memory; /* only read by a write */
} ashlar_io_piece;

typedef struct ashlar_io_stat {
  uint32_t size;
  uint64_t bytes;           /* in the file */
  uint64_t device, inode;   /* equal for equal files of a node */
  uint64_t block;           /* transfers of multiples of it, aligned to it, are cheapest; 0: unknown */
  uint64_t stripe, stripes; /* bytes in a row on one server, and servers; 0: unknown, or no such thing */
  uint64_t allocated;       /* bytes of storage that it takes: fewer than `bytes` where it has holes; 0: unknown */
} ashlar_io_stat;

typedef struct ashlar_io_file ashlar_io_file;

typedef struct ashlar_io_file_ops {
  uint32_t size;
  /* Frees the file whatever the result: a failure says that something written before is lost. */
  ashlar_result (*close)(ashlar_io_file*);
  /* Moves pieces one after the other; `*done`, never NULL, is how many bytes were moved, in the order of the pieces. A
   * read ends at the end of the file: OK with fewer bytes. A write is whole or an error. Pieces that follow each other
   * in the file are best moved together. */
  ashlar_result (*read)(ashlar_io_file*, const ashlar_io_piece*, uint32_t count, uint64_t* done);
  ashlar_result (*write)(ashlar_io_file*, const ashlar_io_piece*, uint32_t count, uint64_t* done);
  ashlar_result (*stat)(ashlar_io_file*, ashlar_io_stat*);
  ashlar_result (*truncate)(ashlar_io_file*, uint64_t bytes);
  /* Makes sure that writes below `bytes` find room; the file is at least as long then. What was written stays. */
  ashlar_result (*allocate)(ashlar_io_file*, uint64_t bytes);
  /* What was written through any descriptor of this node is on the device. What this process has written the others
   * may read, on any node. */
  ashlar_result (*sync)(ashlar_io_file*);
  /* What the others have written and synced is read from now on; nothing of this process waits for a sync. NULL: it
   * always is. */
  ashlar_result (*refresh)(ashlar_io_file*);
  /* Holds a range against all other open files of any process, of other jobs too, that hold a range; unlock() gives it
   * up. One range at a time is held by a thread, and never one that another thread of the process holds. Held while a
   * part of the file is read, changed and written back, and in atomic mode by processes that share no memory; of a file
   * that is only read it may let other readers in. NULL: there are no such locks. ASHLAR_AGAIN: not for this file. */
  ashlar_result (*lock)(ashlar_io_file*, uint64_t offset, uint64_t length);
  void (*unlock)(ashlar_io_file*, uint64_t offset, uint64_t length);
  /* The system's descriptor, for a component in front of this one: transfers by it do the same as read() and write().
   * NULL, -1: there is none. */
  int (*descriptor)(ashlar_io_file*);
  /* Holds a range, as lock() does, together with others that share it: against those that read a part, change it and
   * write it back. unlock() gives it up. NULL, ASHLAR_AGAIN: as lock(). */
  ashlar_result (*share)(ashlar_io_file*, uint64_t offset, uint64_t length);
  /* Maps a part of the file into memory, from and to multiples of 1 MiB, which may lie behind the end of the file; to
   * be written, too, where the file is open for both. Stores there and write() show the same bytes at once, and change
   * none beside those that they are for. NULL: files are not mapped. ASHLAR_AGAIN: not this one. */
  ashlar_result (*map)(ashlar_io_file*, uint64_t offset, uint64_t length, void** memory);
  void (*unmap)(ashlar_io_file*, void* memory, uint64_t length);
} ashlar_io_file_ops;

/* The head of every open file; the component's own data follows it. */
struct ashlar_io_file {
  const ashlar_io_file_ops* ops;
  uint64_t capabilities;
};

typedef struct ashlar_io_driver_ops {
  uint32_t size;
  ashlar_result (*open)(ashlar_io_driver*, const ashlar_io_open*, ashlar_io_file** out);
  ashlar_result (*remove)(ashlar_io_driver*, const char* path);
} ashlar_io_driver_ops;

struct ashlar_io_driver {
  const ashlar_io_driver_ops* ops;
};

#ifdef __cplusplus
}
#endif
#endif
