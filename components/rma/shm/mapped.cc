// Memory that is mapped here: loads, stores and atomic instructions.
#include "components/rma/shm/state.h"
#include "framework/rma/apply.h"

namespace ashlar::rma::shm {
namespace {

Status put_mapped(const Access& access) {
  put(access.target.memory, access.origin, access.place);
  return {};
}
Status get_mapped(const Access& access) {
  get(access.target.memory, access.origin, access.place);
  return {};
}
Status update_mapped(const Update& update) { return apply(*update.target.guard, update.target.memory, update); }

}  // namespace

const Way mapped = {.name = "mapped", .put = put_mapped, .get = get_mapped, .update = update_mapped, .flush = nullptr};

}  // namespace ashlar::rma::shm
