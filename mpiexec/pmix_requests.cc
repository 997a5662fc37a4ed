#include "mpiexec/pmix_requests.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "framework/plugin/further_job.h"
#include "mpiexec/pmix_upcalls.h"
#include "mpiexec/pmix_values.h"

namespace ashlar::mpiexec {
namespace {

pmix_status_t register_events(pmix_status_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t deregister_events(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) { return PMIX_OPERATION_SUCCEEDED; }

/// The clients of this host have been told by libpmix. It is not called back: its version 4.2 takes the status for an
/// operation that goes on (PMIX_SUCCESS) for the end of it.
pmix_status_t tell_of_event(pmix_status_t code, const pmix_proc_t* source, pmix_data_range_t range, pmix_info_t* info,
                            size_t infos, pmix_op_cbfunc_t, void*) {
  if (range == PMIX_RANGE_LOCAL || range == PMIX_RANGE_PROC_LOCAL || range == PMIX_RANGE_RM)
    return PMIX_OPERATION_SUCCEEDED;
  PmixMessage message;
  message.word = PmixWord::kTell;
  message.status = code;
  message.process = process_of(*source);
  message.data = bytes_of(info, infos);
  message.count = message.data.empty() ? 0 : static_cast<std::uint32_t>(infos);
  PmixUpcalls::current().link().tell(message);
  return PMIX_OPERATION_SUCCEEDED;
}

/// What PMIx calls it, and what MPI_Comm_spawn does.
constexpr const char* kKeys[][2] = {{PMIX_HOST, "host"}, {PMIX_HOSTFILE, "hostfile"}, {PMIX_WDIR, "wdir"}};

void add_info(const pmix_info_t* info, size_t infos, launch::FurtherJob::Program* program) {
  for (const auto& [key, ours] : kKeys)
    if (const std::string value = text_of(info, infos, key); !value.empty()) program->info.emplace_back(ours, value);
}

/// The job runs below an mpiexec of its own, like one of MPI_Comm_spawn.
pmix_status_t spawn(const pmix_proc_t* proc, const pmix_info_t* info, size_t infos, const pmix_app_t* apps,
                    size_t count, pmix_spawn_cbfunc_t done, void* context) {
  launch::FurtherJob job;
  const std::string folder = count > 0 && apps[0].cwd ? apps[0].cwd : "/";
  job.folder = folder;
  for (size_t i = 0; i < count; ++i) {
    const pmix_app_t& app = apps[i];
    launch::FurtherJob::Program program;
    program.processes = std::to_string(app.maxprocs);
    program.argv.emplace_back(app.cmd ? app.cmd : "");
    for (char** word = app.argv; word && *word; ++word)
      if (word != app.argv) program.argv.emplace_back(*word);
    for (char** entry = app.env; entry && *entry; ++entry) program.info.emplace_back(launch::kPmixEnv, *entry);
    if (app.cwd) program.info.emplace_back("wdir", app.cwd);
    add_info(info, infos, &program);
    add_info(app.info, app.ninfo, &program);
    job.programs.push_back(std::move(program));
  }
  if (job.programs.empty()) return PMIX_ERR_BAD_PARAM;
  job.programs[0].info.emplace_back(launch::kPmixParent, std::to_string(proc->rank) + ":" + proc->nspace);
  const bool asked = PmixUpcalls::current().link().ask_for_job(
      launch::message_of(job.texts()), [done, context](const std::string& name) {
        pmix_nspace_t space;
        PMIX_LOAD_NSPACE(space, name.c_str());
        done(name.empty() ? PMIX_ERR_JOB_FAILED_TO_LAUNCH : PMIX_SUCCESS, space, context);
      });
  return asked ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

void free_answer(void* answer) {
  auto* info = static_cast<pmix_info_t*>(answer);
  PMIX_INFO_FREE(info, 1);
}

/// What process sets there are, and the members of one. Other queries are for launchers that allocate and schedule.
pmix_status_t query(pmix_proc_t*, pmix_query_t* queries, size_t count, pmix_info_cbfunc_t answer, void* context) {
  if (count != 1 || !queries[0].keys || !queries[0].keys[0] || queries[0].keys[1]) return PMIX_ERR_NOT_SUPPORTED;
  const PmixFacts& facts = PmixUpcalls::current().facts();
  pmix_info_t* info = nullptr;
  if (std::strcmp(queries[0].keys[0], PMIX_QUERY_PSET_NAMES) == 0) {
    std::string names;
    for (const auto& [name, ranks] : facts.sets) names += (names.empty() ? "" : ",") + name;
    PMIX_INFO_CREATE(info, 1);
    PMIX_INFO_LOAD(info, PMIX_QUERY_PSET_NAMES, names.c_str(), PMIX_STRING);
  } else if (std::strcmp(queries[0].keys[0], PMIX_QUERY_PSET_MEMBERSHIP) == 0) {
    const std::string wanted = text_of(queries[0].qualifiers, queries[0].nqual, PMIX_PSET_NAME);
    for (const auto& [name, ranks] : facts.sets) {
      if (name != wanted) continue;
      std::vector<pmix_proc_t> members(ranks.size());
      for (size_t i = 0; i < ranks.size(); ++i) PMIX_LOAD_PROCID(&members[i], facts.job_id.c_str(), ranks[i]);
      pmix_data_array_t array = {};
      array.type = PMIX_PROC;
      array.size = members.size();
      array.array = members.data();
      PMIX_INFO_CREATE(info, 1);
      PMIX_INFO_LOAD(info, PMIX_QUERY_PSET_MEMBERSHIP, &array, PMIX_DATA_ARRAY);
    }
    if (!info) return PMIX_ERR_NOT_FOUND;
  } else {
    return PMIX_ERR_NOT_SUPPORTED;
  }
  answer(PMIX_SUCCESS, info, 1, context, free_answer, info);
  return PMIX_SUCCESS;
}

/// Infos that live until libpmix has told of an event.
struct Told {
  pmix_info_t* infos;
  size_t count;
};

}  // namespace

void fill_requests(pmix_server_module_t* module) {
  module->register_events = register_events;
  module->deregister_events = deregister_events;
  module->notify_event = tell_of_event;
  module->spawn = spawn;
  module->query = query;
}

void tell_clients(const PmixMessage& event) {
  auto* const told = new Told{nullptr, 0};
  if (infos_of(event.data, event.count, &told->infos)) told->count = event.count;
  const pmix_proc_t source = proc_of(event.process);
  const auto free_told = [](pmix_status_t, void* self) {
    auto* const of = static_cast<Told*>(self);
    PMIX_INFO_FREE(of->infos, of->count);
    delete of;
  };
  // For this host alone, or it would come back here.
  const pmix_status_t rc =
      PMIx_Notify_event(event.status, &source, PMIX_RANGE_LOCAL, told->infos, told->count, free_told, told);
  if (rc != PMIX_SUCCESS) free_told(rc, told);
}

}  // namespace ashlar::mpiexec
