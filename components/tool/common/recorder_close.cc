// What a rank adds to its records when it finalises MPI.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "components/tool/common/recorder.h"

namespace ashlar::recording {
namespace {

/// Sum of the lanes: "p2p.lane1.handshakes" is a part of "p2p.handshakes".
std::string without_lane(std::string_view name) {
  const std::size_t lane = name.find(".lane");
  if (lane == name.npos) return std::string(name);
  const std::size_t dot = name.find('.', lane + 1);
  return std::string(name.substr(0, lane)) + std::string(dot == name.npos ? "" : name.substr(dot));
}

/// The most memory that the process has had, in bytes; 0: the system does not say.
std::uint64_t memory_peak() {
  std::FILE* const file = std::fopen("/proc/self/status", "re");
  if (!file) return 0;
  char line[256];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof line, file))
    if (std::sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
  std::fclose(file);
  return kib * 1024;
}

}  // namespace

// Calls that never return: MPI_Finalize above all.
void Recorder::end_open_calls() {
  ashlar_tool_clock now;
  context_->clock(&now);
  for (std::uint32_t i = 0; i < kOpenCalls; ++i) {
    const std::uint64_t began = open_[i].began.exchange(0);
    if (began == 0) continue;
    // No thread is in the recorder any more.
    Shard* const shard = &this->shard(std::min(open_[i].thread, head_->shards - 1));
    const std::uint64_t spent = now.ticks > began ? now.ticks - began : 0;
    Total& total = totals(*shard)[open_[i].procedure * kSizeClasses + size_class(open_[i].bytes)];
    ++total.calls;
    total.ticks += spent;
    total.most_ticks = std::max(total.most_ticks, spent);
    Chunk* const chunk = chunks_ ? chunk_with_room(*shard, began) : nullptr;
    if (!chunk) continue;
    const std::uint32_t count = chunk->count.load();
    chunk->spans[count] = Span({.began = began,
                                .ticks = spent,
                                .bytes = open_[i].bytes,
                                .thread = open_[i].thread,
                                .procedure = open_[i].procedure,
                                .comm = 0,
                                .peer = open_[i].peer,
                                .algorithm = 0,
                                .protocol = open_[i].protocol},
                               chunk->base);
    chunk->count.store(count + 1);
  }
}

void Recorder::add_variables() {
  context_->variables(
      [](void* self, const ashlar_tool_variable* variable) {
        // Of the other kinds a sum over ranks says nothing.
        const bool sums = variable->kind == ASHLAR_PVAR_LEVEL || variable->kind == ASHLAR_PVAR_SIZE ||
                          variable->kind == ASHLAR_PVAR_HIGHWATERMARK || variable->kind == ASHLAR_PVAR_COUNTER ||
                          variable->kind == ASHLAR_PVAR_AGGREGATE || variable->kind == ASHLAR_PVAR_TIMER;
        if (variable->value == 0 || !sums) return;
        auto& recorder = *static_cast<Recorder*>(self);
        auto* const rows = recorder.at<VariableRow>(recorder.head_->variable_rows);
        std::atomic<std::uint32_t>& count = recorder.head_->variables;
        const std::string name = without_lane(variable->name);
        std::uint32_t i = 0;
        while (i < count.load() && name != rows[i].name) ++i;
        if (i == kMostVariables) return;
        if (i == count.load()) {
          std::snprintf(rows[i].name, sizeof rows[i].name, "%s", name.c_str());
          rows[i].kind = variable->kind;
          count.store(i + 1);
        }
        rows[i].value += variable->value;
      },
      this);
}

// Those of rank 0, as mpiexec --explain: the others' are mostly the same.
void Recorder::add_decisions() {
  if (head_->rank != 0) return;
  context_->decisions(
      [](void* self, const ashlar_decision* d) {
        const Recorder& recorder = *static_cast<Recorder*>(self);
        const char* const texts[] = {d->topic, d->subject, d->chosen, d->because, d->lost, d->setting};
        std::uint64_t bytes = 0;
        for (const char* text : texts) bytes += std::strlen(text ? text : "") + 1;
        const std::uint32_t used = recorder.head_->decision_bytes.load();
        if (bytes > kDecisionBytes - used) {
          recorder.head_->decisions_left_out.fetch_add(1);
          return;
        }
        char* to = recorder.at<char>(recorder.head_->decisions) + used;
        for (const char* text : texts) to = stpcpy(to, text ? text : "") + 1;
        recorder.head_->decision_bytes.store(used + static_cast<std::uint32_t>(bytes));
      },
      this);
}

// Which transport serves a peer is a decision record, and what went to this peer has been counted.
void Recorder::add_transports() {
  if (head_->ranks_per_peer > 1) return;
  std::vector<std::string> transport(head_->ranks);
  context_->decisions(
      [](void* self, const ashlar_decision* d) {
        auto& of = *static_cast<std::vector<std::string>*>(self);
        unsigned peer = 0;
        if (std::strcmp(d->topic, "transport") == 0 && std::sscanf(d->subject, "peer %u", &peer) == 1 &&
            peer < of.size() && of[peer].empty())
          of[peer] = std::string(d->chosen, std::strcspn(d->chosen, ","));
      },
      &transport);
  auto* const rows = at<TransportRow>(head_->transport_rows);
  std::uint32_t count = 0;
  for (std::uint32_t peer = 0; peer < head_->peers; ++peer) {
    Peer sum{};
    for (std::uint32_t s = 0; s < head_->shards; ++s) {
      sum.messages += peers(shard(s))[peer].messages;
      sum.bytes += peers(shard(s))[peer].bytes;
    }
    if (sum.messages == 0) continue;
    const std::string name = transport[peer].empty() ? "unknown" : transport[peer];
    std::uint32_t i = 0;
    while (i < count && name != rows[i].name) ++i;
    if (i == kMostTransports) continue;
    if (i == count) {
      std::snprintf(rows[i].name, sizeof rows[i].name, "%s", name.c_str());
      head_->transports.store(++count);
    }
    ++rows[i].peers;
    rows[i].messages += sum.messages;
    rows[i].bytes += sum.bytes;
  }
}

void Recorder::close() {
  if (!head_) return;
  end_open_calls();
  add_variables();
  add_decisions();
  add_transports();
  head_->memory_peak.store(memory_peak());
  ashlar_tool_clock now;
  context_->clock(&now);
  head_->end_ticks.store(now.ticks);
  head_->end_ns.store(now.ns, std::memory_order_release);
  head_ = nullptr;
}

}  // namespace ashlar::recording
