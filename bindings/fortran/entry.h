#ifndef ASHLAR_FORTRAN_ENTRY_H
#define ASHLAR_FORTRAN_ENTRY_H
/* All that the generated entry points use. */
#include "arrays.h"
#include "characters.h"
#include "flavour.h"
#include "handles.h"
#include "pending.h"
#include "sentinels.h"

#endif
