#pragma once
/* The interface of the coll framework is C++ (framework/coll/algorithm.h); the build id of a component pins it. Its
 * version stands here, in C, where components state it and the loader compares it. */
#define ASHLAR_COLL_INTERFACE 1
