// What a tool owes the program that it watches: it takes every call, from any thread, within its buffer, and reads at
// the end of the job what ranks left, also those that were killed in the middle.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "framework/base/clock.h"
#include "framework/plugin/tool.h"
#include "tests/conformance/check/subject.h"

namespace ashlar::test {
namespace {

constexpr ashlar_tool_procedure kProcedures[] = {
    {.name = "MPI_Init", .chapter = "init", .kind = 0},
    {.name = "MPI_Send", .chapter = "pt2pt", .kind = ASHLAR_TOOL_SENDS},
    {.name = "MPI_Recv", .chapter = "pt2pt", .kind = ASHLAR_TOOL_RECEIVES},
    {.name = "MPI_Isend", .chapter = "pt2pt", .kind = ASHLAR_TOOL_SENDS | ASHLAR_TOOL_STARTS},
    {.name = "MPI_Wait", .chapter = "request", .kind = ASHLAR_TOOL_COMPLETES},
    {.name = "MPI_Allreduce", .chapter = "coll", .kind = ASHLAR_TOOL_COLLECTIVE},
    {.name = "MPI_Finalize", .chapter = "init", .kind = 0}};
constexpr std::uint32_t kCount = std::size(kProcedures);
constexpr const char* kBeginFields[] = {"collective", "algorithm", "context", "bytes", nullptr};
constexpr const char* kEndFields[] = {"how", "context", "peer", "bytes", nullptr};
constexpr const char* kWords[] = {"</script>", "ring", "another", nullptr};
constexpr std::uint32_t kWordCount = std::size(kWords) - 1;
constexpr ashlar_tool_event_type kEvents[] = {
    {.name = "coll.begin", .help = "", .fields = kBeginFields, .words = kWords, .word_fields = 3},
    {.name = "p2p.rendezvous_end", .help = "", .fields = kEndFields, .words = kWords, .word_fields = 1},
    {.name = "check.unknown", .help = "of a kernel to come", .fields = kEndFields, .words = nullptr, .word_fields = 0}};
constexpr std::uint64_t kGuard = 4096;

void clocks(ashlar_tool_clock* now) { *now = {.ticks = ticks(), .ns = now_ns()}; }
int no_variable(const char*, std::uint64_t*) { return 0; }
std::uint32_t name_of(const ashlar_tool_call* call, char* out, std::uint32_t room) {
  constexpr char kName[] = "</script>\"'; a communicator's \xff name";
  if (!call->object) return 0;
  if (room > 0) std::snprintf(out, room, "%s", kName);
  return sizeof kName - 1;
}

void one_variable(void (*take)(void* self, const ashlar_tool_variable*), void* self) {
  const ashlar_tool_variable variable{
      .name = "transport.check.bytes_sent", .help = "</script> bytes", .kind = ASHLAR_PVAR_COUNTER, .value = 42};
  take(self, &variable);
}
void one_decision(void (*take)(void* self, const ashlar_decision*), void* self) {
  const ashlar_decision decision{.size = sizeof(ashlar_decision),
                                 .topic = "transport",
                                 .subject = "peer 1",
                                 .chosen = "check",
                                 .because = "</script> it is the only one",
                                 .lost = "",
                                 .setting = "transport"};
  take(self, &decision);
}

ashlar_tool_context context_of(std::uint32_t rank, std::uint32_t ranks, void* buffer, std::uint64_t bytes) {
  return {.size = sizeof(ashlar_tool_context),
          .role = ASHLAR_TOOL_IN_RANK,
          .rank = rank,
          .ranks = ranks,
          .job_id = "check",
          .host = "localhost",
          .procedures = kProcedures,
          .procedure_count = kCount,
          .procedure_bytes = sizeof *kProcedures,
          .buffer = buffer,
          .buffer_bytes = bytes,
          .clock = clocks,
          .variable = no_variable,
          .comm_name = name_of,
          .variables = one_variable,
          .decisions = one_decision,
          .event_types = kEvents,
          .event_type_count = std::size(kEvents),
          .event_type_bytes = sizeof *kEvents};
}

ashlar_tool_call call_of(std::uint32_t number, std::uint32_t rank, std::uint32_t ranks) {
  ashlar_tool_call call{};
  call.size = sizeof call;
  call.number = number;
  call.began = ticks();
  call.comm = 1 + number % 3;
  call.comm_rank = static_cast<std::int32_t>(rank);
  call.comm_size = static_cast<std::int32_t>(ranks);
  call.to = call.to_world = static_cast<std::int32_t>((rank + 1) % ranks);
  call.from = call.from_world = call.root = ASHLAR_TOOL_NONE;
  call.send_tag = 7;
  call.receive_tag = ASHLAR_TOOL_NONE;
  call.bytes_out = std::uint64_t{1} << (number * 7);
  call.object = &call;
  return call;
}

/// A rank's memory with a guard behind it, and its module.
class Rank {
 public:
  Rank(plugin::Component& component, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes)
      : component_(component), rank_(rank), ranks_(ranks), bytes_(bytes), memory_(bytes + kGuard) {
    std::memset(memory_.data() + bytes, 0x5a, kGuard);
    context_ = context_of(rank, ranks, bytes > 0 ? memory_.data() : nullptr, bytes);
    const Status made = component.create(&context_, &tool_);
    why_ = made.text();
    if (!made.ok()) tool_ = nullptr;
  }
  bool made() const { return tool_ != nullptr; }
  const std::string& why() const { return why_; }
  void call(std::uint32_t number, bool leave = true) const {
    if (tool_->ops->wants && !tool_->ops->wants(tool_, number)) return;
    ashlar_tool_call c = call_of(number, rank_, ranks_);
    if (tool_->ops->enter) tool_->ops->enter(tool_, &c);
    events(number);
    c.ended = ticks();
    if (leave && tool_->ops->leave) tool_->ops->leave(tool_, &c);
  }
  /// One of each type that the tool wants.
  void events(std::uint64_t value) const {
    const std::uint64_t values[] = {value % kWordCount, (value + 1) % kWordCount, 6, value * 1000};
    for (std::uint32_t type = 0; type < std::size(kEvents); ++type) {
      if (!tool_->ops->event || !tool_->ops->wants_event || !tool_->ops->wants_event(tool_, type)) continue;
      const ashlar_tool_event event{
          .size = sizeof event, .number = type, .values = values, .value_count = std::size(values)};
      tool_->ops->event(tool_, &event);
    }
  }
  void end() {
    if (tool_) component_.destroy(tool_);
    tool_ = nullptr;
  }
  /// What samples read at the begin of the memory, which is `bytes` long.
  std::uint64_t sampled() const {
    const ashlar_tool_ops& ops = *tool_->ops;
    return ops.size > offsetof(ashlar_tool_ops, sampled) && ops.sampled ? ops.sampled(tool_) : bytes_;
  }
  bool guard_is_whole() const {
    for (std::uint64_t i = 0; i < kGuard; ++i)
      if (memory_[bytes_ + i] != 0x5a) return false;
    return true;
  }
  ashlar_tool_rank at_end(bool finalized) const {
    return {.buffer = memory_.data(),
            .buffer_bytes = bytes_,
            .exit_status = finalized ? 0 : 9,
            .finalized = finalized,
            .host = "localhost",
            .program = "<b>program & co</b>",
            .running = 0,
            .clock = {}};
  }
  ashlar_tool_rank while_it_runs() const {
    ashlar_tool_rank rank = at_end(false);
    rank.running = 1;
    return rank;
  }

 private:
  plugin::Component& component_;
  const std::uint32_t rank_, ranks_;
  const std::uint64_t bytes_;
  alignas(64) std::vector<unsigned char> memory_;
  ashlar_tool_context context_{};
  ashlar_tool* tool_ = nullptr;
  std::string why_;
};

std::vector<std::string> tools() {
  return subject().framework == "tool" ? std::vector<std::string>{subject().name} : std::vector<std::string>{};
}

class Tool : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ashlar_tool_context context = context_of(0, 1, nullptr, 0);
    registry_ = std::make_unique<SubjectRegistry>(&context);
    ASSERT_NE(registry_->component(), nullptr) << registry_->why();
  }
  plugin::Component& component() { return *registry_->component(); }
  /// In a process of its own: a tool may keep what its module is in static memory, and a rank is a process.
  void sample(const std::vector<ashlar_tool_rank>& ranks) {
    std::fflush(nullptr);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      end_of_job(ranks, Moment::kSample);
      std::fflush(nullptr);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "job_sample() failed";
  }
  enum class Moment { kEnd, kSample };
  void end_of_job(const std::vector<ashlar_tool_rank>& ranks, Moment moment = Moment::kEnd) {
    ashlar_tool_context context = context_of(0, static_cast<std::uint32_t>(ranks.size()), nullptr, 0);
    context.role = ASHLAR_TOOL_AT_END;
    context.procedures = nullptr;
    context.procedure_count = 0;
    context.clock = nullptr;
    context.variable = nullptr;
    context.comm_name = nullptr;
    context.variables = nullptr;
    context.decisions = nullptr;
    context.event_types = nullptr;
    context.event_type_count = 0;
    ashlar_tool* tool = nullptr;
    const Status made = component().create(&context, &tool);
    ASSERT_TRUE(made.ok()) << made.text();
    const ashlar_tool_job job{.size = sizeof job,
                              .ranks = static_cast<std::uint32_t>(ranks.size()),
                              .rank = ranks.data(),
                              .rank_bytes = sizeof(ashlar_tool_rank),
                              .exit_status = 0,
                              .began_ns = 1,
                              .ended_ns = now_ns(),
                              .job_id = "check"};
    if (moment == Moment::kEnd && tool->ops->job_end) tool->ops->job_end(tool, &job);
    if (moment == Moment::kSample && tool->ops->job_sample) (void)tool->ops->job_sample(tool, &job);
    component().destroy(tool);
  }
  std::unique_ptr<SubjectRegistry> registry_;
};

TEST_P(Tool, EveryCallThenTheEndOfTheJob) {
  Rank rank(component(), 0, 1, 16 << 20);
  ASSERT_TRUE(rank.made()) << rank.why();
  for (std::uint32_t number = 0; number < kCount; ++number) rank.call(number, number + 1 < kCount);
  rank.end();
  EXPECT_TRUE(rank.guard_is_whole());
  end_of_job({rank.at_end(true)});
}

TEST_P(Tool, WantsTheSameWheneverItIsAsked) {
  alignas(64) static unsigned char buffer[16 << 20];
  const ashlar_tool_context context = context_of(0, 1, buffer, sizeof buffer);
  ashlar_tool* tool = nullptr;
  const Status made = component().create(&context, &tool);
  ASSERT_TRUE(made.ok()) << made.text();
  int wanted = 0;
  for (std::uint32_t number = 0; tool->ops->wants && number < kCount; ++number) {
    const int first = tool->ops->wants(tool, number) != 0;
    EXPECT_EQ(tool->ops->wants(tool, number) != 0, first) << kProcedures[number].name;
    wanted += first;
  }
  EXPECT_TRUE(!tool->ops->wants || wanted > 0 || tool->ops->job_end) << "it watches nothing and reports nothing";
  component().destroy(tool);
}

// Events come on any thread, also on one that is in no call.
TEST_P(Tool, EventsOutsideOfCalls) {
  Rank rank(component(), 0, 2, 16 << 20);
  ASSERT_TRUE(rank.made()) << rank.why();
  rank.events(0);
  std::thread([&rank] {
    for (std::uint64_t i = 0; i < 1000; ++i) rank.events(i);
  }).join();
  rank.call(5);
  rank.end();
  EXPECT_TRUE(rank.guard_is_whole());
  end_of_job({rank.at_end(true)});
}

// While the job runs its records are read as they are, those of a rank in the middle of a call too.
TEST_P(Tool, SamplesOfARunningJob) {
  Rank rank(component(), 0, 2, 16 << 20);
  ASSERT_TRUE(rank.made()) << rank.why();
  ashlar_tool_rank absent = rank.while_it_runs();
  absent.buffer = nullptr;
  absent.buffer_bytes = 0;
  sample({rank.while_it_runs(), absent});
  rank.call(0);
  rank.call(1, false);
  sample({rank.while_it_runs(), absent});
  rank.end();
  end_of_job({rank.at_end(true), absent});
}

// Of a rank on another host a sample finds what the tool says that it reads, and zeros behind it.
TEST_P(Tool, SamplesOfARankOnAnotherHost) {
  constexpr std::uint64_t kBytes = 16 << 20;
  Rank rank(component(), 0, 2, kBytes);
  ASSERT_TRUE(rank.made()) << rank.why();
  for (std::uint32_t number = 0; number < kCount; ++number) rank.call(number, number + 1 < kCount);
  const std::uint64_t sampled = rank.sampled();
  ASSERT_LE(sampled, kBytes);
  EXPECT_EQ(rank.sampled(), sampled) << "it is asked once";
  ashlar_tool_rank there = rank.while_it_runs();
  std::vector<unsigned char> part(kBytes);
  std::memcpy(part.data(), there.buffer, sampled);
  there.buffer = part.data();
  const ashlar_tool_clock ahead = {.ticks = ticks() + 1'000'000'000'000, .ns = now_ns() + 500'000'000'000};
  there.clock = {.rate = 1.0001, .there_ns = ahead.ns, .here_ns = now_ns(), .error_ns = 80'000, .counter = ahead};
  sample({there, there});
  rank.end();
  ashlar_tool_rank ended = rank.at_end(false);
  ended.clock = there.clock;
  end_of_job({ended, ended});
}

// However many calls there are, what is recorded stays within the buffer.
TEST_P(Tool, MoreCallsThanThereIsRoomFor) {
  std::string too_small;
  int filled = 0;
  for (const std::uint64_t bytes : {std::uint64_t{64} << 10, std::uint64_t{1} << 20, std::uint64_t{4} << 20}) {
    Rank rank(component(), 0, 1, bytes);
    if (!rank.made()) {
      too_small = rank.why();
      continue;
    }
    ++filled;
    for (int i = 0; i < 200'000; ++i) rank.call(1 + static_cast<std::uint32_t>(i) % (kCount - 2));
    rank.end();
    EXPECT_TRUE(rank.guard_is_whole()) << bytes << " bytes";
    end_of_job({rank.at_end(true)});
  }
  EXPECT_GT(filled, 0) << "4 MiB are not enough for it: " << too_small;
}

TEST_P(Tool, NoBufferAtAll) {
  Rank rank(component(), 0, 1, 0);
  if (!rank.made()) GTEST_SKIP() << "it says so: " << rank.why();
  rank.call(1);
  rank.end();
  EXPECT_TRUE(rank.guard_is_whole());
}

TEST_P(Tool, SeveralThreadsAtOnce) {
  Rank rank(component(), 0, 1, 16 << 20);
  ASSERT_TRUE(rank.made()) << rank.why();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&rank] {
      for (std::uint32_t i = 0; i < 20'000; ++i) rank.call(1 + i % (kCount - 2));
    });
  for (std::thread& thread : threads) thread.join();
  rank.end();
  EXPECT_TRUE(rank.guard_is_whole());
  end_of_job({rank.at_end(true)});
}

TEST_P(Tool, RanksThatWereKilledOrNeverUsedMpi) {
  Rank rank(component(), 0, 3, 16 << 20);
  ASSERT_TRUE(rank.made()) << rank.why();
  rank.call(0);
  rank.call(5);
  rank.call(1, false);  // killed inside
  ashlar_tool_rank absent = rank.at_end(false);
  absent.buffer = nullptr;
  absent.buffer_bytes = 0;
  const std::vector<unsigned char> empty(1 << 20);
  ashlar_tool_rank untouched = rank.at_end(false);
  untouched.buffer = empty.data();
  untouched.buffer_bytes = empty.size();
  end_of_job({rank.at_end(false), absent, untouched});
  rank.end();  // of a killed process the system frees the memory
}

INSTANTIATE_TEST_SUITE_P(Installed, Tool, testing::ValuesIn(tools()), [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Tool);

}  // namespace
}  // namespace ashlar::test
