#pragma once
#include <cstdint>

#include "framework/datatype/datatype.h"

namespace ashlar::rma::am {

/// A basic datatype as it travels: the constant of a predefined one that has the same values, for it and, of a pair
/// without a constant, for its parts.
struct ElementName {
  std::uint32_t element = 0;
  std::uint32_t index = 0;  // 0: no pair, or one with a constant
};
ElementName name_of(const Datatype& element);
/// The datatype behind a name.
Status find_element(const ElementName& name, Datatype** out);

}  // namespace ashlar::rma::am
