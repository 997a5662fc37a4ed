#pragma once
#include <mpi.h>

#include "framework/object/attributes.h"
#include "framework/object/errhandler.h"
#include "framework/object/group.h"
#include "framework/object/name.h"
#include "framework/object/object.h"

namespace ashlar {

class Comm;

/// What every window has, however its memory is reached: the room of windows derives from this, fills it, and calls
/// attribute::delete_all before it goes away.
class Window : public Object {
 public:
  Window() : Object(Kind::kWin) {}

  /// Of windows, not inherited from the communicator (MPI-5.0, 9.3).
  Ref<Errhandler> errhandler = Ref<Errhandler>::share(errors_are_fatal());
  AttributeSet attributes;
  SeldomName name;
  Comm* comm = nullptr;  // the window's own, of the processes that made it; nullptr: this process alone
  Ref<Group> group;

  // The predefined attributes: what MPI_Win_get_attr points to.
  void* base = nullptr;
  MPI_Aint size = 0;
  int disp_unit = 1;  // 0: it does not fit
  int create_flavor = MPI_WIN_FLAVOR_CREATE, model = MPI_WIN_UNIFIED;
};

}  // namespace ashlar
