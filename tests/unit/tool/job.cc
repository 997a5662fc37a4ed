#include "tests/unit/tool/job.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "framework/base/clock.h"
#include "framework/base/status.h"
#include "framework/plugin/host.h"

namespace ashlar::recording {
namespace {

constexpr ashlar_tool_procedure kRows[] = {
    {.name = "MPI_Send", .chapter = "pt2pt", .kind = ASHLAR_TOOL_SENDS},
    {.name = "MPI_Test", .chapter = "request", .kind = ASHLAR_TOOL_COMPLETES},
    {.name = "MPI_Barrier", .chapter = "coll", .kind = ASHLAR_TOOL_COLLECTIVE},
    {.name = "MPI_Startall", .chapter = "request", .kind = 0},
    {.name = "MPI_Send_init", .chapter = "pt2pt", .kind = ASHLAR_TOOL_SENDS | ASHLAR_TOOL_PREPARES},
    {.name = "MPI_Request_free", .chapter = "request", .kind = 0},
    {.name = "MPI_Comm_set_name", .chapter = "comm", .kind = 0},
};

constexpr const char* kFields[] = {"how", "context", "bytes", nullptr};
constexpr const char* kBeginFields[] = {"collective", "algorithm", nullptr};
constexpr const char* kAlgorithms[] = {"barrier", "ring", "double_tree", nullptr};
constexpr const char* kWays[] = {"in place", "in fragments", nullptr};
constexpr ashlar_tool_event_type kEvents[] = {
    {.name = "p2p.message_matched", .help = "", .fields = kFields, .words = nullptr, .word_fields = 0},
    {.name = "coll.begin", .help = "", .fields = kBeginFields, .words = kAlgorithms, .word_fields = 3},
    {.name = "p2p.rendezvous_end", .help = "", .fields = kFields, .words = kWays, .word_fields = 1}};

void clock(ashlar_tool_clock* now) { *now = {.ticks = ticks(), .ns = now_ns()}; }

std::uint32_t name(const ashlar_tool_call*, char* out, std::uint32_t room) {
  return static_cast<std::uint32_t>(std::snprintf(out, room, "%s", comm_name_of_test.c_str()));
}

plugin::Host& host() {
  static plugin::Host the_host;
  return the_host;
}

}  // namespace

FakeJob::FakeJob(std::uint32_t ranks, std::size_t buffer_bytes, RingPlan ring) {
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>());
    void* const at = mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    rank.buffer = {static_cast<std::byte*>(at), buffer_bytes};
    rank.context = {.size = sizeof(ashlar_tool_context),
                    .role = ASHLAR_TOOL_IN_RANK,
                    .rank = r,
                    .ranks = ranks,
                    .job_id = "test",
                    .host = "host",
                    .procedures = kRows,
                    .procedure_count = kProcedures,
                    .procedure_bytes = sizeof(ashlar_tool_procedure),
                    .buffer = at,
                    .buffer_bytes = buffer_bytes,
                    .clock = clock,
                    .variable = nullptr,
                    .comm_name = name,
                    .variables = [](void (*)(void*, const ashlar_tool_variable*), void*) {},
                    .decisions = [](void (*)(void*, const ashlar_decision*), void*) {},
                    .event_types = kEvents,
                    .event_type_count = std::size(kEvents),
                    .event_type_bytes = sizeof(ashlar_tool_event_type)};
    rank.recorder = std::make_unique<Recorder>();
    opened = rank.recorder->open(*host().table(), rank.context, CallFilter("all"), ring);
  }
}

FakeJob::Rank::~Rank() { munmap(buffer.data(), buffer.size()); }
FakeJob::~FakeJob() = default;

ashlar_tool_call FakeJob::call(std::uint32_t procedure, std::uint64_t began, std::uint64_t took) const {
  ashlar_tool_call call{};
  call.size = sizeof call;
  call.number = procedure;
  call.began = began;
  call.ended = began + took;
  call.comm = 1;
  call.comm_size = static_cast<std::int32_t>(ranks_.size());
  call.to = call.to_world = call.from = call.from_world = call.root = ASHLAR_TOOL_NONE;
  return call;
}

void FakeJob::make(std::uint32_t rank, const ashlar_tool_call& call) {
  this->rank(rank).enter(call);
  this->rank(rank).leave(call);
}

void FakeJob::raise(std::uint32_t rank, std::uint32_t type, std::initializer_list<std::uint64_t> values) {
  this->rank(rank).event({.size = sizeof(ashlar_tool_event),
                          .number = type,
                          .values = values.begin(),
                          .value_count = static_cast<std::uint32_t>(values.size())});
}

void FakeJob::close() {
  for (const auto& rank : ranks_) rank->recorder->close();
}

Records FakeJob::read() {
  rows_.clear();
  for (const auto& rank : ranks_)
    rows_.push_back({.buffer = rank->context.buffer,
                     .buffer_bytes = rank->context.buffer_bytes,
                     .exit_status = 0,
                     .finalized = 1,
                     .host = rank->host,
                     .program = "a </script> \"program\"",
                     .running = 0,
                     .clock = rank->clock});
  return Records({.size = sizeof(ashlar_tool_job),
                  .ranks = static_cast<std::uint32_t>(rows_.size()),
                  .rank = rows_.data(),
                  .rank_bytes = sizeof(ashlar_tool_rank),
                  .exit_status = 0,
                  .began_ns = now_ns() - 1'000'000'000,
                  .ended_ns = now_ns() + 1'000'000,
                  .job_id = "test"});
}

}  // namespace ashlar::recording
