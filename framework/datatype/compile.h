#pragma once
#include "framework/datatype/basic.h"
#include "framework/datatype/layout.h"
#include "framework/datatype/signature.h"

namespace ashlar::datatype {

struct Contents;

/// The layout of the datatype made by `contents`; the datatypes in it are
/// compiled.
Placed compile_contents(const Contents& contents);

/// Of a predefined datatype. A pair's signature is its value's and its index's.
Placed layout_of(const BasicRow& row);
Signature signature_of(const BasicRow& row);

}  // namespace ashlar::datatype
