// The access calls of MPI-5.0, 14.4: each is one line about perform().
#include "framework/io/access.h"
#include "framework/io/api.h"

namespace ashlar::io {

Status file_read_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_read_at",
                  .file = of(fh),
                  .writes = false,
                  .where = Where::kAt,
                  .together = false,
                  .at = offset,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iread_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start({.call = "MPI_File_iread_at",
                .file = of(fh),
                .writes = false,
                .where = Where::kAt,
                .together = false,
                .at = offset,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_read_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                        MPI_Status* status) {
  return perform({.call = "MPI_File_read_at_all",
                  .file = of(fh),
                  .writes = false,
                  .where = Where::kAt,
                  .together = true,
                  .at = offset,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iread_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                         Request** request) {
  return start({.call = "MPI_File_iread_at_all",
                .file = of(fh),
                .writes = false,
                .where = Where::kAt,
                .together = true,
                .at = offset,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_read_at_all_begin(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype) {
  return begin({.call = "MPI_File_read_at_all_begin",
                .file = of(fh),
                .writes = false,
                .where = Where::kAt,
                .together = true,
                .at = offset,
                .buffer = DataView::of(buf, count, datatype)});
}

Status file_read_at_all_end(File& fh, void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_read_at_all_begin", buf, status);
}

Status file_read(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_read",
                  .file = of(fh),
                  .writes = false,
                  .where = Where::kOwn,
                  .together = false,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iread(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start({.call = "MPI_File_iread",
                .file = of(fh),
                .writes = false,
                .where = Where::kOwn,
                .together = false,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_read_all(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_read_all",
                  .file = of(fh),
                  .writes = false,
                  .where = Where::kOwn,
                  .together = true,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iread_all(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start({.call = "MPI_File_iread_all",
                .file = of(fh),
                .writes = false,
                .where = Where::kOwn,
                .together = true,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_read_all_begin(File& fh, void* buf, MPI_Count count, Datatype& datatype) {
  return begin({.call = "MPI_File_read_all_begin",
                .file = of(fh),
                .writes = false,
                .where = Where::kOwn,
                .together = true,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)});
}

Status file_read_all_end(File& fh, void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_read_all_begin", buf, status);
}

Status file_read_shared(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_read_shared",
                  .file = of(fh),
                  .writes = false,
                  .where = Where::kShared,
                  .together = false,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iread_shared(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start({.call = "MPI_File_iread_shared",
                .file = of(fh),
                .writes = false,
                .where = Where::kShared,
                .together = false,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_read_ordered(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_read_ordered",
                  .file = of(fh),
                  .writes = false,
                  .where = Where::kOrdered,
                  .together = true,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_read_ordered_begin(File& fh, void* buf, MPI_Count count, Datatype& datatype) {
  return begin({.call = "MPI_File_read_ordered_begin",
                .file = of(fh),
                .writes = false,
                .where = Where::kOrdered,
                .together = true,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)});
}

Status file_read_ordered_end(File& fh, void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_read_ordered_begin", buf, status);
}

Status file_write_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                     MPI_Status* status) {
  return perform({.call = "MPI_File_write_at",
                  .file = of(fh),
                  .writes = true,
                  .where = Where::kAt,
                  .together = false,
                  .at = offset,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iwrite_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                      Request** request) {
  return start({.call = "MPI_File_iwrite_at",
                .file = of(fh),
                .writes = true,
                .where = Where::kAt,
                .together = false,
                .at = offset,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_write_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                         MPI_Status* status) {
  return perform({.call = "MPI_File_write_at_all",
                  .file = of(fh),
                  .writes = true,
                  .where = Where::kAt,
                  .together = true,
                  .at = offset,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iwrite_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                          Request** request) {
  return start({.call = "MPI_File_iwrite_at_all",
                .file = of(fh),
                .writes = true,
                .where = Where::kAt,
                .together = true,
                .at = offset,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_write_at_all_begin(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin({.call = "MPI_File_write_at_all_begin",
                .file = of(fh),
                .writes = true,
                .where = Where::kAt,
                .together = true,
                .at = offset,
                .buffer = DataView::of(buf, count, datatype)});
}

Status file_write_at_all_end(File& fh, const void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_write_at_all_begin", buf, status);
}

Status file_write(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_write",
                  .file = of(fh),
                  .writes = true,
                  .where = Where::kOwn,
                  .together = false,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iwrite(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start({.call = "MPI_File_iwrite",
                .file = of(fh),
                .writes = true,
                .where = Where::kOwn,
                .together = false,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_write_all(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_write_all",
                  .file = of(fh),
                  .writes = true,
                  .where = Where::kOwn,
                  .together = true,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iwrite_all(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start({.call = "MPI_File_iwrite_all",
                .file = of(fh),
                .writes = true,
                .where = Where::kOwn,
                .together = true,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_write_all_begin(File& fh, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin({.call = "MPI_File_write_all_begin",
                .file = of(fh),
                .writes = true,
                .where = Where::kOwn,
                .together = true,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)});
}

Status file_write_all_end(File& fh, const void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_write_all_begin", buf, status);
}

Status file_write_shared(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_write_shared",
                  .file = of(fh),
                  .writes = true,
                  .where = Where::kShared,
                  .together = false,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_iwrite_shared(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start({.call = "MPI_File_iwrite_shared",
                .file = of(fh),
                .writes = true,
                .where = Where::kShared,
                .together = false,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)},
               request);
}

Status file_write_ordered(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform({.call = "MPI_File_write_ordered",
                  .file = of(fh),
                  .writes = true,
                  .where = Where::kOrdered,
                  .together = true,
                  .at = 0,
                  .buffer = DataView::of(buf, count, datatype)},
                 status);
}

Status file_write_ordered_begin(File& fh, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin({.call = "MPI_File_write_ordered_begin",
                .file = of(fh),
                .writes = true,
                .where = Where::kOrdered,
                .together = true,
                .at = 0,
                .buffer = DataView::of(buf, count, datatype)});
}

Status file_write_ordered_end(File& fh, const void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_write_ordered_begin", buf, status);
}

}  // namespace ashlar::io
