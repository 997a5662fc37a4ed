/* How the standard says that names are shifted (MPI 1.1, chapter 8.4): with weak symbols, where a program's own
 * MPI_Example takes the place of the library's; and without, where one source makes two libraries by a macro. Compiled
 * in parts: WEAK_LIBRARY                     PMPI_Example, and MPI_Example as its weak name MACRO_LIBRARY [+
 * PROFILELIB]     one function under its own or its shifted name PROFILER                         MPI_Example around
 * PMPI_Example otherwise                        the program; it exits with 0 when the profiler saw its call, or,
 * without PROFILED, when it was the library's function alone that did */
#if defined(WEAK_LIBRARY)
int PMPI_Example(void);
int PMPI_Example(void) { return 1; }
#pragma weak MPI_Example = PMPI_Example
#elif defined(MACRO_LIBRARY)
#ifdef PROFILELIB
#define FUNCTION(name) P##name
#else
#define FUNCTION(name) name
#endif
int FUNCTION(MPI_Example)(void);
int FUNCTION(MPI_Example)(void) { return 1; }
#elif defined(PROFILER)
int PMPI_Example(void);
int MPI_Example(void);
int MPI_Example(void) { return 10 + PMPI_Example(); }
#else
int MPI_Example(void);
int main(void) {
#ifdef PROFILED
  return MPI_Example() != 11;
#else
  return MPI_Example() != 1;
#endif
}
#endif
