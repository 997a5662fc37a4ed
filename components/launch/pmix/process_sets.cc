// Process sets by PMIx's names: which there are, and the members of each.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "components/launch/pmix/client.h"

namespace ashlar::launch {
namespace {

/// The answers to one question; the macros of PMIx that make and free these call functions that not every version has.
struct Answers {
  pmix_info_t* infos = nullptr;
  std::size_t count = 0;
  Answers() = default;
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  ~Answers() {
    for (std::size_t i = 0; i < count; ++i) {
      pmix_value_t& value = infos[i].value;
      if (value.type == PMIX_STRING) std::free(value.data.string);
      if (value.type != PMIX_DATA_ARRAY || !value.data.darray) continue;
      std::free(value.data.darray->array);
      std::free(value.data.darray);
    }
    std::free(infos);
  }
};

bool ask(const PmixLibrary& pmix, const char* question, pmix_info_t* qualifier, Answers* answers) {
  if (pmix.query_info == nullptr) return false;
  char* keys[] = {const_cast<char*>(question), nullptr};
  pmix_query_t query = {};
  query.keys = keys;
  query.qualifiers = qualifier;
  query.nqual = qualifier ? 1 : 0;
  return pmix.query_info(&query, 1, &answers->infos, &answers->count) == PMIX_SUCCESS;
}

}  // namespace

std::string PmixClient::members_of(const std::string& set) {
  pmix_info_t name = {};
  std::strncpy(name.key, PMIX_PSET_NAME, PMIX_MAX_KEYLEN);
  name.value.type = PMIX_STRING;
  name.value.data.string = const_cast<char*>(set.c_str());
  Answers answers;
  std::string ranks;
  if (!ask(pmix_, PMIX_QUERY_PSET_MEMBERSHIP, &name, &answers)) return ranks;
  for (std::size_t i = 0; i < answers.count; ++i) {
    if (answers.infos[i].value.type != PMIX_DATA_ARRAY) continue;
    const pmix_data_array_t* const array = answers.infos[i].value.data.darray;
    if (!array || array->type != PMIX_PROC) continue;
    const auto* const members = static_cast<const pmix_proc_t*>(array->array);
    for (std::size_t m = 0; m < array->size; ++m)
      // Sets may go beyond this job; we know the ranks of ours.
      if (std::strcmp(members[m].nspace, me_.nspace) == 0 && members[m].rank < job_.ranks)
        ranks += (ranks.empty() ? "" : ",") + std::to_string(members[m].rank);
  }
  return ranks;
}

const char* PmixClient::process_sets() {
  if (std::exchange(asked_for_sets_, true)) return process_sets_.c_str();
  Answers answers;
  if (!ask(pmix_, PMIX_QUERY_PSET_NAMES, nullptr, &answers)) return process_sets_.c_str();
  for (std::size_t i = 0; i < answers.count; ++i) {
    if (answers.infos[i].value.type != PMIX_STRING || !answers.infos[i].value.data.string) continue;
    const std::string names = answers.infos[i].value.data.string;
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(',', at), names.size());
      const std::string name = names.substr(at, end - at), ranks = members_of(name);
      if (!name.empty() && !ranks.empty()) process_sets_ += (process_sets_.empty() ? "" : ";") + name + "=" + ranks;
      at = end + 1;
    }
  }
  return process_sets_.c_str();
}

}  // namespace ashlar::launch
