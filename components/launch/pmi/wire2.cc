// PMI-2, which Slurm speaks (srun --mpi=pmi2).
#include <algorithm>

#include "components/launch/pmi/wire.h"
#include "framework/plugin/launch.h"

namespace ashlar::launch {
namespace {

// The dialect has no question for its limits; these are of all servers, and count an ending zero.
constexpr std::size_t kKey = 64, kValue = 1024;

class Pmi2 final : public PmiWire {
 public:
  using PmiWire::PmiWire;
  const char* name() const override { return "PMI-2"; }

  ashlar_result greet(const PmiTrace& trace, PmiFacts* facts, bool* spoken) override {
    channel_.speak(Framing::kLine);  // so that a server of PMI-1 can refuse
    PmiMessage met;
    if (const ashlar_result agreed = agree(2, 0, &met, spoken); agreed != ASHLAR_OK || !*spoken) return agreed;
    channel_.speak(Framing::kFrame);
    PmiMessage question("fullinit"), answer;
    question.add("pmijobid", trace.job)
        .add("pmirank", trace.fd >= 0 ? std::to_string(trace.rank) : trace.id)
        .add("threaded", "FALSE");
    if (const ashlar_result known = demand(question, "fullinit-response", &answer); known != ASHLAR_OK) return known;
    std::int64_t rank = -1, size = -1, appnum = 0;
    if (!answer.number("rank", &rank) || !answer.number("size", &size) || rank < 0 || rank >= size || size > kMostRanks)
      return channel_.fail_with_answer("fullinit", answer, "it says no rank and size");
    facts->rank = static_cast<std::uint32_t>(rank);
    facts->ranks = static_cast<std::uint32_t>(size);
    if (answer.number("appnum", &appnum) && appnum > 0) facts->appnum = static_cast<std::uint32_t>(appnum);
    return ASHLAR_OK;
  }

  ashlar_result describe(PmiFacts* facts) override {
    PmiMessage answer;
    if (const ashlar_result got = demand(PmiMessage("job-getid"), "job-getid-response", &answer); got != ASHLAR_OK)
      return got;
    const std::string* const job = answer.find("jobid");
    if (!job || job->empty()) return channel_.fail_with_answer("job-getid", answer, "it has no name");
    facts->job = *job;
    facts->longest_key = kKey - 1;
    facts->longest_value = kValue - 1;
    std::string text;
    ashlar_result got = look_up("info-getjobattr", "universeSize", &text);
    PmiMessage universe("universe");
    std::int64_t size = 0;
    if (got == ASHLAR_OK && universe.add("size", text).number("size", &size) && size > 0)
      facts->universe_size = static_cast<std::uint32_t>(size);
    if (got == ASHLAR_OK || got == ASHLAR_LAUNCH_NOT_FOUND)
      got = look_up("info-getjobattr", "PMI_process_mapping", &facts->node_map);
    return got == ASHLAR_LAUNCH_NOT_FOUND ? ASHLAR_OK : got;
  }

  ashlar_result put(const std::string& key, const std::string& value) override {
    PmiMessage question("kvs-put"), answer;
    question.add("key", key).add("value", value);
    return demand(question, "kvs-put-response", &answer);
  }

  ashlar_result get(const std::string& key, std::string* value) override { return look_up("kvs-get", key, value); }

  ashlar_result enter_fence() override {
    channel_.begin_fence("kvs-fence-response");
    return channel_.send(PmiMessage("kvs-fence"));
  }

  // Launchers show the text of an abort in ways of their own, and the rank has said it already.
  ashlar_result abort(int code) override {
    return channel_.send(PmiMessage("abort").add("isworld", "TRUE").add("exitcode", code).add("msg", "MPI_Abort"));
  }

  ashlar_result finalize() override {
    PmiMessage answer;
    return demand(PmiMessage("finalize"), "finalize-response", &answer);
  }

 private:
  ashlar_result look_up(const std::string& command, const std::string& key, std::string* value) {
    PmiMessage question(command), answer;
    if (command == "kvs-get") question.add("jobid", "").add("srcid", -1);
    question.add("key", key);
    if (const ashlar_result asked = channel_.ask(question, (command + "-response").c_str(), &answer);
        asked != ASHLAR_OK)
      return asked;
    const std::string* const found = answer.find("found");
    const std::string* const there = answer.find("value");
    std::int64_t code = 0;
    if ((answer.number("rc", &code) && code != 0) || !there || (found && *found != "TRUE"))
      return ASHLAR_LAUNCH_NOT_FOUND;
    *value = *there;
    return ASHLAR_OK;
  }
};

}  // namespace

std::unique_ptr<PmiWire> make_pmi2(PmiChannel& channel) { return std::make_unique<Pmi2>(channel); }

}  // namespace ashlar::launch
