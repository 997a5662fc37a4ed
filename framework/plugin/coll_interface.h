#pragma once
/* Version 1 of the coll framework's interface is C++ (framework/coll/algorithm.h); the build id of a component pins it.
 * Its number stands here, in C, where the components of this tree state it. Version 2 is coll.h. */
#define ASHLAR_COLL_CXX_INTERFACE 1
