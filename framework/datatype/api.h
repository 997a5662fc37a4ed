#pragma once
#include <mpi.h>

#include "framework/base/status.h"
#include "framework/datatype/packing.h"
#include "framework/object/int_array.h"

/// The datatype calls of MPI-5.0, chapter 5, and those on statuses that need a datatype: arguments in the standard's
/// order, handles resolved, counts as MPI_Count. Small and `_c` forms share each function, unless said otherwise.
namespace ashlar {
class Comm;
class Datatype;
}  // namespace ashlar
namespace ashlar::datatype {

// --- constructors: *newtype is a new, uncommitted datatype owned by the user ----------------------------------------
Status contiguous(MPI_Count count, Datatype& oldtype, Datatype** newtype);
Status vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype, Datatype** newtype);
Status create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype, Datatype** newtype);
Status indexed(MPI_Count count, IntArray blocklengths, IntArray displacements, Datatype& oldtype, Datatype** newtype);
Status create_hindexed(MPI_Count count, IntArray blocklengths, IntArray displacements, Datatype& oldtype,
                       Datatype** newtype);
Status create_indexed_block(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                            Datatype** newtype);
Status create_hindexed_block(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                             Datatype** newtype);
Status create_struct(MPI_Count count, IntArray blocklengths, IntArray displacements, const MPI_Datatype* types,
                     Datatype** newtype);
Status create_subarray(int ndims, IntArray sizes, IntArray subsizes, IntArray starts, int order, Datatype& oldtype,
                       Datatype** newtype);
Status create_darray(int size, int rank, int ndims, IntArray gsizes, const int* distribs, const int* dargs,
                     const int* psizes, int order, Datatype& oldtype, Datatype** newtype);
Status create_resized(Datatype& oldtype, MPI_Count lb, MPI_Count extent, Datatype** newtype);
Status dup(Datatype& oldtype, Datatype** newtype);

/// The large forms whose arguments do not show that they are one; a datatype is decoded as the call that made it.
Status contiguous_c(MPI_Count count, Datatype& oldtype, Datatype** newtype);
Status vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype, Datatype** newtype);
Status create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype,
                        Datatype** newtype);
Status create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                               Datatype** newtype);
Status create_resized_c(Datatype& oldtype, MPI_Count lb, MPI_Count extent, Datatype** newtype);

Status commit(Datatype** type);
Status free(Datatype** type);

// --- predefined datatypes without a name: the same arguments give the same one, which cannot be freed ---------------
Status create_f90_real(int p, int r, Datatype** newtype);
Status create_f90_complex(int p, int r, Datatype** newtype);
Status create_f90_integer(int r, Datatype** newtype);
/// nullptr in *pair when there is no reduction on such pairs.
Status get_value_index(Datatype& value, Datatype& index, Datatype** pair);
/// The named datatype of a Fortran variable of that class and size.
Status match_size(int typeclass, int size, Datatype** type);

// --- attributes -----------------------------------------------------------------------------------------------------
Status create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
                     void* extra_state);
Status free_keyval(int* keyval);
Status set_attr(Datatype& type, int keyval, void* value);
Status get_attr(Datatype& type, int keyval, void* value, int* flag);
Status delete_attr(Datatype& type, int keyval);

// --- questions ------------------------------------------------------------------------------------------------------
Status type_size(Datatype& type, MPI_Count* size);
Status get_extent(Datatype& type, MPI_Count* lb, MPI_Count* extent);
Status get_true_extent(Datatype& type, MPI_Count* true_lb, MPI_Count* true_extent);
Status get_extent(Datatype& type, MPI_Count* extent);
Status get_lb(Datatype& type, MPI_Count* lb);
Status get_ub(Datatype& type, MPI_Count* ub);
Status set_name(Datatype& type, const char* name);
/// The null handle has its constant's name.
Status get_name(Datatype* type, char* name, int* length);
Status get_envelope(Datatype& type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* types, int* combiner);
Status get_envelope(Datatype& type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* large_counts,
                    MPI_Count* types, int* combiner);
Status get_contents(Datatype& type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_types, int* integers,
                    MPI_Aint* addresses, MPI_Datatype* types);
Status get_contents(Datatype& type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
                    MPI_Count max_types, int* integers, MPI_Aint* addresses, MPI_Count* large_counts,
                    MPI_Datatype* types);
Status get_address(const void* location, MPI_Aint* address);
MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement);
MPI_Aint aint_diff(MPI_Aint a, MPI_Aint b);

// --- packing --------------------------------------------------------------------------------------------------------
// pack() and unpack() are in packing.h.
Status pack_size(MPI_Count incount, Datatype& type, Comm& comm, MPI_Count* size);

Status pack_external(const char* datarep, const void* inbuf, MPI_Count incount, Datatype& type, void* outbuf,
                     MPI_Count outsize, MPI_Count* position);
Status unpack_external(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                       MPI_Count outcount, Datatype& type);
Status pack_external_size(const char* datarep, MPI_Count incount, Datatype& type, MPI_Count* size);

// --- statuses -------------------------------------------------------------------------------------------------------
/// MPI_UNDEFINED in *count when the bytes are not a whole number of items.
Status get_count(const MPI_Status* status, Datatype& type, MPI_Count* count);
Status get_elements(const MPI_Status* status, Datatype& type, MPI_Count* count);
/// Whether so many packed bytes of items of `type` end inside a basic element.
bool breaks_element(const Datatype& type, MPI_Count bytes);
Status status_set_elements(MPI_Status* status, Datatype& type, MPI_Count count);

}  // namespace ashlar::datatype
