/* What the C halves of the probes share: how this compiler writes a name, and what its INTEGER is. The kit finds both
 * out with the first two probes, and gives them with -D from then on. */
#ifndef ASHLAR_PROBE_H
#define ASHLAR_PROBE_H
#include <stddef.h>
#include <stdint.h>

/* The names have an underscore, as those of MPI do: some compilers treat such names in a way of their own. */
#if ASHLAR_F_MANGLING == 1
#define PROBE_NAME(lower, UPPER) lower##_
#elif ASHLAR_F_MANGLING == 2
#define PROBE_NAME(lower, UPPER) lower##__
#elif ASHLAR_F_MANGLING == 3
#define PROBE_NAME(lower, UPPER) lower
#else
#define PROBE_NAME(lower, UPPER) UPPER
#endif

#if ASHLAR_F_INT == 8
typedef int64_t probe_int;
#else
typedef int32_t probe_int;
#endif

#endif
