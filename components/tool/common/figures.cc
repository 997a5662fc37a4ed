#include "components/tool/common/figures.h"

#include <algorithm>
#include <string_view>

#include "components/tool/common/text.h"
#include "framework/base/printable.h"

namespace ashlar::recording {

void Spread::add(std::uint32_t rank, double value) {
  if (ranks == 0 || value < least) {
    least = value;
    least_rank = rank;
  }
  if (ranks == 0 || value > most) {
    most = value;
    most_rank = rank;
  }
  mean = (mean * ranks + value) / (ranks + 1);
  ++ranks;
}

bool begins_mpi(const Procedure& procedure) {
  const std::string_view name = procedure.name;
  return name == "MPI_Init" || name == "MPI_Init_thread" || name == "MPI_Session_init";
}

bool tells_room(const Procedure& procedure) {
  return (procedure.kind & ASHLAR_TOOL_RECEIVES) && (procedure.kind & (ASHLAR_TOOL_STARTS | ASHLAR_TOOL_PREPARES)) &&
         !(procedure.kind & ASHLAR_TOOL_SENDS);
}

double Figures::part_in_mpi() const {
  double all = 0, mpi = 0;
  for (const RankFigures& r : ranks) {
    all += r.seconds;
    mpi += r.in_mpi;
  }
  return all > 0 ? mpi / all : 0;
}

std::uint64_t Figures::variable(const char* name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? 0 : found->second;
}

namespace {

void add_transports(const RankRecord& rank, std::vector<Transport>* to) {
  for (const Transport& t : rank.transports) {
    const auto same =
        std::find_if(to->begin(), to->end(), [&](const Transport& other) { return other.name == t.name; });
    Transport& sum = same == to->end() ? to->emplace_back(Transport{.name = t.name}) : *same;
    sum.peers += t.peers;
    sum.messages += t.messages;
    sum.bytes += t.bytes;
  }
}

void add_protocols(const RankRecord& rank, std::vector<Protocol>* to) {
  for (const Protocol& p : rank.protocols) {
    if (p.messages == 0) continue;
    const auto same = std::find_if(to->begin(), to->end(), [&](const Protocol& other) { return other.name == p.name; });
    Protocol& sum = same == to->end() ? to->emplace_back(Protocol{.name = p.name}) : *same;
    sum.messages += p.messages;
    sum.bytes += p.bytes;
  }
}

RankFigures figures_of(const Records& records, const RankRecord& rank) {
  RankFigures f{.rank = rank.rank};
  f.seconds = std::max(rank.ended - rank.began, 0.0) * 1e-9 * std::max(rank.threads, 1u);
  for (std::size_t p = 0; p < records.procedures.size(); ++p) {
    for (const CallTotal& total : rank.totals[p]) {
      f.calls += total.calls;
      if (!begins_mpi(records.procedures[p])) f.in_mpi += total.seconds;
    }
  }
  f.in_mpi = std::min(f.in_mpi, f.seconds);
  f.computing = f.seconds - f.in_mpi;
  for (const Peer& peer : rank.peers) {
    f.messages += peer.messages;
    f.bytes += peer.bytes;
  }
  return f;
}

/// Each host's clock is compared with that of mpiexec: times of two hosts differ by what both may be wrong.
void add_hosts(const Records& records, Figures* to) {
  std::vector<double> errors;
  for (const RankRecord& rank : records.ranks) {
    const auto found = std::find(to->hosts.begin(), to->hosts.end(), rank.host);
    const auto host = static_cast<std::size_t>(found - to->hosts.begin());
    if (found == to->hosts.end()) {
      to->hosts.push_back(rank.host);
      errors.push_back(0);
    }
    errors[host] = std::max(errors[host], rank.clock_error * 1e-9);
  }
  std::sort(errors.rbegin(), errors.rend());
  for (std::size_t i = 0; i < std::min<std::size_t>(errors.size(), 2); ++i) to->clock_error += errors[i];
}

}  // namespace

std::string hosts_text(const std::vector<std::string>& hosts) {
  if (hosts.empty()) return "";
  const std::string first = printable(hosts[0]);
  if (hosts.size() <= 1) return first;
  return hosts.size() == 2 ? first + " and " + printable(hosts[1])
                           : text("%s and %zu more hosts", first.c_str(), hosts.size() - 1);
}

Figures::Figures(const Records& records) {
  std::vector<ProcedureFigures> all(records.procedures.size());
  add_hosts(records, this);
  for (const RankRecord& rank : records.ranks) {
    if (!rank.present) continue;
    const RankFigures& f = ranks.emplace_back(figures_of(records, rank));
    in_mpi.add(rank.rank, f.in_mpi);
    computing.add(rank.rank, f.computing);
    if (rank.memory_peak > 0) memory.add(rank.rank, static_cast<double>(rank.memory_peak));
    seconds = std::max(seconds, f.seconds);
    calls += f.calls;
    messages += f.messages;
    bytes += f.bytes;
    dropped += rank.dropped;
    unplaced += rank.unplaced;
    calls_recorded += rank.calls_recorded;
    calls_kept += rank.calls_kept;
    add_transports(rank, &transports);
    add_protocols(rank, &protocols);
    for (const auto& [name, value] : rank.variables) variables[name] += value;
    for (std::uint32_t p = 0; p < all.size(); ++p) {
      CallTotal sum;
      for (const CallTotal& total : rank.totals[p]) sum.add(total);
      if (sum.calls == 0) continue;
      all[p].procedure = p;
      all[p].total.add(sum);
      all[p].seconds.add(rank.rank, sum.seconds);
    }
  }
  if (computing.most > 0) load_balance = computing.mean / computing.most;
  for (const ProcedureFigures& p : all)
    if (p.total.calls > 0) procedures.push_back(p);
  std::stable_sort(procedures.begin(), procedures.end(), [](const ProcedureFigures& a, const ProcedureFigures& b) {
    return a.total.seconds > b.total.seconds;
  });
}

}  // namespace ashlar::recording
