// How the buffer is laid out, and which calls are recorded in it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "components/tool/common/recorder.h"
#include "framework/base/error_class.h"

namespace ashlar::recording {
namespace {

const ashlar_tool_procedure& procedure_at(const ashlar_tool_context& context, std::uint32_t number) {
  // Rows may be longer than those this file was compiled with.
  const auto* const rows = reinterpret_cast<const std::byte*>(context.procedures);
  return *reinterpret_cast<const ashlar_tool_procedure*>(rows + std::size_t{number} * context.procedure_bytes);
}

const ashlar_tool_event_type& event_type_at(const ashlar_tool_context& context, std::uint32_t number) {
  const auto* const rows = reinterpret_cast<const std::byte*>(context.event_types);
  return *reinterpret_cast<const ashlar_tool_event_type*>(rows + std::size_t{number} * context.event_type_bytes);
}

/// Finds the number of a field by its name.
bool field(const ashlar_tool_event_type& type, std::string_view name, std::uint32_t* number) {
  for (*number = 0; type.fields[*number]; ++*number)
    if (name == type.fields[*number]) return true;
  return false;
}

/// Copies the words of an event type to rows with names; returns how many there are.
template <class Row>
std::uint32_t write_words(const ashlar_tool_event_type& type, Row* rows, std::uint32_t most) {
  std::uint32_t count = 0;
  for (; type.words && type.words[count] && count < most; ++count)
    std::snprintf(rows[count].name, sizeof rows[count].name, "%s", type.words[count]);
  return count;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool polls(std::string_view name) {
  return name.starts_with("MPI_Test") || name.starts_with("MPI_Request_get_status") ||
         is_one_of(name, {"MPI_Iprobe", "MPI_Improbe", "MPI_Parrived"});
}

/// Calls after `word` by `call(word)`, for each word of a list such as "a,b".
template <class Call>
void each_word(std::string_view list, Call call) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) call(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

/// Gives out the bytes of the buffer one after the other.
class Places {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t at = used_;
    used_ = (used_ + bytes + 63) / 64 * 64;
    return at;
  }
  std::uint64_t used() const { return used_; }

 private:
  std::uint64_t used_ = 0;
};

std::uint64_t shard_bytes(const Head& head) {
  const std::uint64_t bytes =
      sizeof(Shard) + head.procedures * kSizeClasses * sizeof(Total) + head.peers * sizeof(Peer);
  return (bytes + 63) / 64 * 64;
}

/// Fills in the offsets; returns the bytes before the ring.
std::uint64_t place(Head& head) {
  Places places;
  places.take(sizeof(Head));
  head.procedure_rows = places.take(head.procedures * sizeof(ProcedureRow));
  head.comm_rows = places.take(kMostComms * sizeof(CommRow));
  head.open_calls = places.take(kOpenCalls * sizeof(OpenCall));
  head.algorithm_rows = places.take(Span::kMostAlgorithms * sizeof(AlgorithmRow));
  head.protocol_rows = places.take(Span::kMostProtocols * sizeof(ProtocolRow));
  head.variable_rows = places.take(kMostVariables * sizeof(VariableRow));
  head.transport_rows = places.take(kMostTransports * sizeof(TransportRow));
  head.decisions = places.take(kDecisionBytes);
  head.shard_bytes = shard_bytes(head);
  head.shard_rows = places.take(head.shards * head.shard_bytes);
  head.chunk_rows = places.used();
  return places.used();
}

}  // namespace

bool CallFilter::takes(const ashlar_tool_procedure& procedure) const {
  constexpr std::uint32_t kMoves = ASHLAR_TOOL_SENDS | ASHLAR_TOOL_RECEIVES | ASHLAR_TOOL_COLLECTIVE |
                                   ASHLAR_TOOL_STARTS | ASHLAR_TOOL_PREPARES | ASHLAR_TOOL_COMPLETES;
  const std::string_view name = procedure.name, chapter = procedure.chapter;
  bool found = false;
  each_word(words_, [&](std::string_view word) {
    if (word == "all" || word == name) found = true;
    if (word != "communication" || found) return;
    found = (procedure.kind & kMoves) ||
            is_one_of(chapter, {"pt2pt", "partitioned", "request", "rma", "io", "spawn"}) ||
            (is_one_of(chapter, {"comm", "topo"}) &&
             (name.find("_create") != name.npos || name.find("_dup") != name.npos || name.find("_split") != name.npos ||
              name.ends_with("_merge") || is_one_of(name, {"MPI_Comm_free", "MPI_Comm_disconnect"}))) ||
            is_one_of(name, {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Session_init", "MPI_Session_finalize",
                             "MPI_Abort", "MPI_Comm_set_name", "MPI_Buffer_detach", "MPI_Pcontrol"});
  });
  return found;
}

std::string CallFilter::unknown_word(const ashlar_tool_context& context) const {
  std::string unknown;
  each_word(words_, [&](std::string_view word) {
    if (is_one_of(word, {"all", "communication"})) return;
    for (std::uint32_t i = 0; i < context.procedure_count; ++i)
      if (word == procedure_at(context, i).name) return;
    if (unknown.empty()) unknown = word;
  });
  return unknown;
}

std::uint32_t Recorder::find_wanted(const ashlar_tool_context& context, const CallFilter& filter) {
  std::uint32_t rows = 0;
  facts_.assign(context.procedure_count, {});
  for (std::uint32_t i = 0; i < context.procedure_count; ++i) {
    const ashlar_tool_procedure& p = procedure_at(context, i);
    if (!filter.takes(p) || rows == Span::kMostProcedures) continue;
    const std::string_view name = p.name;
    ProcedureFacts& facts = facts_[i];
    facts = {.wanted = true,
             .sends = (p.kind & ASHLAR_TOOL_SENDS) && !(p.kind & ASHLAR_TOOL_PREPARES),
             .polls = polls(name),
             .starts = is_one_of(name, {"MPI_Start", "MPI_Startall"}),
             .prepares_send = (p.kind & ASHLAR_TOOL_SENDS) && (p.kind & ASHLAR_TOOL_PREPARES),
             .frees = name == "MPI_Request_free",
             .names = name == "MPI_Comm_set_name",
             .begins = is_one_of(name, {"MPI_Init", "MPI_Init_thread", "MPI_Session_init"}),
             .row = static_cast<std::uint16_t>(rows),
             .first_total = rows * kSizeClasses};
    ++rows;
    if ((p.kind & ASHLAR_TOOL_COLLECTIVE) || facts.starts) facts.algorithm_mask = 0xff;
    facts.special = facts.starts || facts.prepares_send || facts.frees || facts.names || facts.begins;
  }
  return rows;
}

// Two types tell of single calls what their arguments do not.
void Recorder::find_events(const ashlar_tool_context& context) {
  head_->algorithms = head_->protocols = 0;
  events_.assign(context.event_type_count, {});
  for (std::uint32_t number = 0; number < context.event_type_count; ++number) {
    const ashlar_tool_event_type& type = event_type_at(context, number);
    const std::string_view name = type.name;
    Event& event = events_[number];
    if (name == "coll.begin" && field(type, "algorithm", &event.word)) {
      event.kind = Event::kCollective;
      head_->algorithms = write_words(type, at<AlgorithmRow>(head_->algorithm_rows), Span::kMostAlgorithms);
    } else if (name == "p2p.rendezvous_end" && field(type, "how", &event.word) && field(type, "bytes", &event.bytes)) {
      event.kind = Event::kRendezvous;
      head_->protocols = write_words(type, at<ProtocolRow>(head_->protocol_rows), Span::kMostProtocols);
    }
  }
}

void Recorder::write_rows(const ashlar_tool_context& context) {
  auto* const rows = at<ProcedureRow>(head_->procedure_rows);
  for (std::uint32_t i = 0; i < context.procedure_count; ++i) {
    if (!facts_[i].wanted) continue;
    const ashlar_tool_procedure& p = procedure_at(context, i);
    ProcedureRow& row = rows[facts_[i].row];
    std::snprintf(row.name, sizeof row.name, "%s", p.name);
    std::snprintf(row.chapter, sizeof row.chapter, "%s", p.chapter);
    row.kind = p.kind;
  }
}

ashlar_result Recorder::open(const ashlar_host& host, const ashlar_tool_context& context, const CallFilter& filter,
                             const RingPlan& ring) {
  if (const std::string word = filter.unknown_word(context); !word.empty()) {
    const ashlar_fact facts[] = {{.name = "value", .text = word.c_str(), .number = 0}};
    return ashlar_fail_with(&host, kErrArg, "tool.unknown_call", facts, std::size(facts));
  }
  Head head{};
  head.rank = context.rank;
  head.ranks = context.ranks;
  head.procedures = find_wanted(context, filter);
  head.shards = kMostShards;
  head.ranks_per_peer = 1;
  head.peers = context.ranks;
  // A ring wants the larger half of the buffer. Fewer shards come first: they cost threads some time, and no fact.
  const std::uint64_t room = ring.kept ? context.buffer_bytes / 2 : context.buffer_bytes;
  while (place(head) > room && head.shards > 1) head.shards /= 2;
  while (place(head) > room && head.peers > 64) {
    head.ranks_per_peer *= 2;
    head.peers = (context.ranks + head.ranks_per_peer - 1) / head.ranks_per_peer;
  }
  const std::uint64_t needed = place(head);
  const std::uint64_t rest = context.buffer_bytes > needed ? context.buffer_bytes - needed : 0;
  head.chunks = ring.kept ? static_cast<std::uint32_t>(std::min<std::uint64_t>(rest / sizeof(Chunk), UINT32_MAX)) : 0;
  const std::uint64_t least = needed + (ring.kept ? 2 * kMostShards * sizeof(Chunk) : 0);
  if (!context.buffer || context.buffer_bytes < least) {
    const ashlar_fact facts[] = {{.name = "wanted", .text = nullptr, .number = static_cast<std::int64_t>(least)},
                                 {.name = "bytes",
                                  .text = nullptr,
                                  .number = context.buffer ? static_cast<std::int64_t>(context.buffer_bytes) : 0}};
    return ashlar_fail_with(&host, kErrOther, "tool.buffer_small", facts, std::size(facts));
  }
  context_ = &context;
  base_ = static_cast<std::byte*>(context.buffer);
  // The memory is zero, which is the state of every atomic in it.
  head_ = static_cast<Head*>(context.buffer);
  std::memcpy(static_cast<void*>(head_), &head, sizeof head);
  comms_ = at<CommRow>(head_->comm_rows);
  open_ = at<OpenCall>(head_->open_calls);
  chunks_ = head_->chunks ? at<Chunk>(head_->chunk_rows) : nullptr;
  own_shards_ = head_->shards - 1;
  for (std::uint32_t i = 0; i < own_shards_; ++i) own_[i] = &shard(i);
  write_rows(context);
  if (ring.kept) find_events(context);
  populated_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(ring.populated / sizeof(Chunk), head_->chunks));
  if (populated_ > 0) populate(0, populated_);
  head_->comms.store(1);
  context.clock(&head_->begin);
  head_->complete.store(kMagic, std::memory_order_release);
  return ASHLAR_OK;
}

}  // namespace ashlar::recording
