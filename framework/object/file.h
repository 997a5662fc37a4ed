#pragma once
#include <mpi.h>

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
/// calls without an open file go. MPI_ERRORS_RETURN until the user sets another. No handle resolves to it.
File& no_file();

}  // namespace ashlar
