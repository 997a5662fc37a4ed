#pragma once
#include <mpi.h>

#include "framework/object/errhandler.h"
#include "framework/object/object.h"
#include "framework/object/origin.h"

namespace ashlar {

/// One user of the library in this process (MPI-5.0, 11.3), beside others and beside the world model.
class Session : public Object {
 public:
  Session() : Object(Kind::kSession) {}

  Ref<Errhandler> errhandler;
  Ref<Origin> origin;  // of the groups that it gives
  char name[24] = "";  // for sentences: "session 2"
};

void destroy(Session* session);  // framework/runtime

}  // namespace ashlar
