#include "framework/datatype/datatype.h"
#include "framework/object/status_fields.h"
#include "framework/p2p/completion.h"

namespace ashlar::p2p {

Status get_count(const MPI_Status* status, Datatype& type, MPI_Count* count) {
  const MPI_Count bytes = bytes_of(*status);
  if (type.size() == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % type.size() == 0 ? bytes / type.size() : MPI_UNDEFINED;
  }
  return {};
}

Status test_cancelled(const MPI_Status* status, int* flag) {
  *flag = cancelled_of(*status);
  return {};
}

Status status_set_cancelled(MPI_Status* status, int flag) {
  set_cancelled(*status, flag != 0);
  return {};
}

Status status_get_source(const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return {};
}

Status status_get_tag(const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return {};
}

Status status_get_error(const MPI_Status* status, int* error) {
  *error = status->MPI_ERROR;
  return {};
}

Status status_set_source(MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return {};
}

Status status_set_tag(MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return {};
}

Status status_set_error(MPI_Status* status, int error) {
  status->MPI_ERROR = error;
  return {};
}

}  // namespace ashlar::p2p
