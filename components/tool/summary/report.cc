#include "components/tool/summary/report.h"

#include <algorithm>
#include <set>
#include <vector>

#include "components/tool/common/advice.h"
#include "components/tool/common/text.h"
#include "framework/base/printable.h"

namespace ashlar::tool_summary {
namespace {

using namespace recording;

constexpr std::size_t kMostCalls = 8, kMostAdvice = 4, kMostWarnings = 3;

std::string programs(const Records& records) {
  std::set<std::string> names;
  for (const RankRecord& rank : records.ranks) names.insert(rank.program);
  const std::string first = names.empty() ? "" : printable(*names.begin());
  return names.size() > 1 ? text("%s and %zu more programs", first.c_str(), names.size() - 1) : first;
}

std::string spread(const char* name, const Spread& s) {
  return text("  %-10s min %-8s (rank %u)   mean %-8s   max %-8s (rank %u)", name, time_text(s.least).c_str(),
              s.least_rank, time_text(s.mean).c_str(), time_text(s.most).c_str(), s.most_rank);
}

std::string transports(const Figures& f) {
  std::string line =
      text("  messages   %s with %s", count_text(f.messages).c_str(), size_text(static_cast<double>(f.bytes)).c_str());
  for (const Transport& t : f.transports)
    line += text("%s %s %s in %s", &t == f.transports.data() ? ":" : ",", t.name.c_str(),
                 size_text(static_cast<double>(t.bytes)).c_str(), count_text(t.messages).c_str());
  return line;
}

std::string memory(const Spread& m) {
  if (m.ranks == 0) return "  memory     not known: no rank finalised MPI";
  return text("  memory     min %-8s (rank %u)   mean %-8s   max %-8s (rank %u)", size_text(m.least).c_str(),
              m.least_rank, size_text(m.mean).c_str(), size_text(m.most).c_str(), m.most_rank);
}

std::string call_line(const Records& records, const ProcedureFigures& p) {
  const Procedure& procedure = records.procedures[p.procedure];
  return text("  %-26s %12s %10s %9s %9s %9s (rank %u)", procedure.name.c_str(), count_text(p.total.calls).c_str(),
              tells_room(procedure) ? "-" : size_text(static_cast<double>(p.total.bytes())).c_str(),
              time_text(p.seconds.mean).c_str(), time_text(p.seconds.least).c_str(), time_text(p.seconds.most).c_str(),
              p.seconds.most_rank);
}

}  // namespace

std::string summary(const Records& records) {
  const Figures f(records);
  std::vector<std::string> lines;
  lines.push_back(text("summary of %s: %zu ranks on %s, %s", programs(records).c_str(), records.ranks.size(),
                       hosts_text(f.hosts).c_str(), time_text(records.seconds()).c_str()));
  if (f.clock_error > 0) lines[0] += ", clocks agree within " + time_text(f.clock_error);
  const std::vector<std::string> warnings = warnings_of(records, f);
  for (std::size_t i = 0; i < warnings.size() && i < kMostWarnings; ++i) lines.push_back("  note       " + warnings[i]);
  if (!f.ranks.empty()) {
    lines.push_back(spread("in MPI", f.in_mpi) + text("   %s", percent_text(f.part_in_mpi()).c_str()));
    lines.push_back(spread("computing", f.computing) + text("   load balance %.2f", f.load_balance));
    lines.push_back(transports(f));
    lines.push_back(memory(f.memory));
    lines.push_back(
        text("  %-26s %12s %10s %9s %9s %9s", "call, the slowest first", "calls", "bytes", "mean", "min", "max"));
    std::size_t shown = 0;
    for (const ProcedureFigures& p : f.procedures) {
      if (begins_mpi(records.procedures[p.procedure])) continue;
      if (++shown > kMostCalls) break;
      lines.push_back(call_line(records, p));
    }
    const std::vector<Advice> advice = advice_from(records, f);
    for (std::size_t i = 0; i < advice.size() && i < kMostAdvice; ++i) {
      lines.push_back((i == 0 ? "  try  " : "       ") + advice[i].finding);
      lines.push_back("         " + advice[i].parameter + ": " + advice[i].hint);
    }
  }
  std::string out;
  for (std::size_t i = 0; i < lines.size() && i < static_cast<std::size_t>(kMostLines); ++i) out += lines[i] + "\n";
  return out;
}

}  // namespace ashlar::tool_summary
