#pragma once
#include <mpi.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "framework/object/errhandler.h"
#include "framework/object/group.h"
#include "framework/object/object.h"

namespace ashlar {

class Comm;

/// What every open file has, however its data is reached: the room that opens files derives from this.
class File : public Object {
 public:
  /// Begins with the handler of files that are not open (MPI-5.0, 14.7).
  File();

  Ref<Errhandler> errhandler;
  std::string name;      // as it was opened
  Comm* comm = nullptr;  // the file's own, of the processes that opened it; nullptr: this process alone
  Ref<Group> group;

 protected:
  explicit File(Errhandler& handler) : Object(Kind::kFile), errhandler(Ref<Errhandler>::share(handler)) {}
};

/// What MPI_FILE_NULL means to the error handler calls: the handler that files begin with, and to which the failures of
/// calls without an open file go. MPI_ERRORS_RETURN until the user, or a parameter, sets another. No handle resolves to
/// it. Any thread.
class NoFile final : public File {
 public:
  NoFile();

  /// Whether failures of files that MPI_ERRORS_RETURN gives back are reported as well: few programs look at them.
  std::atomic<bool> reports_returned{false};

  /// MPI_File_open of `path` has failed: what calls on MPI_FILE_NULL say from now on.
  void open_failed(const std::string& path, const char* words);
  /// Of the last one; both empty: none has.
  void last_failure(std::string* path, std::string* words);

  /// Failures of requests on `own`, a file's own communicator, are raised on that file. nullptr: no longer.
  void set_file_of(const Comm& own, File* file);
  /// nullptr: `own` is no file's.
  File* file_of(const Comm& own);

 private:
  std::mutex mutex_;  // guards the rest
  std::string failed_path_, failed_words_;
  std::map<const Comm*, File*> files_;
};

NoFile& no_file();

}  // namespace ashlar
