#include "components/tool/common/advice.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "components/tool/common/text.h"

namespace ashlar::recording {
namespace {

/// Part of the job's time that is spent in procedures for which `wanted` is true.
template <class Wanted>
double part_of(const Records& records, const Figures& figures, Wanted wanted) {
  double all = 0, part = 0;
  for (const RankFigures& r : figures.ranks) all += r.seconds;
  for (const ProcedureFigures& p : figures.procedures)
    if (wanted(records.procedures[p.procedure])) part += p.total.seconds;
  return all > 0 ? part / all : 0;
}

void about_balance(const Figures& f, std::vector<Advice>* to) {
  if (f.ranks.size() < 2 || f.load_balance > 0.9 || f.computing.most < 0.01) return;
  to->push_back(
      {.weight = 1 - f.load_balance,
       .finding = text("rank %u computes for %s, the mean is %s: the others wait for it", f.computing.most_rank,
                       time_text(f.computing.most).c_str(), time_text(f.computing.mean).c_str()),
       .parameter = "tool.trace.file",
       .hint = "--trace=run.html shows in which calls; give this rank less work"});
}

void about_unexpected(const Figures& f, std::vector<Advice>* to) {
  const std::uint64_t early = f.variable("p2p.unexpected_total"), throttled = f.variable("p2p.throttles");
  if (throttled > 0)
    to->push_back(
        {.weight = 0.3,
         .finding = text("senders were throttled %s times for want of posted receives", count_text(throttled).c_str()),
         .parameter = "p2p.unexpected_limit",
         .hint = "post receives earlier, or keep more: a larger limit"});
  else if (f.messages > 1000 && early * 5 > f.messages)
    to->push_back({.weight = 0.05,
                   .finding = text("%s of %s messages came before their receive, and were copied once more",
                                   count_text(std::min(early, f.messages)).c_str(), count_text(f.messages).c_str()),
                   .parameter = "p2p.eager_limit",
                   .hint = "post receives earlier; a smaller limit saves the copy"});
}

void about_transport(const Figures& f, std::vector<Advice>* to) {
  const std::uint64_t full = f.variable("transport.shm.full"), failures = f.variable("p2p.single_copy_failures");
  if (f.messages > 1000 && full * 100 > f.messages)
    to->push_back({.weight = 0.1,
                   .finding = text("sends found the receiver's ring full %s times", count_text(full).c_str()),
                   .parameter = "transport.shm.ring_bytes",
                   .hint = "larger rings, or receives that come sooner"});
  if (failures > 0)
    to->push_back({.weight = 0.2,
                   .finding = text("%s single copies were refused by the system, and went in fragments",
                                   count_text(failures).c_str()),
                   .parameter = "p2p.single_copy",
                   .hint = "allow process_vm_readv (ptrace_scope, seccomp), or switch it off"});
}

void about_cores(const Records& records, const Figures& f, std::vector<Advice>* to) {
  const std::uint64_t yields = f.variable("progress.long_yields");
  const double per_second = f.seconds > 0 ? static_cast<double>(yields) / f.seconds : 0;
  if (yields < 100 || per_second < 10) return;
  to->push_back({.weight = 0.25,
                 .finding = text("waiting calls lost their core to others %s times: more ranks than cores, or other "
                                 "programs",
                                 count_text(yields).c_str()),
                 .parameter = "mpiexec.oversubscribe",
                 .hint = text("fewer ranks than %zu; error refuses such a start", records.ranks.size())});
}

void about_calls(const Records& records, const Figures& f, std::vector<Advice>* to) {
  const bool balanced = f.load_balance > 0.9;
  std::uint64_t tests = 0;
  for (const ProcedureFigures& p : f.procedures) {
    const Procedure& procedure = records.procedures[p.procedure];
    if (procedure.name.starts_with("MPI_Test") || procedure.name == "MPI_Iprobe") tests += p.total.calls;
  }
  const double polling =
      part_of(records, f, [](const Procedure& p) { return p.name.starts_with("MPI_Test") || p.name == "MPI_Iprobe"; });
  if (polling > 0.1)
    to->push_back({.weight = polling,
                   .finding = text("%s calls that only test take %s of the time", count_text(tests).c_str(),
                                   percent_text(polling).c_str()),
                   .parameter = "progress.thread",
                   .hint = "wait instead of testing; true lets messages progress while the program computes"});
  const double waiting = part_of(records, f, [](const Procedure& p) { return p.name.starts_with("MPI_Wait"); });
  const bool large = f.messages > 0 && f.bytes / f.messages > 256 * 1024;
  if (balanced && waiting > 0.1 && large)
    to->push_back(
        {.weight = waiting,
         .finding = text("waits for messages of %s on average take %s of the time",
                         size_text(static_cast<double>(f.bytes / f.messages)).c_str(), percent_text(waiting).c_str()),
         .parameter = "progress.thread",
         .hint = "true moves them while the program computes"});
  const double barriers = part_of(records, f, [](const Procedure& p) { return p.name == "MPI_Barrier"; });
  if (balanced && barriers > 0.1)
    to->push_back({.weight = barriers,
                   .finding = text("barriers take %s of the time", percent_text(barriers).c_str()),
                   .parameter = "coll.barrier.algorithm",
                   .hint = "leave out those that nothing depends on"});
  for (const ProcedureFigures& p : f.procedures) {
    const Procedure& procedure = records.procedures[p.procedure];
    const double part = part_of(records, f, [&](const Procedure& other) { return &other == &procedure; });
    if (!balanced || procedure.chapter != "coll" || procedure.name == "MPI_Barrier" || part < 0.2) continue;
    to->push_back({.weight = part,
                   .finding = text("%s takes %s of the time, and all ranks share the work", procedure.name.c_str(),
                                   percent_text(part).c_str()),
                   .parameter = "coll.tuning_file",
                   .hint = "ashlar_tune looks for a faster algorithm on this machine"});
    break;
  }
}

}  // namespace

std::vector<Advice> advice_from(const Records& records, const Figures& figures) {
  std::vector<Advice> advice;
  if (figures.ranks.empty()) return advice;
  about_balance(figures, &advice);
  about_unexpected(figures, &advice);
  about_transport(figures, &advice);
  about_cores(records, figures, &advice);
  about_calls(records, figures, &advice);
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) { return a.weight > b.weight; });
  return advice;
}

namespace {

std::string how_it_ended(int wait_status) {
  if (WIFSIGNALED(wait_status)) return text("signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  return text("exit code %d", WEXITSTATUS(wait_status));
}

}  // namespace

std::vector<std::string> warnings_of(const Records& records, const Figures& figures) {
  std::vector<std::string> warnings;
  std::size_t absent = 0, unfinished = 0;
  const RankRecord* first = nullptr;
  for (const RankRecord& rank : records.ranks) {
    absent += !rank.present;
    if (!rank.present || rank.finalized) continue;
    ++unfinished;
    // A rank that mpiexec ended with SIGTERM is not the one that failed.
    if (!first || (WIFSIGNALED(first->exit_status) && WTERMSIG(first->exit_status) == 15)) first = &rank;
  }
  if (first && WIFSIGNALED(first->exit_status) && WTERMSIG(first->exit_status) == 15)
    warnings.push_back(
        text("%zu of %zu ranks did not finalise MPI: the job was stopped", unfinished, records.ranks.size()));
  else if (first)
    warnings.push_back(text("%zu of %zu ranks did not finalise MPI; rank %u ended by %s", unfinished,
                            records.ranks.size(), first->rank, how_it_ended(first->exit_status).c_str()));
  if (absent > 0)
    warnings.push_back(
        text("%zu of %zu ranks have no records: they did not initialise MPI, their host was lost, or their records are "
             "damaged",
             absent, records.ranks.size()));
  const std::uint64_t absent_calls = figures.calls_recorded - std::min(figures.calls_kept, figures.calls_recorded);
  if (absent_calls > figures.unplaced)
    warnings.push_back(text("the oldest %s of %s calls are not in the timeline, for want of room: tools.buffer",
                            count_text(absent_calls - figures.unplaced).c_str(),
                            count_text(figures.calls_recorded).c_str()));
  if (figures.unplaced > 0)
    warnings.push_back(
        text("%s calls of threads that met are not in the timeline", count_text(figures.unplaced).c_str()));
  if (figures.dropped > 0)
    warnings.push_back(text("%s calls of threads that met are counted nowhere", count_text(figures.dropped).c_str()));
  return warnings;
}

}  // namespace ashlar::recording
