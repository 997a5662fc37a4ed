// What can be asked of windows.
#include <mpi.h>

#include <cstring>

#include "framework/base/failure.h"
#include "framework/object/info_api.h"
#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/cards.h"
#include "framework/rma/hints.h"

namespace ashlar::rma {
namespace {

/// Memory of size 0: what is not shared here.
void nothing(MPI_Aint* size, void* baseptr) {
  void* const none = nullptr;
  *size = 0;
  std::memcpy(baseptr, &none, sizeof none);
}

}  // namespace

// Valid for memory that this process can load and store (MPI-5.0, 12.2.3), whatever constructor made the window; a
// process whose memory is out of reach has, as far as this call goes, none. MPI_PROC_NULL is the lowest rank that has
// memory, also where that is out of reach: processes that are told of memory by it are told of the same.
Status win_shared_query(Window& win, int rank, MPI_Aint* size, MPI_Count* disp_unit, void* baseptr) {
  RmaWindow& window = of(win);
  if (window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC)
    return fail(MPI_ERR_RMA_FLAVOR, "rma.dynamic", {{"window", window.label()}});
  if (rank != MPI_PROC_NULL && static_cast<std::uint32_t>(rank) >= static_cast<std::uint32_t>(window.ranks))
    return bad_rank(window, "rank", rank);
  *disp_unit = 1;
  nothing(size, baseptr);
  Rank one = rank;
  if (rank == MPI_PROC_NULL)
    for (one = 0; one < window.ranks && window.areas[one].size == 0;) ++one;
  if (one == window.ranks) return {};
  const Area& area = window.areas[one];
  *disp_unit = static_cast<MPI_Count>(area.disp_unit);
  std::byte* part = nullptr;
  if (!map_part(window, one, &part).ok() || part == nullptr) return {};
  *size = static_cast<MPI_Aint>(area.size);
  std::memcpy(baseptr, &part, sizeof part);
  return {};
}

Status win_get_group(Window& win, Group** group) {
  *group = Ref<Group>(win.group).detach();
  return {};
}

Status win_set_info(Window& win, Info* info) { return change_hints(of(win), info); }

Status win_get_info(Window& win, Info** info) {
  ASHLAR_TRY(info::create(info));
  return write_hints(of(win), **info);
}

}  // namespace ashlar::rma
