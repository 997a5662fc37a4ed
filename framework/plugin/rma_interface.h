#pragma once
/* Version 1 of the rma framework's interface is C++ (framework/rma/component.h); the build id of a component pins it.
 * Its number stands here, in C, where the components of this tree state it. */
#define ASHLAR_RMA_CXX_INTERFACE 1
