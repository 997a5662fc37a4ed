#pragma once
#include "framework/datatype/compile.h"
#include "framework/datatype/contents.h"

/// Walking a datatype by its contents, in the order of the type map. Set-up path.
namespace ashlar::datatype {

/// Calls visit(part, items) for the parts of one item. A pair's parts are its value and its index; other predefined
/// datatypes have none.
template <class Visit>
void each_part(const Datatype& type, Visit&& visit) {
  if (type.is_predefined()) {
    const PairParts pair = parts_of(type);
    if (pair.value == nullptr) return;
    visit(*pair.value, MPI_Count{1});
    visit(*pair.index, MPI_Count{1});
    return;
  }
  const Contents& c = *Builder::contents(type);
  if (c.combiner == MPI_COMBINER_STRUCT) {
    for (std::size_t i = 0; i < c.types.size(); ++i) visit(static_cast<const Datatype&>(*c.types[i]), c.numbers[1 + i]);
  } else if (const Datatype& part = *c.types[0]; part.size() > 0) {
    visit(part, type.size() / part.size());
  }
}

/// The basic datatype of the first element. `type` has elements.
inline const Datatype& first_basic(const Datatype& type) {
  const Datatype* found = &type;
  bool done = false;
  each_part(type, [&](const Datatype& part, MPI_Count n) {
    if (done || n == 0 || part.size() == 0) return;
    found = &first_basic(part);
    done = true;
  });
  return *found;
}

/// Whether every element of `type` is a `basic`.
inline bool consists_of(const Datatype& type, const Datatype& basic) {
  return basic.signature().repeated(type.signature().elements) == type.signature();
}

/// Calls visit(basic, n) for each run of `n` equal elements of `items` items; neighbours are not joined.
template <class Visit>
void each_run(const Datatype& type, MPI_Count items, Visit& visit) {
  if (items == 0 || type.size() == 0) return;
  if (const Datatype& basic = first_basic(type); consists_of(type, basic)) {
    visit(basic, items * type.signature().elements);
    return;
  }
  for (; items > 0; --items) each_part(type, [&](const Datatype& part, MPI_Count n) { each_run(part, n, visit); });
}

/// The same from element `*skip` of the items on, until visit() returns false; then so does this. `*skip` is counted
/// down to 0, and `*packed` up by the bytes of the elements that are left out.
template <class Visit>
bool each_run_from(const Datatype& type, MPI_Count items, MPI_Count* skip, MPI_Count* packed, Visit& visit) {
  const MPI_Count each = type.signature().elements;
  if (items == 0 || each == 0) return true;
  const MPI_Count whole = *skip / each < items ? *skip / each : items;
  *skip -= whole * each;
  *packed += whole * type.size();
  items -= whole;
  if (items == 0) return true;
  if (const Datatype& basic = first_basic(type); consists_of(type, basic)) {
    const MPI_Count inside = *skip;
    *skip = 0;
    *packed += inside * basic.size();
    return visit(basic, items * each - inside);
  }
  bool goes_on = true;
  for (; items > 0 && goes_on; --items)
    each_part(type, [&](const Datatype& part, MPI_Count n) {
      goes_on = goes_on && each_run_from(part, n, skip, packed, visit);
    });
  return goes_on;
}

}  // namespace ashlar::datatype
