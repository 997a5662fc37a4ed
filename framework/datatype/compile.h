#pragma once
#include "framework/datatype/basic.h"
#include "framework/datatype/layout.h"
#include "framework/datatype/signature.h"

namespace ashlar {
class Datatype;
}  // namespace ashlar
namespace ashlar::datatype {

struct Contents;

/// The layout of the datatype made by `contents`; the datatypes in it are
/// compiled.
Placed compile_contents(const Contents& contents);

/// Of a predefined datatype. A pair's signature is its value's and its index's.
Placed layout_of(const BasicRow& row);
Signature signature_of(const BasicRow& row);

/// The datatypes of a pair's value and index; null for datatypes that are no pairs.
struct PairParts {
  const Datatype* value = nullptr;
  const Datatype* index = nullptr;
};
PairParts parts_of(const Datatype& type);

}  // namespace ashlar::datatype
