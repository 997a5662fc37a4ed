#pragma once
#include "framework/datatype/basic.h"
#include "framework/datatype/layout.h"
#include "framework/datatype/signature.h"

namespace ashlar {
class Datatype;
}  // namespace ashlar
namespace ashlar::datatype {

struct Contents;

/// Makes the layout of the datatype that `contents` describes. The datatypes in
/// `contents` are compiled before.
Placed compile_contents(const Contents& contents);

/// The signature of a predefined datatype; that of a pair is its value's, then its index's.
Placed layout_of(const BasicRow& row);
Signature signature_of(const BasicRow& row);

/// The datatypes of a pair's value and index; null for datatypes that are no pairs.
struct PairParts {
  const Datatype* value = nullptr;
  const Datatype* index = nullptr;
};
PairParts parts_of(const Datatype& type);

}  // namespace ashlar::datatype
