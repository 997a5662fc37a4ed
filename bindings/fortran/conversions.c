/* MPI_Comm_c2f and its like as functions: mpi.h defines them itself, and programs that were compiled with the header of
 * another library ask for them here. */
#define ASHLAR_MPI_H_NO_CONVERSIONS
#include "handles.h"
#include "sentinels.h"

#define CLASS(name, Type, Class)                                                     \
  f_int PMPI_##Class##_c2f(Type handle) { return f_##name##_int(handle); }           \
  Type PMPI_##Class##_f2c(f_int handle) { return f_##name(handle); }                 \
  f_int MPI_##Class##_c2f(Type) __attribute__((weak, alias("PMPI_" #Class "_c2f"))); \
  Type MPI_##Class##_f2c(f_int) __attribute__((weak, alias("PMPI_" #Class "_f2c")));
CLASS(comm, MPI_Comm, Comm)
CLASS(group, MPI_Group, Group)
CLASS(datatype, MPI_Datatype, Type)
CLASS(op, MPI_Op, Op)
CLASS(request, MPI_Request, Request)
CLASS(message, MPI_Message, Message)
CLASS(info, MPI_Info, Info)
CLASS(errhandler, MPI_Errhandler, Errhandler)
CLASS(session, MPI_Session, Session)
CLASS(win, MPI_Win, Win)
CLASS(file, MPI_File, File)

/* A status is eight numbers in each form. */
#define STATUS(name, From, To)                                             \
  int PMPI_Status_##name(const void* from, void* to) {                     \
    if (!from || !to) return MPI_ERR_ARG;                                  \
    for (int i = 0; i < 8; ++i) ((To*)to)[i] = (To)((const From*)from)[i]; \
    return MPI_SUCCESS;                                                    \
  }                                                                        \
  int MPI_Status_##name(const void*, void*) __attribute__((weak, alias("PMPI_Status_" #name)));
STATUS(c2f, int, f_int)
STATUS(f2c, f_int, int)
STATUS(c2f08, int, f_int)
STATUS(f082c, f_int, int)
STATUS(f2f08, f_int, f_int)
STATUS(f082f, f_int, f_int)

f_int* MPI_F_STATUS_IGNORE = F_COMMON(status_ignore, STATUS_IGNORE);
f_int* MPI_F_STATUSES_IGNORE = F_COMMON(statuses_ignore, STATUSES_IGNORE);
void* MPI_F08_STATUS_IGNORE = F_STATUS08(status_ignore08);
void* MPI_F08_STATUSES_IGNORE = F_STATUS08(statuses_ignore08);
