// PMI-1, which MPICH's mpiexec, Flux and most other launchers speak; and what both dialects have in common.
#include <algorithm>

#include "components/launch/pmi/wire.h"
#include "framework/plugin/launch.h"

namespace ashlar::launch {

ashlar_result PmiWire::demand(const PmiMessage& question, const char* answer_name, PmiMessage* answer) {
  if (const ashlar_result asked = channel_.ask(question, answer_name, answer); asked != ASHLAR_OK) return asked;
  std::int64_t code = 0;
  if (!answer->number("rc", &code) || code == 0) return ASHLAR_OK;
  return channel_.fail_with_refusal(question.command(), *answer);
}

ashlar_result PmiWire::agree(int version, int subversion, PmiMessage* met, bool* spoken) {
  PmiMessage question("init");
  question.add("pmi_version", version).add("pmi_subversion", subversion);
  if (const ashlar_result sent = channel_.send(question); sent != ASHLAR_OK) return sent;
  PmiMessage answer;
  // A connection to PMI_PORT brings rank and size first, each in a message "set".
  do {
    if (const ashlar_result got = channel_.receive("init", nullptr, &answer); got != ASHLAR_OK) return got;
    if (answer.command() == "set")
      for (const auto& [name, value] : answer.fields())
        if (name != "cmd") met->add(name, value);
  } while (answer.command() == "set");
  std::int64_t code = 0, theirs = 0;
  if (answer.command() != "response_to_init" || !answer.number("pmi_version", &theirs))
    return channel_.fail_with_answer("init", answer, "it is no greeting");
  (void)answer.number("rc", &code);
  *spoken = code == 0 && theirs == version;
  return ASHLAR_OK;
}

namespace {

// Several servers read a line into a buffer of this size.
constexpr std::size_t kLine = 1024;

class Pmi1 final : public PmiWire {
 public:
  using PmiWire::PmiWire;
  const char* name() const override { return "PMI-1"; }

  ashlar_result greet(const PmiTrace& trace, PmiFacts* facts, bool* spoken) override {
    channel_.speak(Framing::kLine);
    PmiMessage met;
    if (trace.fd < 0) {
      PmiMessage question("initack"), answer;
      question.add("pmiid", trace.id);
      if (const ashlar_result known = demand(question, "initack", &answer); known != ASHLAR_OK) return known;
    }
    if (const ashlar_result agreed = agree(1, 1, &met, spoken); agreed != ASHLAR_OK || !*spoken) return agreed;
    facts->rank = trace.rank;
    facts->ranks = trace.ranks;
    if (trace.fd >= 0) return ASHLAR_OK;
    std::int64_t rank = -1, size = -1;
    if (!met.number("rank", &rank) || !met.number("size", &size) || rank < 0 || rank >= size || size > kMostRanks)
      return channel_.fail_with_answer("initack", met, "it says no rank and size");
    facts->rank = static_cast<std::uint32_t>(rank);
    facts->ranks = static_cast<std::uint32_t>(size);
    return ASHLAR_OK;
  }

  ashlar_result describe(PmiFacts* facts) override {
    PmiMessage answer;
    if (const ashlar_result got = demand(PmiMessage("get_maxes"), "maxes", &answer); got != ASHLAR_OK) return got;
    std::int64_t key = 0, value = 0;
    if (!answer.number("keylen_max", &key) || !answer.number("vallen_max", &value) || key < 2 || value < 2)
      return channel_.fail_with_answer("get_maxes", answer, "it has no limits of keys and values");
    if (const ashlar_result got = demand(PmiMessage("get_my_kvsname"), "my_kvsname", &answer); got != ASHLAR_OK)
      return got;
    const std::string* const space = answer.find("kvsname");
    if (!space || space->empty()) return channel_.fail_with_answer("get_my_kvsname", answer, "it has no name");
    facts->job = space_ = *space;
    if (const ashlar_result got = channel_.ask(PmiMessage("get_universe_size"), "universe_size", &answer);
        got != ASHLAR_OK)
      return got;
    std::int64_t number = 0;
    if (answer.number("size", &number) && number > 0) facts->universe_size = static_cast<std::uint32_t>(number);
    if (const ashlar_result got = channel_.ask(PmiMessage("get_appnum"), "appnum", &answer); got != ASHLAR_OK)
      return got;
    if (answer.number("appnum", &number) && number > 0) facts->appnum = static_cast<std::uint32_t>(number);
    // Limits count an ending zero. The line of an answer or a put has names and blanks, too.
    facts->longest_key = static_cast<std::size_t>(key) - 1;
    facts->longest_value = static_cast<std::size_t>(value) - 1;
    const std::size_t names = space_.size() + facts->longest_key + sizeof "cmd=put kvsname= key= value=\n";
    if (names + 64 < kLine) facts->longest_value = std::min(facts->longest_value, kLine - names);
    const ashlar_result got = get("PMI_process_mapping", &facts->node_map);
    return got == ASHLAR_LAUNCH_NOT_FOUND ? ASHLAR_OK : got;
  }

  ashlar_result put(const std::string& key, const std::string& value) override {
    PmiMessage question("put"), answer;
    question.add("kvsname", space_).add("key", key).add("value", value);
    return demand(question, "put_result", &answer);
  }

  // A server that has no value answers with a code, which it has for nothing else.
  ashlar_result get(const std::string& key, std::string* value) override {
    PmiMessage question("get"), answer;
    question.add("kvsname", space_).add("key", key);
    if (const ashlar_result asked = channel_.ask(question, "get_result", &answer); asked != ASHLAR_OK) return asked;
    std::int64_t code = 0;
    const std::string* const found = answer.find("value");
    const std::string* const there = answer.find("found");
    if ((answer.number("rc", &code) && code != 0) || !found || (there && *there != "TRUE" && *there != "true"))
      return ASHLAR_LAUNCH_NOT_FOUND;
    *value = *found;
    return ASHLAR_OK;
  }

  ashlar_result enter_fence() override {
    channel_.begin_fence("barrier_out");
    return channel_.send(PmiMessage("barrier_in"));
  }

  ashlar_result abort(int code) override { return channel_.send(PmiMessage("abort").add("exitcode", code)); }

  ashlar_result finalize() override {
    PmiMessage answer;
    return demand(PmiMessage("finalize"), "finalize_ack", &answer);
  }

 private:
  std::string space_;
};

}  // namespace

std::unique_ptr<PmiWire> make_pmi1(PmiChannel& channel) { return std::make_unique<Pmi1>(channel); }

}  // namespace ashlar::launch
