#include "mpiexec/pmix_values.h"

#include <pmix_server.h>

#include <cstdlib>

namespace ashlar::mpiexec {

PmixProcess process_of(const pmix_proc_t& proc) { return {.space = proc.nspace, .rank = proc.rank}; }

pmix_proc_t proc_of(const PmixProcess& process) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, process.space.c_str(), process.rank);
  return proc;
}

std::vector<PmixProcess> processes_of(const pmix_proc_t* procs, std::size_t count) {
  std::vector<PmixProcess> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) out.push_back(process_of(procs[i]));
  return out;
}

std::string bytes_of(const pmix_info_t* infos, std::size_t count) {
  pmix_data_buffer_t buffer;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  std::string out;
  if (count > 0 && PMIx_Data_pack(nullptr, &buffer, const_cast<pmix_info_t*>(infos), static_cast<std::int32_t>(count),
                                  PMIX_INFO) == PMIX_SUCCESS)
    out.assign(buffer.base_ptr, buffer.bytes_used);
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  return out;
}

bool infos_of(const std::string& bytes, std::size_t count, pmix_info_t** infos) {
  *infos = nullptr;
  if (count == 0) return true;
  // Each takes some bytes, so a count that is none does not take memory.
  if (count > bytes.size()) return false;
  pmix_data_buffer_t buffer;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  auto* const copy = static_cast<char*>(std::malloc(bytes.size()));  // which the buffer takes over
  if (!copy) return false;
  bytes.copy(copy, bytes.size());
  pmix_byte_object_t object = {copy, bytes.size()};
  bool good = PMIx_Data_load(&buffer, &object) == PMIX_SUCCESS;
  PMIX_INFO_CREATE(*infos, count);
  auto left = static_cast<std::int32_t>(count);
  good = good && PMIx_Data_unpack(nullptr, &buffer, *infos, &left, PMIX_INFO) == PMIX_SUCCESS &&
         left == static_cast<std::int32_t>(count);
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  if (!good) PMIX_INFO_FREE(*infos, count);
  return good;
}

const pmix_info_t* find(const pmix_info_t* infos, std::size_t count, const char* key) {
  const pmix_info_t* found = nullptr;
  for (std::size_t i = 0; i < count; ++i)
    if (PMIX_CHECK_KEY(&infos[i], key)) found = &infos[i];
  return found;
}

std::string text_of(const pmix_info_t* infos, std::size_t count, const char* key) {
  const pmix_info_t* const info = find(infos, count, key);
  return info && info->value.type == PMIX_STRING && info->value.data.string ? info->value.data.string : "";
}

std::uint32_t number_of(const pmix_info_t* infos, std::size_t count, const char* key, std::uint32_t otherwise) {
  const pmix_info_t* const info = find(infos, count, key);
  if (!info) return otherwise;
  switch (info->value.type) {
    case PMIX_BOOL:
      return info->value.data.flag ? 1 : 0;
    case PMIX_INT:
      return static_cast<std::uint32_t>(info->value.data.integer);
    case PMIX_INT32:
    case PMIX_UINT32:
    case PMIX_UINT:
      return info->value.data.uint32;
    case PMIX_SIZE:
      return static_cast<std::uint32_t>(info->value.data.size);
    case PMIX_DATA_RANGE:
      return info->value.data.range;
    case PMIX_PERSIST:
      return info->value.data.persist;
    case PMIX_STATUS:
      return static_cast<std::uint32_t>(info->value.data.status);
    case PMIX_UNDEF:
      return 1;  // a key without a value says yes
    default:
      return otherwise;
  }
}

pmix_status_t status_of(PmixOutcome outcome) {
  switch (outcome) {
    case PmixOutcome::kDone:
      return PMIX_SUCCESS;
    case PmixOutcome::kPartial:
      return PMIX_ERR_PARTIAL_SUCCESS;
    case PmixOutcome::kNone:
      return PMIX_ERR_NOT_FOUND;
    case PmixOutcome::kTaken:
      return PMIX_ERR_DUPLICATE_KEY;
    case PmixOutcome::kTooMuch:
      return PMIX_ERR_OUT_OF_RESOURCE;
    case PmixOutcome::kTimedOut:
      return PMIX_ERR_TIMEOUT;
  }
  return PMIX_ERROR;
}

}  // namespace ashlar::mpiexec
