/* Parts of a program that are loaded when it runs, each for itself, as extensions of interpreters are: the first brings
 * the Fortran library and blocks of mpif.h, and what another one with a module then passes is recognised as well.
 *   loaded OBJECT:PROCEDURE... */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int call(char* object) {
  char* const name = strrchr(object, ':');
  int wrong = 1;
  *name = 0;
  void* const handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  void (*procedure)(int*) = NULL;
  if (handle) *(void**)&procedure = dlsym(handle, name + 1);
  if (procedure)
    procedure(&wrong);
  else
    printf("%s\n", dlerror());
  if (wrong) printf("wrong: %s\n", object);
  return wrong;
}

int main(int argc, char** argv) {
  int wrong = 0;
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; ++i) wrong += call(argv[i]);
  MPI_Finalize();
  return wrong != 0;
}
