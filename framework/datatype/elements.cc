// What a status says in terms of a datatype: whole items, and basic elements of a broken last item.
#include <algorithm>

#include "framework/datatype/api.h"
#include "framework/datatype/compile.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/measures.h"
#include "framework/object/status_fields.h"

namespace ashlar::datatype {
namespace {

// Walks type maps in packed order until a budget of bytes or of elements is used up. A budget that ends inside a basic
// element sets `broken`.
struct Walk {
  MPI_Count bytes_left, elements_left;
  MPI_Count bytes = 0, elements = 0;
  bool broken = false;

  bool done() const { return broken || bytes_left == 0 || elements_left == 0; }
  void use(MPI_Count items, MPI_Count size, MPI_Count each) {
    bytes += items * size;
    elements += items * each;
    bytes_left -= items * size;
    elements_left -= items * each;
  }

  // Walks up to `items` of `type`, then a part of the next one.
  void row(const Datatype& type, MPI_Count items) {
    const MPI_Count size = type.size(), each = type.signature().elements;
    if (items == 0 || size == 0 || done()) return;
    const MPI_Count whole = std::min({items, bytes_left / size, elements_left / each});
    use(whole, size, each);
    if (whole < items && !done()) inside(type);
  }

  void inside(const Datatype& type) {
    const Contents* c = Builder::contents(type);
    if (type.is_predefined()) return pair(type);
    if (c->combiner == MPI_COMBINER_STRUCT) {
      for (std::size_t i = 0; i < c->types.size() && !done(); ++i) row(*c->types[i], c->numbers[1 + i]);
    } else {
      const Datatype& part = *c->types[0];
      row(part, part.size() == 0 ? 0 : type.size() / part.size());
    }
  }

  // A predefined datatype that does not fit whole: only a pair has a part that may.
  void pair(const Datatype& type) {
    if (type.signature().elements == 2) {
      const MPI_Count value = parts_of(type).value->size();
      if (value <= bytes_left) use(1, value, 1);
    }
    broken = bytes_left > 0;
  }
};

Walk walk_bytes(const Datatype& type, MPI_Count bytes) {
  Walk walk{bytes, INT64_MAX};
  walk.row(type, bytes / type.size() + 1);
  return walk;
}

}  // namespace

bool breaks_element(const Datatype& type, MPI_Count bytes) {
  return type.size() == 0 ? bytes > 0 : walk_bytes(type, bytes).broken;
}

Status get_count(const MPI_Status* status, Datatype& type, MPI_Count* count) {
  const MPI_Count bytes = bytes_of(*status);
  if (type.size() == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % type.size() == 0 ? bytes / type.size() : MPI_UNDEFINED;
  }
  return {};
}

Status get_elements(const MPI_Status* status, Datatype& type, MPI_Count* count) {
  const MPI_Count bytes = bytes_of(*status);
  if (type.size() == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    return {};
  }
  const Walk walk = walk_bytes(type, bytes);
  *count = walk.broken ? MPI_UNDEFINED : walk.elements;
  return {};
}

Status status_set_elements(MPI_Status* status, Datatype& type, MPI_Count count) {
  ASHLAR_TRY(check_count(count, "count"));
  MPI_Count bytes = 0;
  if (type.size() > 0) {
    Walk walk{INT64_MAX, count};
    walk.row(type, count / type.signature().elements + 1);
    bytes = walk.bytes;
  }
  set_bytes(*status, bytes);
  return {};
}

}  // namespace ashlar::datatype
