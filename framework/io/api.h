#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Datatype;
class File;
class Group;
class Info;
class Request;
}  // namespace ashlar

/// Files (MPI-5.0, chapter 14): arguments in the standard's order, handles resolved, datatypes committed, counts not
/// negative. Offsets count etypes of the view. Any thread that may call MPI; the collective calls of one file, and
/// those that change it, are made by one thread at a time.
namespace ashlar::io {

// --- files: collective but for file_delete; a failure of one process is a failure of all
// ------------------------------
/// Errors: MPI_ERR_COMM (an intercommunicator), MPI_ERR_AMODE, MPI_ERR_NOT_SAME, and those of the file system.
Status file_open(Comm& comm, const char* filename, int amode, Info* info, File** fh);
Status file_close(File** fh);
Status file_delete(const char* filename, Info* info);
Status file_set_size(File& fh, MPI_Offset size);
Status file_preallocate(File& fh, MPI_Offset size);
Status file_sync(File& fh);
Status file_set_atomicity(File& fh, int flag);
Status file_set_info(File& fh, Info* info);
/// MPI_ERR_ARG: not made of etypes; MPI_ERR_IO: displacements that fall, are negative or overlap where they may not;
/// MPI_ERR_UNSUPPORTED_DATAREP.
Status file_set_view(File& fh, MPI_Offset disp, Datatype& etype, Datatype& filetype, const char* datarep, Info* info);
Status file_seek_shared(File& fh, MPI_Offset offset, int whence);

// --- local
// ------------------------------------------------------------------------------------------------------------
Status file_get_size(File& fh, MPI_Offset* size);
Status file_get_group(File& fh, Group** group);
Status file_get_amode(File& fh, int* amode);
Status file_get_info(File& fh, Info** info_used);
Status file_get_atomicity(File& fh, int* flag);
/// Derived datatypes come as new ones, which the program frees.
Status file_get_view(File& fh, MPI_Offset* disp, Datatype** etype, Datatype** filetype, char* datarep);
Status file_get_type_extent(File& fh, Datatype& datatype, MPI_Count* extent);
Status file_seek(File& fh, MPI_Offset offset, int whence);
Status file_get_position(File& fh, MPI_Offset* offset);
Status file_get_position_shared(File& fh, MPI_Offset* offset);
Status file_get_byte_offset(File& fh, MPI_Offset offset, MPI_Offset* disp);

/// MPI_ERR_DUP_DATAREP. Any time between start and end of MPI, any thread.
Status register_datarep(const char* datarep, MPI_Datarep_conversion_function* read,
                        MPI_Datarep_conversion_function* write, MPI_Datarep_extent_function* extent, void* extra_state);
Status register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read,
                          MPI_Datarep_conversion_function_c* write, MPI_Datarep_extent_function* extent,
                          void* extra_state);

// --- accesses: MPI_ERR_READ_ONLY, MPI_ERR_ACCESS, MPI_ERR_IO (a fraction of an etype), MPI_ERR_UNSUPPORTED_OPERATION
// --- The status has the bytes that were really moved: fewer than asked for only at the end of the file.
Status file_read_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_iread_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype, Request** request);
Status file_read_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                        MPI_Status* status);
Status file_iread_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                         Request** request);
Status file_read_at_all_begin(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype);
Status file_read_at_all_end(File& fh, void* buf, MPI_Status* status);
Status file_read(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_iread(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request);
Status file_read_all(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_iread_all(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request);
Status file_read_all_begin(File& fh, void* buf, MPI_Count count, Datatype& datatype);
Status file_read_all_end(File& fh, void* buf, MPI_Status* status);
Status file_read_shared(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_iread_shared(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request);
Status file_read_ordered(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_read_ordered_begin(File& fh, void* buf, MPI_Count count, Datatype& datatype);
Status file_read_ordered_end(File& fh, void* buf, MPI_Status* status);
Status file_write_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                     MPI_Status* status);
Status file_iwrite_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                      Request** request);
Status file_write_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                         MPI_Status* status);
Status file_iwrite_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                          Request** request);
Status file_write_at_all_begin(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype);
Status file_write_at_all_end(File& fh, const void* buf, MPI_Status* status);
Status file_write(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_iwrite(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request);
Status file_write_all(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_iwrite_all(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request);
Status file_write_all_begin(File& fh, const void* buf, MPI_Count count, Datatype& datatype);
Status file_write_all_end(File& fh, const void* buf, MPI_Status* status);
Status file_write_shared(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_iwrite_shared(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request);
Status file_write_ordered(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status);
Status file_write_ordered_begin(File& fh, const void* buf, MPI_Count count, Datatype& datatype);
Status file_write_ordered_end(File& fh, const void* buf, MPI_Status* status);

}  // namespace ashlar::io
