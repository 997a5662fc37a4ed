#include "components/tool/trace/document.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "components/tool/common/advice.h"
#include "components/tool/trace/json_writer.h"
#include "components/tool/trace/timeline.h"

namespace ashlar::tool_trace {
namespace {

using namespace recording;

constexpr std::size_t kLastCalls = 25;  // of a rank that did not finalise MPI
constexpr std::size_t kMostUnfinished = 64;

/// Communicators of the whole job. Ranks number theirs by themselves.
class Communicators {
 public:
  explicit Communicators(const Records& records) {
    index_of_.resize(records.ranks.size());
    for (const RankRecord& rank : records.ranks) {
      for (const CommFacts& comm : rank.comms) {
        const auto [found, added] = known_.try_emplace({comm.id, comm.size, comm.name}, list_.size());
        if (added) list_.push_back(comm);
        index_of_[rank.rank].push_back(found->second);
      }
    }
  }
  std::size_t index(std::uint32_t rank, std::uint32_t comm) const {
    return comm < index_of_[rank].size() ? index_of_[rank][comm] : 0;
  }
  const std::vector<CommFacts>& list() const { return list_; }

 private:
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::string>, std::size_t> known_;
  std::vector<CommFacts> list_;
  std::vector<std::vector<std::size_t>> index_of_;
};

/// What the library did in calls: texts that bars index, the empty one first.
class Notes {
 public:
  std::size_t index(const RankRecord& rank, const Bar& bar) {
    if (bar.algorithm == 0 && bar.protocol == 0) return 0;
    const auto [found, added] = index_of_.try_emplace(rank.note(bar.algorithm, bar.protocol), texts_.size());
    if (added) texts_.push_back(found->first);
    return found->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_{""};
  std::map<std::string, std::size_t> index_of_{{"", 0}};
};

void write_job(JsonWriter& json, const Records& records, const Figures& f) {
  const ashlar_tool_job& job = records.job();
  json.key("job").object();
  json.member("id", job.job_id ? job.job_id : "");
  json.member("host", records.ranks.empty() ? "" : records.ranks[0].host);
  json.key("hosts").array();
  for (const std::string& host : f.hosts) json.value(host);
  json.end_array().member("clock_error", f.clock_error);
  json.member("program", records.ranks.empty() ? "" : records.ranks[0].program);
  json.member("ranks", records.ranks.size()).member("seconds", records.seconds());
  json.member("exit_status", job.exit_status);
  json.member("in_mpi", f.part_in_mpi()).member("load_balance", f.load_balance);
  json.member("calls", f.calls).member("messages", f.messages).member("bytes", f.bytes);
  json.end_object();
}

void write_words(JsonWriter& json, const Records& records, const Figures& f) {
  json.key("warnings").array();
  for (const std::string& warning : warnings_of(records, f)) json.value(warning);
  json.end_array().key("advice").array();
  for (const Advice& a : advice_from(records, f))
    json.object().member("finding", a.finding).member("parameter", a.parameter).member("hint", a.hint).end_object();
  json.end_array();
}

const char* kind_of(const Procedure& p) {
  if (p.kind & ASHLAR_TOOL_COLLECTIVE) return "collective";
  if (p.kind & ASHLAR_TOOL_COMPLETES) return "completion";
  if ((p.kind & ASHLAR_TOOL_SENDS) && (p.kind & ASHLAR_TOOL_RECEIVES)) return "exchange";
  if (p.kind & ASHLAR_TOOL_SENDS) return "send";
  if (p.kind & ASHLAR_TOOL_RECEIVES) return "receive";
  return "other";
}

void write_spread(JsonWriter& json, const char* name, const Spread& s) {
  json.key(name).object().member("least", s.least).member("least_rank", s.least_rank).member("mean", s.mean);
  json.member("most", s.most).member("most_rank", s.most_rank).end_object();
}

void write_calls(JsonWriter& json, const Records& records, const Figures& f) {
  json.key("calls").array();
  for (const Procedure& p : records.procedures)
    json.object().member("name", p.name).member("chapter", p.chapter).member("kind", kind_of(p)).end_object();
  json.end_array().key("size_classes").array();
  for (std::uint32_t c = 0; c + 1 < kSizeClasses; ++c) json.value(most_of_class(c));
  json.null().end_array().key("totals").array();
  for (const ProcedureFigures& p : f.procedures) {
    json.object().member("call", p.procedure).member("calls", p.total.calls).member("bytes_out", p.total.bytes_out);
    json.member("bytes_in", p.total.bytes_in).member("room", tells_room(records.procedures[p.procedure]));
    json.member("seconds", p.total.seconds).member("longest", p.total.most_seconds);
    write_spread(json, "of_ranks", p.seconds);
    json.key("sizes").array();
    for (std::uint32_t c = 0; c < kSizeClasses; ++c) {
      CallTotal sum;
      for (const RankRecord& rank : records.ranks)
        if (p.procedure < rank.totals.size()) sum.add(rank.totals[p.procedure][c]);
      if (sum.calls == 0) continue;
      json.object().member("class", c).member("calls", sum.calls).member("bytes", sum.bytes());
      json.member("seconds", sum.seconds).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_call(JsonWriter& json, const Communicators& comms, const RankRecord& rank, const TimedCall& call) {
  json.object().member("call", call.procedure).member("began", call.began * 1e-9).member("seconds", call.took * 1e-9);
  json.member("thread", call.thread).member("bytes", call.bytes).member("comm", comms.index(rank.rank, call.comm));
  json.member("peer", std::max(call.peer, -1)).member("note", rank.note(call.algorithm, call.protocol)).end_object();
}

void write_ranks(JsonWriter& json, const Records& records, const Figures& f, const Communicators& comms) {
  json.key("ranks").array();
  std::size_t unfinished = 0;
  for (const RankFigures& figures : f.ranks) {
    const RankRecord& rank = records.ranks[figures.rank];
    json.object().member("rank", rank.rank).member("host", rank.host).member("program", rank.program);
    json.member("finalized", rank.finalized).member("wait_status", rank.exit_status).member("threads", rank.threads);
    json.member("began", rank.began * 1e-9).member("ended", rank.ended * 1e-9).member("seconds", figures.seconds);
    json.member("in_mpi", figures.in_mpi).member("computing", figures.computing).member("calls", figures.calls);
    json.member("messages", figures.messages).member("bytes", figures.bytes).member("memory", rank.memory_peak);
    json.member("lost", rank.calls_recorded - std::min(rank.calls_kept, rank.calls_recorded));
    if (!rank.finalized && ++unfinished <= kMostUnfinished) {
      json.key("in_progress").array();
      for (const TimedCall& call : rank.in_progress) write_call(json, comms, rank, call);
      json.end_array().key("last_calls").array();
      const std::vector<TimedCall> all = records.calls_of(rank.rank);
      for (std::size_t i = all.size() - std::min(all.size(), kLastCalls); i < all.size(); ++i)
        write_call(json, comms, rank, all[i]);
      json.end_array();
    }
    json.end_object();
  }
  json.end_array();
}

/// Messages of the program from rank to rank; where there are more ranks than cells, from group to group.
void write_matrix(JsonWriter& json, const Records& records, std::size_t most) {
  std::size_t fold = 1;
  for (const RankRecord& rank : records.ranks) fold = std::max<std::size_t>(fold, rank.ranks_per_peer);
  const std::size_t wanted = (records.ranks.size() + most - 1) / most;
  const std::size_t per_cell = fold * ((wanted + fold - 1) / fold);
  const std::size_t side = (records.ranks.size() + per_cell - 1) / per_cell;
  json.key("matrix").object().member("ranks_per_cell", per_cell).member("side", side).key("cells").array();
  for (std::size_t row = 0; row < side; ++row) {
    std::vector<Peer> cells(side);
    for (std::size_t r = row * per_cell; r < std::min((row + 1) * per_cell, records.ranks.size()); ++r) {
      const RankRecord& rank = records.ranks[r];
      for (std::size_t p = 0; p < rank.peers.size(); ++p) {
        const std::size_t cell = p * rank.ranks_per_peer / per_cell;
        if (cell >= side) continue;
        cells[cell].messages += rank.peers[p].messages;
        cells[cell].bytes += rank.peers[p].bytes;
      }
    }
    for (std::size_t c = 0; c < side; ++c)
      if (cells[c].messages > 0)
        json.array().value(row).value(c).value(cells[c].messages).value(cells[c].bytes).end_array();
  }
  json.end_array().end_object();
}

template <class Value>
void write_column(JsonWriter& json, const char* name, const std::vector<Bar>& bars, Value value) {
  json.key(name).array();
  for (const Bar& bar : bars) json.value(value(bar));
  json.end_array();
}

void write_timeline(JsonWriter& json, const Records& records, const Figures& f, const Communicators& comms,
                    const Limits& limits) {
  const Timeline timeline = timeline_of(records, f, limits.ranks, limits.bars);
  std::size_t bars = 0;
  for (const RankTimeline& rank : timeline.ranks) bars += rank.bars.size();
  double unit = 1;  // fewer digits where there are many numbers
  while (bars > 20'000 && records.seconds() * 1e9 / unit > 2e7) unit *= 10;
  Notes notes;
  json.key("timeline").object().member("unit_ns", unit).member("interval_ns", timeline.interval);
  json.member("calls", timeline.calls).member("all_ranks", timeline.all_ranks).key("ranks").array();
  for (const RankTimeline& rank : timeline.ranks) {
    json.object().member("rank", rank.rank);
    std::int64_t before = 0;
    write_column(json, "began", rank.bars, [&](const Bar& bar) {
      const auto at = static_cast<std::int64_t>(bar.began / unit);
      return at - std::exchange(before, at);
    });
    write_column(json, "took", rank.bars, [&](const Bar& b) { return static_cast<std::int64_t>(b.took / unit); });
    write_column(json, "call", rank.bars, [](const Bar& b) { return b.procedure; });
    write_column(json, "peer", rank.bars, [](const Bar& b) { return std::max(b.peer, -1); });
    write_column(json, "bytes", rank.bars, [](const Bar& b) { return b.bytes; });
    write_column(json, "comm", rank.bars, [&](const Bar& b) { return comms.index(rank.rank, b.comm); });
    if (timeline.interval > 0) {
      write_column(json, "calls", rank.bars, [](const Bar& b) { return b.calls; });
      write_column(json, "in_mpi", rank.bars, [&](const Bar& b) { return static_cast<std::int64_t>(b.in_mpi / unit); });
    }
    if (std::any_of(rank.bars.begin(), rank.bars.end(), [](const Bar& b) { return b.algorithm + b.protocol > 0; }))
      write_column(json, "note", rank.bars, [&](const Bar& b) { return notes.index(records.ranks[rank.rank], b); });
    json.end_object();
  }
  json.end_array().key("notes").array();
  for (const std::string& note : notes.texts()) json.value(note);
  json.end_array().end_object();
}

void write_library(JsonWriter& json, const Records& records, const Figures& f) {
  json.key("transports").array();
  for (const Transport& t : f.transports)
    json.object().member("name", t.name).member("messages", t.messages).member("bytes", t.bytes).end_object();
  json.end_array().key("protocols").array();
  for (const Protocol& p : f.protocols)
    json.object().member("name", p.name).member("messages", p.messages).member("bytes", p.bytes).end_object();
  // coll.<collective>.<algorithm>: the counters of a size have one more part.
  json.end_array().key("algorithms").array();
  for (const auto& [name, value] : f.variables)
    if (name.starts_with("coll.") && std::count(name.begin(), name.end(), '.') == 2 && !name.starts_with("coll.shm."))
      json.object().member("name", name.substr(5)).member("calls", value).end_object();
  json.end_array().key("variables").object();
  for (const auto& [name, value] : f.variables)
    if (!name.starts_with("coll.") || name.starts_with("coll.shm.")) json.member(name, value);
  json.end_object().key("decisions").array();
  for (const DecisionText& d : records.decisions) {
    json.object().member("topic", d.topic).member("subject", d.subject).member("chosen", d.chosen);
    json.member("because", d.because).member("lost", d.lost).member("setting", d.setting).end_object();
  }
  json.end_array().member("decisions_left_out", records.decisions_left_out);
}

}  // namespace

std::string document(const Records& records, const Figures& figures, const Limits& limits) {
  const Communicators comms(records);
  JsonWriter json;
  json.object().member("format", "ashlar-trace").member("version", 1);
  write_job(json, records, figures);
  write_words(json, records, figures);
  write_calls(json, records, figures);
  json.key("communicators").array();
  for (const CommFacts& comm : comms.list())
    json.object().member("id", comm.id).member("size", comm.size).member("name", comm.name).end_object();
  json.end_array();
  write_ranks(json, records, figures, comms);
  write_matrix(json, records, limits.ranks);
  write_timeline(json, records, figures, comms, limits);
  write_library(json, records, figures);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace ashlar::tool_trace
