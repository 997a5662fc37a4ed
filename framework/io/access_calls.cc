// The access calls of MPI-5.0, 14.4: each is one line about perform().
#include "framework/io/access.h"
#include "framework/io/api.h"

namespace ashlar::io {
namespace {

struct Kind {
  Where where;
  bool together;
};
constexpr Kind kAt{.where = Where::kAt, .together = false}, kAtAll{.where = Where::kAt, .together = true};
constexpr Kind kOwn{.where = Where::kOwn, .together = false}, kOwnAll{.where = Where::kOwn, .together = true};
constexpr Kind kShared{.where = Where::kShared, .together = false};
constexpr Kind kOrdered{.where = Where::kOrdered, .together = true};

/// `at`: the offset of kAt and kAtAll.
Access reading(const char* call, Kind kind, File& fh, void* buf, MPI_Count count, Datatype& datatype,
               MPI_Offset at = 0) {
  return {.call = call,
          .file = of(fh),
          .writes = false,
          .where = kind.where,
          .together = kind.together,
          .at = at,
          .buffer = DataView::of(buf, count, datatype)};
}

Access writing(const char* call, Kind kind, File& fh, const void* buf, MPI_Count count, Datatype& datatype,
               MPI_Offset at = 0) {
  Access access = reading(call, kind, fh, const_cast<void*>(buf), count, datatype, at);  // only read, see DataView::of
  access.writes = true;
  return access;
}

}  // namespace

Status file_read_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(reading("MPI_File_read_at", kAt, fh, buf, count, datatype, offset), status);
}

Status file_iread_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start(reading("MPI_File_iread_at", kAt, fh, buf, count, datatype, offset), request);
}

Status file_read_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                        MPI_Status* status) {
  return perform(reading("MPI_File_read_at_all", kAtAll, fh, buf, count, datatype, offset), status);
}

Status file_iread_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype,
                         Request** request) {
  return start(reading("MPI_File_iread_at_all", kAtAll, fh, buf, count, datatype, offset), request);
}

Status file_read_at_all_begin(File& fh, MPI_Offset offset, void* buf, MPI_Count count, Datatype& datatype) {
  return begin(reading("MPI_File_read_at_all_begin", kAtAll, fh, buf, count, datatype, offset));
}

Status file_read_at_all_end(File& fh, void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_read_at_all_begin", buf, status);
}

Status file_read(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(reading("MPI_File_read", kOwn, fh, buf, count, datatype), status);
}

Status file_iread(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start(reading("MPI_File_iread", kOwn, fh, buf, count, datatype), request);
}

Status file_read_all(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(reading("MPI_File_read_all", kOwnAll, fh, buf, count, datatype), status);
}

Status file_iread_all(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start(reading("MPI_File_iread_all", kOwnAll, fh, buf, count, datatype), request);
}

Status file_read_all_begin(File& fh, void* buf, MPI_Count count, Datatype& datatype) {
  return begin(reading("MPI_File_read_all_begin", kOwnAll, fh, buf, count, datatype));
}

Status file_read_all_end(File& fh, void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_read_all_begin", buf, status);
}

Status file_read_shared(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(reading("MPI_File_read_shared", kShared, fh, buf, count, datatype), status);
}

Status file_iread_shared(File& fh, void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start(reading("MPI_File_iread_shared", kShared, fh, buf, count, datatype), request);
}

Status file_read_ordered(File& fh, void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(reading("MPI_File_read_ordered", kOrdered, fh, buf, count, datatype), status);
}

Status file_read_ordered_begin(File& fh, void* buf, MPI_Count count, Datatype& datatype) {
  return begin(reading("MPI_File_read_ordered_begin", kOrdered, fh, buf, count, datatype));
}

Status file_read_ordered_end(File& fh, void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_read_ordered_begin", buf, status);
}

Status file_write_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                     MPI_Status* status) {
  return perform(writing("MPI_File_write_at", kAt, fh, buf, count, datatype, offset), status);
}

Status file_iwrite_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                      Request** request) {
  return start(writing("MPI_File_iwrite_at", kAt, fh, buf, count, datatype, offset), request);
}

Status file_write_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                         MPI_Status* status) {
  return perform(writing("MPI_File_write_at_all", kAtAll, fh, buf, count, datatype, offset), status);
}

Status file_iwrite_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype,
                          Request** request) {
  return start(writing("MPI_File_iwrite_at_all", kAtAll, fh, buf, count, datatype, offset), request);
}

Status file_write_at_all_begin(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin(writing("MPI_File_write_at_all_begin", kAtAll, fh, buf, count, datatype, offset));
}

Status file_write_at_all_end(File& fh, const void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_write_at_all_begin", buf, status);
}

Status file_write(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(writing("MPI_File_write", kOwn, fh, buf, count, datatype), status);
}

Status file_iwrite(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start(writing("MPI_File_iwrite", kOwn, fh, buf, count, datatype), request);
}

Status file_write_all(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(writing("MPI_File_write_all", kOwnAll, fh, buf, count, datatype), status);
}

Status file_iwrite_all(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start(writing("MPI_File_iwrite_all", kOwnAll, fh, buf, count, datatype), request);
}

Status file_write_all_begin(File& fh, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin(writing("MPI_File_write_all_begin", kOwnAll, fh, buf, count, datatype));
}

Status file_write_all_end(File& fh, const void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_write_all_begin", buf, status);
}

Status file_write_shared(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(writing("MPI_File_write_shared", kShared, fh, buf, count, datatype), status);
}

Status file_iwrite_shared(File& fh, const void* buf, MPI_Count count, Datatype& datatype, Request** request) {
  return start(writing("MPI_File_iwrite_shared", kShared, fh, buf, count, datatype), request);
}

Status file_write_ordered(File& fh, const void* buf, MPI_Count count, Datatype& datatype, MPI_Status* status) {
  return perform(writing("MPI_File_write_ordered", kOrdered, fh, buf, count, datatype), status);
}

Status file_write_ordered_begin(File& fh, const void* buf, MPI_Count count, Datatype& datatype) {
  return begin(writing("MPI_File_write_ordered_begin", kOrdered, fh, buf, count, datatype));
}

Status file_write_ordered_end(File& fh, const void* buf, MPI_Status* status) {
  return end(of(fh), "MPI_File_write_ordered_begin", buf, status);
}

}  // namespace ashlar::io
