#include "mpiexec/verdict.h"

#include <mpi.h>
#include <sys/wait.h>

#include <map>

#include "framework/base/abort_status.h"
#include "mpiexec/alike.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

std::string how(const RankFate& fate) {
  if (!fate.lost.empty()) return "was lost with its host: " + fate.lost;
  if (fate.aborted) return text("aborted the job with code %d", fate.abort_code);
  if (WIFSIGNALED(fate.wait_status))
    return text("was killed by %s%s", signal_words(WTERMSIG(fate.wait_status)).c_str(),
                WCOREDUMP(fate.wait_status) ? ", core dumped" : "");
  return text("ended with exit code %d", WEXITSTATUS(fate.wait_status));
}

std::string where_in_mpi(const RankFate& fate) {
  if (fate.aborted || !fate.lost.empty()) return {};
  switch (fate.state) {
    case launch::RankState::kAbsent:
      return ", before MPI_Init";
    case launch::RankState::kAttached:
      return ", inside MPI_Init";
    case launch::RankState::kInitialized:
      return text(", without calling %s", launch::missing_calls(fate.use));
    case launch::RankState::kFinalized:
      return text(", after %s", launch::leaving_call(fate.use));
  }
  return {};
}

std::string seconds_words(double seconds) { return seconds < 10 ? text("%.2f s", seconds) : text("%.0f s", seconds); }

std::string who(const std::vector<RankFate>& fates, unsigned rank) {
  return text("rank %u of %zu (%s, process %d on %s)", rank, fates.size(), shown(fates[rank].program).c_str(),
              static_cast<int>(fates[rank].pid), shown(fates[rank].host).c_str());
}

/// The words of those that aborted, beginning with the first one's; equal ones together.
std::string what_they_said(const std::vector<RankFate>& fates, unsigned first) {
  constexpr std::size_t kMost = 8;  // texts; more are counted
  std::vector<RankText> said;
  const auto add = [&](unsigned r) {
    if (!fates[r].abort_text.empty()) said.push_back({.rank = r, .text = fates[r].abort_text});
  };
  add(first);
  for (unsigned r = 0; r < fates.size(); ++r)
    if (r != first && fates[r].failed && (blames_another(fates[first]) || !blames_another(fates[r]))) add(r);
  const std::vector<SaidAlike> texts = put_together(said);
  std::string out;
  for (std::size_t i = 0; i < texts.size() && i < kMost; ++i) {
    const bool it = texts[i].ranks.size() == 1 && texts[i].ranks[0] == first;
    out += "\n" + (it ? std::string("It") : these_ranks(texts[i].ranks)) + " said: " + texts[i].text;
  }
  if (texts.size() > kMost) out += text("\n%zu more texts are left out.", texts.size() - kMost);
  return out;
}

}  // namespace

bool blames_another(const RankFate& fate) { return fate.aborted && fate.abort_code == MPI_ERR_PROC_ABORTED; }

bool fails_the_job(const RankFate& fate, bool others_in_mpi) {
  using launch::RankState;
  if (fate.aborted || WIFSIGNALED(fate.wait_status) || fate.state == RankState::kInitialized) return true;
  const bool never_joined = fate.state == RankState::kAbsent || fate.state == RankState::kAttached;
  return never_joined && others_in_mpi && WEXITSTATUS(fate.wait_status) != 0;
}

int exit_status(const RankFate& fate) {
  if (!fate.lost.empty()) return 1;
  if (fate.aborted) return abort_status(fate.abort_code);
  if (WIFSIGNALED(fate.wait_status)) return 128 + WTERMSIG(fate.wait_status);
  const int code = WEXITSTATUS(fate.wait_status);
  return code == 0 && fate.state == launch::RankState::kInitialized ? 1 : code;
}

std::string end_words(const std::vector<RankFate>& fates, unsigned rank) {
  const RankFate& fate = fates[rank];
  return text("%s %s%s, after %s.", who(fates, rank).c_str(), how(fate).c_str(), where_in_mpi(fate).c_str(),
              seconds_words(fate.seconds).c_str());
}

std::string failure_words(const std::vector<RankFate>& fates, unsigned first_failed) {
  const RankFate& first = fates[first_failed];
  std::string out = end_words(fates, first_failed);
  std::map<std::string, std::vector<unsigned>> likewise;
  std::vector<unsigned> stopped;
  unsigned fine = 0;
  for (unsigned r = 0; r < fates.size(); ++r) {
    if (r == first_failed) continue;
    const bool answer = blames_another(fates[r]) && !blames_another(first);
    if (fates[r].failed && !answer)
      likewise[how(fates[r])].push_back(r);
    else if (fates[r].stopped || answer)
      stopped.push_back(r);
    else
      ++fine;
  }
  for (const auto& [words, ranks] : likewise)
    out += text(" Also failed: rank%s %s (%s%s).", ranks.size() == 1 ? "" : "s", list_of(ranks).c_str(),
                ranks.size() == 1 ? "" : "each ", words.c_str());
  if (fine) out += text(" %u other%s had ended by then.", fine, fine == 1 ? "" : "s");
  if (stopped.size() == 1)
    out += text(" Rank %u still ran and was stopped.", stopped[0]);
  else if (!stopped.empty())
    out += text(" The %s%zu ranks%s were stopped.", fine || !likewise.empty() ? "" : "other ", stopped.size(),
                fine || !likewise.empty() ? " that still ran" : "");
  out += what_they_said(fates, first_failed);
  if (!first.advice.empty()) out += text("\n%s.", first.advice.c_str());
  return out;
}

std::string return_words(const std::vector<RankFate>& fates, unsigned first) {
  std::vector<unsigned> others;
  for (unsigned r = 0; r < fates.size(); ++r)
    if (r != first && fates[r].wait_status != 0) others.push_back(r);
  // Of a program without MPI the verdict does not mention MPI.
  const bool mpi = fates[first].state != launch::RankState::kAbsent;
  std::string out = text("%s %s%s.", who(fates, first).c_str(), how(fates[first]).c_str(),
                         mpi ? where_in_mpi(fates[first]).c_str() : "");
  if (!others.empty())
    out += text(" Rank%s %s did not return 0 either.", others.size() == 1 ? "" : "s", list_of(others).c_str());
  if (!fates[first].advice.empty()) out += text("\n%s.", fates[first].advice.c_str());
  return out;
}

}  // namespace ashlar::mpiexec
