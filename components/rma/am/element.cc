#include "components/rma/am/element.h"

#include "framework/datatype/api.h"
#include "framework/datatype/compile.h"
#include "framework/datatype/type_parts.h"

namespace ashlar::rma::am {
namespace {

std::uint32_t constant_of(const Datatype& type) {
  if (type.predefined != 0) return type.predefined;
  for (const BasicRow& row : basic_rows())  // one of MPI_Type_create_f90_*
    if (row.basic == type.basic() && row.of == type.basic_class() && row.size == type.size())
      return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(row.handle));
  return 0;
}

Datatype& at(std::uint32_t constant) {
  return datatype::predefined(reinterpret_cast<MPI_Datatype>(static_cast<std::uintptr_t>(constant)));
}

}  // namespace

ElementName name_of(const Datatype& element) {
  if (element.basic() == Basic::kPair && element.predefined == 0) {
    const datatype::PairParts parts = datatype::parts_of(element);
    return {.element = constant_of(*parts.value), .index = constant_of(*parts.index)};
  }
  return {.element = constant_of(element), .index = 0};
}

Status find_element(const ElementName& name, Datatype** out) {
  if (name.index != 0) return datatype::get_value_index(at(name.element), at(name.index), out);
  *out = &at(name.element);
  return {};
}

}  // namespace ashlar::rma::am
