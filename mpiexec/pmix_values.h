#pragma once
#include <pmix.h>

#include <string>
#include <vector>

#include "mpiexec/pmix_message.h"

namespace ashlar::mpiexec {

static_assert(kWholeJob == PMIX_RANK_WILDCARD);

PmixProcess process_of(const pmix_proc_t& proc);
pmix_proc_t proc_of(const PmixProcess& process);
std::vector<PmixProcess> processes_of(const pmix_proc_t* procs, std::size_t count);

/// Infos as bytes that another server of this build reads. "": libpmix cannot.
std::string bytes_of(const pmix_info_t* infos, std::size_t count);
/// False: they are none. Otherwise PMIX_INFO_FREE gives them back.
bool infos_of(const std::string& bytes, std::size_t count, pmix_info_t** infos);

/// Of the infos, the last with this key; nullptr: none.
const pmix_info_t* find(const pmix_info_t* infos, std::size_t count, const char* key);
std::string text_of(const pmix_info_t* infos, std::size_t count, const char* key);
std::uint32_t number_of(const pmix_info_t* infos, std::size_t count, const char* key, std::uint32_t otherwise);

/// What libpmix is told of an outcome at the hub.
pmix_status_t status_of(PmixOutcome outcome);

}  // namespace ashlar::mpiexec
