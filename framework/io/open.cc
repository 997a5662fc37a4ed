// MPI_File_open, MPI_File_close, MPI_File_delete.
#include <mpi.h>

#include <cstring>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/comm/context.h"
#include "framework/comm/make.h"
#include "framework/io/agree.h"
#include "framework/io/api.h"
#include "framework/io/check.h"
#include "framework/io/engine.h"
#include "framework/io/hints.h"
#include "framework/io/request.h"
#include "framework/plugin/host.h"
#include "framework/plugin/tables.h"
#include "framework/progress/user_call.h"

namespace ashlar::io {
namespace {

constexpr int kAccess = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY;
constexpr int kModes = kAccess | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                       MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;

/// Kinds of file systems that programs written for other libraries name in front of a path; here they are found out.
constexpr const char* kPrefixes[] = {
    "ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:", "pvfs2:", "testfs:", "posix:"};

const char* without_prefix(const char* name) {
  for (const char* prefix : kPrefixes)
    if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) return name + std::strlen(prefix);
  return name;
}

Status bad_mode(int amode, const char* wanted) {
  return fail(MPI_ERR_AMODE, "argument.value", {{"argument", "amode"}, {"value", amode}, {"wanted", wanted}});
}

/// MPI-5.0, 14.2.1.
Status check_mode(int amode) {
  const int access = amode & kAccess;
  if ((amode & ~kModes) != 0) return bad_mode(amode, "a sum of MPI_MODE constants");
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY)
    return bad_mode(amode, "with exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY");
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return bad_mode(amode, "without MPI_MODE_CREATE and MPI_MODE_EXCL, since it has MPI_MODE_RDONLY");
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return bad_mode(amode, "without MPI_MODE_RDWR, since it has MPI_MODE_SEQUENTIAL");
  return {};
}

/// The object with a communicator of its own.
Status begin(Comm& comm, const char* path, int amode, OpenFile** out) {
  Engine& engine = Engine::current();
  std::uint32_t context = 0;
  ASHLAR_TRY(comm::take_id(comm, &context));
  Comm* own = nullptr;
  ASHLAR_TRY(comm::make(comm.local_group, context, errors_return(), &comm, &own));
  OpenFile* const file = engine.files.take();
  if (file == nullptr) {
    release(own);
    return object::none_left("another open file", engine.files.out_level());
  }
  file->owned = Ref<Comm>::adopt(own);
  file->comm = own;
  file->group = comm.local_group;
  file->name = file->path = path;
  file->amode = amode;
  if (engine.checks) file->requests = std::make_shared<std::atomic<std::uint64_t>>(0);
  no_file().set_file_of(*own, file);
  engine.add(*file);
  *out = file;
  return bytes_view(&file->view);
}

std::uint32_t mode_of(int amode) {
  std::uint32_t mode = 0;
  if ((amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR)) != 0) mode |= ASHLAR_IO_READ;
  if ((amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0) mode |= ASHLAR_IO_WRITE;
  if ((amode & MPI_MODE_CREATE) != 0) mode |= ASHLAR_IO_CREATE;
  if ((amode & MPI_MODE_EXCL) != 0) mode |= ASHLAR_IO_EXCLUSIVE;
  return mode;
}

Status open_bytes(OpenFile& file, std::uint32_t mode) {
  Driver driver;
  ASHLAR_TRY(Engine::current().driver_for(file.path.c_str(), &driver));
  const ashlar_io_open wanted = {
      .size = sizeof wanted, .path = file.path.c_str(), .mode = mode, .permissions = permissions_of(file)};
  ashlar_io_file* bytes = nullptr;
  ASHLAR_TRY(plugin::from(driver.module->ops->open(driver.module, &wanted, &bytes), driver.name));
  const Status taken = plugin::take_table(bytes, driver.name);
  if (!taken.ok()) return taken;
  file.bytes = bytes;
  file.driver = driver.name;
  file.meter = driver.meter;
  return {};
}

/// The file is created by one process, so that only one finds out whether it exists.
Status open_everywhere(OpenFile& file) {
  const std::uint32_t mode = mode_of(file.amode);
  if ((mode & ASHLAR_IO_CREATE) == 0) return open_bytes(file, mode & ~std::uint32_t{ASHLAR_IO_EXCLUSIVE});
  Status own;
  if (file.comm->rank == 0) own = open_bytes(file, mode);
  ASHLAR_TRY(agree(file, own, {}, Stay::kLong));
  return file.comm->rank == 0 ? Status() : open_bytes(file, mode & (ASHLAR_IO_READ | ASHLAR_IO_WRITE));
}

/// What it is, and where its pointers begin.
Status look_at(OpenFile& file, std::int64_t* identity) {
  ashlar_io_stat found;
  ASHLAR_TRY(stat_of(file, &found));
  Hash which;  // nodes number their devices alone, and clients that keep copies their files
  if (file.shared != nullptr) which.add(found.device);
  if (file.coherent()) which.add(found.inode);
  *identity = static_cast<std::int64_t>(which.value() >> 1);
  if (!file.sequential() && !file.seekable())
    return fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.no_offsets", {{"path", file.path}});
  if ((file.amode & MPI_MODE_APPEND) != 0 && file.seekable()) file.position = static_cast<MPI_Offset>(found.bytes);
  return file.comm->rank == 0 && file.pointers.there(file) ? file.pointers.store(file, file.generation, file.position)
                                                           : Status();
}

Status open_on(OpenFile& file) {
  file.pointers.make(file);
  Status own = open_everywhere(file);
  std::int64_t identity = 0;
  if (own.ok()) own = look_at(file, &identity);
  const Same same[] = {{.argument = "filename (which file it is)", .value = identity}};
  return agree(file, own, same, Stay::kLong);
}

}  // namespace

Status file_open(Comm& comm, const char* filename, int amode, Info* info, File** fh) {
  if (comm.inter) return fail(MPI_ERR_COMM, "comm.inter", {{"argument", "comm"}, {"value", comm.name}});
  const progress::UserCall call("MPI_File_open", &comm);
  const char* const path = without_prefix(filename);
  OpenFile* file = nullptr;
  Status own = begin(comm, path, amode, &file);
  if (own.ok()) own = check_mode(amode);
  std::string told;
  if (own.ok()) own = read_hints(info, file, &told);
  own = check_same_hints(comm, path, info, own);
  const Status shared = make_block(file, comm);
  if (own.ok()) own = shared;
  const Same same[] = {{.argument = "amode", .value = amode}};
  std::int64_t without = file == nullptr || file->shared == nullptr ? 1 : 0;
  Status done = agree(comm, path, own, same, &without);
  if (done.ok()) {
    if (without != 0) give_up_block(*file);
    done = open_on(*file);
    if (!done.ok()) file->pointers.drop();
  }
  if (!done.ok()) {
    no_file().open_failed(path, done.text());
    if (file != nullptr) unmake(file);
    return done;
  }
  choose_path(*file);
  record_hints(*file, "MPI_File_open", told);
  *fh = file;
  return {};
}

// Everything that was written is visible to other programs when the call returns. All processes have closed it before
// one deletes it.
Status file_close(File** fh) {
  OpenFile& file = of(**fh);
  if (file.split.begun != nullptr)
    return fail(MPI_ERR_IO, "io.split_open", {{"begun", file.split.begun}, {"path", file.path}});
  const progress::UserCall call("MPI_File_close", file.comm);
  ASHLAR_TRY(check_same_call(file, "MPI_File_close"));
  wait_for_pending(file);
  if (file.requests != nullptr) ASHLAR_TRY(agree(file, check_requests(file)));
  Status own;
  if (!file.coherent()) own = sync(file);  // the others may open it again
  file.mappings.drop(file);
  ashlar_io_file* const bytes = std::exchange(file.bytes, nullptr);
  const Status closed = plugin::from(bytes->ops->close(bytes), file.driver);
  if (own.ok()) own = closed;
  Status done = agree(file, own, {}, Stay::kLong);
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    Status removed;
    if (file.comm->rank == 0) removed = file_delete(file.path.c_str(), nullptr);
    removed = agree(file, removed, {}, Stay::kLong);
    if (done.ok()) done = removed;
  }
  file.pointers.drop();
  unmake(&file);
  *fh = nullptr;
  return done;
}

Status file_delete(const char* filename, Info*) {
  const char* const path = without_prefix(filename);
  Driver driver;
  ASHLAR_TRY(Engine::current().driver_for(path, &driver));
  return plugin::from(driver.module->ops->remove(driver.module, path), driver.name);
}

}  // namespace ashlar::io
