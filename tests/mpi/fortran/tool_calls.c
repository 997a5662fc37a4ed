/* A C tool that counts: the calls that a program may make, and those that the Fortran library makes for itself. */
#include <mpi.h>

int tool_all, tool_sends, tool_waits, tool_reductions;

#define COUNTED(name, declared, given) \
  int name declared {                  \
    ++tool_all;                        \
    return P##name given;              \
  }
#define COUNTED_AS(counter, name, declared, given) \
  int name declared {                              \
    ++tool_all, ++counter;                         \
    return P##name given;                          \
  }
COUNTED_AS(tool_sends, MPI_Send, (const void* b, int n, MPI_Datatype t, int r, int tag, MPI_Comm c),
           (b, n, t, r, tag, c))
COUNTED_AS(tool_sends, MPI_Isend, (const void* b, int n, MPI_Datatype t, int r, int tag, MPI_Comm c, MPI_Request* q),
           (b, n, t, r, tag, c, q))
COUNTED_AS(tool_sends, MPI_Ssend_c, (const void* b, MPI_Count n, MPI_Datatype t, int r, int tag, MPI_Comm c),
           (b, n, t, r, tag, c))
COUNTED_AS(tool_waits, MPI_Wait, (MPI_Request * q, MPI_Status* s), (q, s))
COUNTED_AS(tool_reductions, MPI_Iallreduce,
           (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q), (s, r, n, t, o, c, q))
COUNTED(MPI_Type_create_hvector_c, (MPI_Count n, MPI_Count l, MPI_Count s, MPI_Datatype t, MPI_Datatype* m),
        (n, l, s, t, m))
COUNTED(MPI_Type_contiguous_c, (MPI_Count n, MPI_Datatype t, MPI_Datatype* m), (n, t, m))
COUNTED(MPI_Type_create_struct_c,
        (MPI_Count n, const MPI_Count l[], const MPI_Count a[], const MPI_Datatype t[], MPI_Datatype* m),
        (n, l, a, t, m))
COUNTED(MPI_Type_commit, (MPI_Datatype * t), (t))
COUNTED(MPI_Type_free, (MPI_Datatype * t), (t))
COUNTED(MPI_Type_size_c, (MPI_Datatype t, MPI_Count* s), (t, s))
COUNTED(MPI_Type_get_extent_c, (MPI_Datatype t, MPI_Count* l, MPI_Count* e), (t, l, e))
COUNTED(MPI_Type_get_true_extent_c, (MPI_Datatype t, MPI_Count* l, MPI_Count* e), (t, l, e))
COUNTED(MPI_Comm_create_keyval, (MPI_Comm_copy_attr_function * c, MPI_Comm_delete_attr_function* d, int* k, void* x),
        (c, d, k, x))
COUNTED(MPI_Comm_set_attr, (MPI_Comm c, int k, void* v), (c, k, v))
COUNTED(MPI_Comm_free_keyval, (int* k), (k))
COUNTED(MPI_Comm_size, (MPI_Comm c, int* n), (c, n))
COUNTED(MPI_Comm_rank, (MPI_Comm c, int* n), (c, n))
COUNTED(MPI_Comm_test_inter, (MPI_Comm c, int* f), (c, f))
COUNTED(MPI_Initialized, (int* f), (f))
COUNTED(MPI_Finalized, (int* f), (f))
COUNTED(MPI_Query_thread, (int* l), (l))
COUNTED(MPI_Comm_call_errhandler, (MPI_Comm c, int e), (c, e))
COUNTED(MPI_Add_error_code, (int e, int* code), (e, code))
COUNTED(MPI_Add_error_string, (int e, const char* s), (e, s))
