// Entry points of chapter "@CHAPTER@". Generated; do not edit.
// Made by: python3 bindings/gen/generate.py --entries DIR
#include "bindings/c/check.h"
@INCLUDES@

using namespace ashlar;            // NOLINT: the file holds nothing but C functions
using namespace ashlar::bindings;  // NOLINT

extern "C" {

@FUNCTIONS@
}  // extern "C"
