#include "components/tool/common/reader.h"

#include <algorithm>
#include <cstring>

#include "framework/base/clock.h"

namespace ashlar::recording {
namespace {

template <class T>
const T* at(const Head& head, std::uint64_t offset) {
  return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(&head) + offset);
}

const Shard& shard_of(const Head& head, std::uint32_t index) {
  return *at<Shard>(head, head.shard_rows + index * head.shard_bytes);
}
const Total* totals_of(const Shard& shard) { return reinterpret_cast<const Total*>(&shard + 1); }
const Peer* peers_of(const Head& head, const Shard& shard) {
  return reinterpret_cast<const Peer*>(totals_of(shard) + std::size_t{head.procedures} * kSizeClasses);
}

template <std::size_t N>
std::string string_of(const char (&text)[N]) {
  return {text, strnlen(text, N)};
}

/// Whether `count` rows of `bytes` each lie in the buffer at `offset`.
bool inside(std::uint64_t buffer, std::uint64_t offset, std::uint64_t count, std::uint64_t bytes) {
  return offset % 8 == 0 && offset <= buffer && count <= (buffer - offset) / bytes;
}

/// A program may have written over the records; then they are not read at all.
bool can_be_read(const Head& head, std::uint64_t buffer) {
  constexpr std::uint32_t kMostProcedures = 65535;
  return head.complete.load(std::memory_order_acquire) == kMagic && head.procedures <= kMostProcedures &&
         head.shards <= kMostShards && head.ranks_per_peer > 0 && head.peers <= buffer / sizeof(Peer) &&
         inside(buffer, head.procedure_rows, head.procedures, sizeof(ProcedureRow)) &&
         inside(buffer, head.comm_rows, kMostComms, sizeof(CommRow)) &&
         inside(buffer, head.open_calls, kOpenCalls, sizeof(OpenCall)) && head.algorithms <= Span::kMostAlgorithms &&
         head.protocols <= Span::kMostProtocols &&
         inside(buffer, head.algorithm_rows, Span::kMostAlgorithms, sizeof(AlgorithmRow)) &&
         inside(buffer, head.protocol_rows, Span::kMostProtocols, sizeof(ProtocolRow)) &&
         inside(buffer, head.variable_rows, kMostVariables, sizeof(VariableRow)) &&
         inside(buffer, head.transport_rows, kMostTransports, sizeof(TransportRow)) &&
         inside(buffer, head.decisions, kDecisionBytes, 1) &&
         head.shard_bytes >=
             sizeof(Shard) + head.procedures * kSizeClasses * sizeof(Total) + head.peers * sizeof(Peer) &&
         inside(buffer, head.shard_rows, head.shards, head.shard_bytes) &&
         inside(buffer, head.chunk_rows, head.chunks, sizeof(Chunk));
}

std::vector<DecisionText> decisions_of(const Head& head) {
  std::vector<DecisionText> found;
  const char* text = at<char>(head, head.decisions);
  const char* const end = text + std::min(head.decision_bytes.load(), kDecisionBytes);
  while (text < end) {
    DecisionText& d = found.emplace_back();
    for (std::string* part : {&d.topic, &d.subject, &d.chosen, &d.because, &d.lost, &d.setting}) {
      *part = std::string(text, strnlen(text, static_cast<std::size_t>(end - text)));
      text = std::min(text + part->size() + 1, end);
    }
  }
  return found;
}

}  // namespace

std::string RankRecord::note(std::uint8_t algorithm, std::uint8_t protocol) const {
  std::string note;
  if (algorithm > 0 && algorithm <= algorithms.size()) note = algorithms[algorithm - 1u];
  if (protocol > 0 && protocol <= protocols.size())
    note += (note.empty() ? "rendezvous, " : "; rendezvous, ") + protocols[protocol - 1u].name;
  return note;
}

void CallTotal::add(const CallTotal& other) {
  calls += other.calls;
  bytes_out += other.bytes_out;
  bytes_in += other.bytes_in;
  seconds += other.seconds;
  most_seconds = std::max(most_seconds, other.most_seconds);
}

Records::Records(const ashlar_tool_job& job) : job_(job) {
  ranks.resize(job.ranks);
  index_of_.resize(job.ranks);
  for (std::uint32_t i = 0; i < job.ranks; ++i) read_rank(i);
  for (RankRecord& rank : ranks) rank.totals.resize(procedures.size());
}

const ashlar_tool_rank& Records::rank_at(std::uint32_t rank) const {
  // Rows may be longer than those this file was compiled with.
  return *reinterpret_cast<const ashlar_tool_rank*>(reinterpret_cast<const std::byte*>(job_.rank) +
                                                    std::size_t{rank} * job_.rank_bytes);
}

const Head* Records::head_of(std::uint32_t rank) const {
  const ashlar_tool_rank& row = rank_at(rank);
  const auto* const head = static_cast<const Head*>(row.buffer);
  return head && row.buffer_bytes >= sizeof(Head) && can_be_read(*head, row.buffer_bytes) ? head : nullptr;
}

/// Nanoseconds since the job began, of a time of the rank's host.
double Records::job_time(const ashlar_tool_host_clock& of, std::uint64_t host_ns) const {
  const auto apart = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(static_cast<std::int64_t>(a - b));
  };
  if (of.rate == 0) return apart(host_ns, job_.began_ns);
  return apart(of.here_ns, job_.began_ns) + apart(host_ns, of.there_ns) * of.rate;
}

// The rate of the processor's counter is found from two moments that lie apart. A rank that was killed has no second
// one; the counter runs on, and is the same for all processes of the node, so this process can read it instead. Of
// another host, mpiexec there has read it.
Records::Clock Records::clock_of(std::uint32_t rank, const Head& head) const {
  constexpr std::uint64_t kApart = 10'000'000;
  const ashlar_tool_host_clock& host = rank_at(rank).clock;
  Clock clock{.ticks = head.begin.ticks, .ns = job_time(host, head.begin.ns)};
  std::uint64_t ns = head.end_ns.load(std::memory_order_acquire), moment = head.end_ticks.load();
  if (ns < head.begin.ns + kApart || moment <= head.begin.ticks) {
    const Moment now = host.rate == 0 ? moment_now() : Moment{.ticks = host.counter.ticks, .ns = host.counter.ns};
    moment = now.ticks;
    ns = now.ns;
  }
  if (ns > head.begin.ns && moment > head.begin.ticks)
    clock.ns_per_tick = static_cast<double>(ns - head.begin.ns) / static_cast<double>(moment - head.begin.ticks);
  if (host.rate != 0) clock.ns_per_tick *= host.rate;
  return clock;
}

std::uint32_t Records::procedure_index(const ProcedureRow& row) {
  const auto [found, added] = by_name_.try_emplace(string_of(row.name), static_cast<std::uint32_t>(procedures.size()));
  if (added) procedures.push_back({.name = found->first, .chapter = string_of(row.chapter), .kind = row.kind});
  return found->second;
}

void Records::read_rank(std::uint32_t rank) {
  const ashlar_tool_rank& row = rank_at(rank);
  RankRecord& to = ranks[rank];
  to.rank = rank;
  to.finalized = row.finalized;
  to.exit_status = row.exit_status;
  to.running = row.running;
  to.host = row.host ? row.host : "";
  to.program = row.program ? row.program : "";
  const Head* const head = head_of(rank);
  if (!head) return;
  to.present = true;
  const Clock clock = clock_of(rank, *head);
  to.clock_error = row.clock.rate == 0 ? 0 : static_cast<double>(row.clock.error_ns);
  to.threads = head->threads.load();
  to.dropped = head->dropped.load();
  to.unplaced = head->unplaced.load();
  const std::uint64_t initialised = head->initialised_ticks.load();
  to.began = initialised ? clock.at(initialised) : clock.ns;
  const std::uint64_t ended = head->end_ns.load();
  to.ended = ended ? job_time(row.clock, ended) : job_time({}, job_.ended_ns);
  read_totals(*head, clock, &to);
  const std::uint32_t comms = std::min(head->comms.load(std::memory_order_acquire), kMostComms);
  for (std::uint32_t i = 0; i < comms; ++i) {
    const CommRow& comm = at<CommRow>(*head, head->comm_rows)[i];
    to.comms.push_back({.id = comm.id, .size = comm.size, .name = string_of(comm.name)});
    if (comm.id == UINT64_MAX) to.comms.back().name = "(further communicators)";
  }
  for (std::uint32_t i = 0; i < head->algorithms; ++i)
    to.algorithms.push_back(string_of(at<AlgorithmRow>(*head, head->algorithm_rows)[i].name));
  for (std::uint32_t i = 0; i < head->protocols; ++i) {
    const ProtocolRow& p = at<ProtocolRow>(*head, head->protocol_rows)[i];
    to.protocols.push_back({.name = string_of(p.name), .messages = p.messages.load(), .bytes = p.bytes.load()});
  }
  read_open(*head, clock, &to);
  read_end(*head, &to);
}

void Records::read_totals(const Head& head, const Clock& clock, RankRecord* to) {
  std::vector<std::uint32_t>& index = index_of_[to->rank];
  const auto* const rows = at<ProcedureRow>(head, head.procedure_rows);
  for (std::uint32_t i = 0; i < head.procedures; ++i) {
    index.push_back(procedure_index(rows[i]));
    if (index[i] >= to->totals.size()) to->totals.resize(index[i] + 1);
  }
  to->ranks_per_peer = head.ranks_per_peer;
  to->peers.resize(head.peers);
  const double seconds = clock.ns_per_tick * 1e-9;
  for (std::uint32_t s = 0; s < head.shards; ++s) {
    const Shard& shard = shard_of(head, s);
    to->calls_recorded += shard.spans;
    for (std::uint32_t i = 0; i < head.procedures; ++i) {
      for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
        const Total& total = totals_of(shard)[i * kSizeClasses + c];
        if (total.calls == 0) continue;
        to->totals[index[i]][c].add({.calls = total.calls,
                                     .bytes_out = total.bytes_out,
                                     .bytes_in = total.bytes_in,
                                     .seconds = static_cast<double>(total.ticks) * seconds,
                                     .most_seconds = static_cast<double>(total.most_ticks) * seconds});
      }
    }
    for (std::uint32_t p = 0; p < head.peers; ++p) {
      to->peers[p].messages += peers_of(head, shard)[p].messages;
      to->peers[p].bytes += peers_of(head, shard)[p].bytes;
    }
  }
  for (std::uint32_t i = 0; i < head.chunks; ++i)
    to->calls_kept += std::min(at<Chunk>(head, head.chunk_rows)[i].count.load(), kSpansOfChunk);
}

void Records::read_open(const Head& head, const Clock& clock, RankRecord* to) {
  const auto* const rows = at<OpenCall>(head, head.open_calls);
  for (std::uint32_t i = 0; i < kOpenCalls; ++i) {
    const std::uint64_t began = rows[i].began.load(std::memory_order_acquire);
    if (began == 0 || rows[i].procedure >= head.procedures) continue;
    TimedCall call{.began = clock.at(began),
                   .took = 0,
                   .bytes = rows[i].bytes,
                   .thread = rows[i].thread,
                   .procedure = index_of_[to->rank][rows[i].procedure],
                   .comm = 0,
                   .peer = rows[i].peer};
    call.took = std::max(to->ended - call.began, 0.0);
    for (std::uint32_t c = 1; c < to->comms.size(); ++c)
      if (to->comms[c].id == rows[i].comm) call.comm = c;
    to->in_progress.push_back(call);
    CallTotal& total = to->totals[call.procedure][size_class(call.bytes)];
    total.add(
        {.calls = 1, .bytes_out = 0, .bytes_in = 0, .seconds = call.took * 1e-9, .most_seconds = call.took * 1e-9});
  }
}

void Records::read_end(const Head& head, RankRecord* to) {
  const std::uint32_t variables = std::min(head.variables.load(), kMostVariables);
  for (std::uint32_t i = 0; i < variables; ++i) {
    const VariableRow& row = at<VariableRow>(head, head.variable_rows)[i];
    to->variables[string_of(row.name)] = row.value;
  }
  const std::uint32_t transports = std::min(head.transports.load(), kMostTransports);
  for (std::uint32_t i = 0; i < transports; ++i) {
    const TransportRow& row = at<TransportRow>(head, head.transport_rows)[i];
    to->transports.push_back(
        {.name = string_of(row.name), .peers = row.peers, .messages = row.messages, .bytes = row.bytes});
  }
  to->memory_peak = head.memory_peak.load();
  if (to->rank != 0) return;
  decisions = decisions_of(head);
  decisions_left_out = head.decisions_left_out.load();
}

std::vector<TimedCall> Records::calls_of(std::uint32_t rank) const {
  std::vector<TimedCall> calls;
  const Head* const head = head_of(rank);
  if (!head) return calls;
  const Clock clock = clock_of(rank, *head);
  const RankRecord& facts = ranks[rank];
  calls.reserve(facts.calls_kept);
  for (std::uint32_t i = 0; i < head->chunks; ++i) {
    const Chunk& chunk = at<Chunk>(*head, head->chunk_rows)[i];
    const std::uint32_t count = std::min(chunk.count.load(std::memory_order_acquire), kSpansOfChunk);
    for (std::uint32_t s = 0; s < count; ++s) {
      const Span::Facts span = chunk.spans[s].facts(chunk.base);
      if (span.procedure >= head->procedures) continue;
      calls.push_back({.began = clock.at(span.began),
                       .took = static_cast<double>(span.ticks) * clock.ns_per_tick,
                       .bytes = span.bytes,
                       .thread = span.thread,
                       .procedure = index_of_[rank][span.procedure],
                       .comm = span.comm < facts.comms.size() ? span.comm : 0u,
                       .peer = span.peer,
                       .algorithm = span.algorithm,
                       .protocol = span.protocol});
    }
  }
  std::sort(calls.begin(), calls.end(), [](const TimedCall& a, const TimedCall& b) { return a.began < b.began; });
  return calls;
}

}  // namespace ashlar::recording
