#include "mpiexec/waits_json.h"

#include <algorithm>

#include "framework/base/clock.h"
#include "framework/plugin/records.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

using launch::RankState;
using plugin::Account;
using plugin::json_string;

/// Collects the members of an object, or the elements of an array.
class Json {
 public:
  explicit Json(char open) : out_(1, open) {}
  void add(const char* name, const std::string& json) { element(json_string(name) + ":" + json); }
  void element(const std::string& json) { out_ += (out_.size() > 1 ? "," : "") + json; }
  bool empty() const { return out_.size() == 1; }
  std::string ended() const { return out_ + (out_[0] == '{' ? "}" : "]"); }

 private:
  std::string out_;
};

/// "0-3,7"
template <class Number>
std::string ranges(std::vector<Number> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    const Number first = ranks[i];
    while (++i < ranks.size() && ranks[i] <= ranks[i - 1] + 1) {
    }
    out += (out.empty() ? "" : ",") + std::to_string(first);
    if (ranks[i - 1] != first) out += "-" + std::to_string(ranks[i - 1]);
  }
  return json_string(out);
}

std::string in_seconds(double s) { return text("%.3f", s); }

const char* state_of(const RankStatus& s) {
  if (s.ended) return "ended";
  if (s.elsewhere) return "elsewhere";
  switch (s.state) {
    case RankState::kAbsent:
      return "absent";
    case RankState::kAttached:
      return "starting";
    case RankState::kFinalized:
      return "left";
    case RankState::kInitialized:
      break;
  }
  if (!s.answered) return "outside";
  if (s.account.finalizing) return "finalizing";
  if (!s.account.waits) return "polling";
  return s.progresses ? "progressing" : "waiting";
}

std::string entries(const std::vector<Account::Entry>& list) {
  Json out('[');
  for (const Account::Entry& e : list) {
    Json one('{');
    one.add("text", json_string(e.text));
    if (e.peer < plugin::kNoPeer) one.add("peer", std::to_string(e.peer));
    out.element(one.ended());
  }
  return out.ended();
}

std::string collectives(const std::vector<Account::Collective>& list) {
  Json out('[');
  for (const Account::Collective& c : list) {
    Json one('{');
    one.add("text", json_string(c.text));
    one.add("context", std::to_string(c.context));
    one.add("number", std::to_string(c.number));
    one.add("ranks", ranges(c.ranks));
    out.element(one.ended());
  }
  return out.ended();
}

std::string newest_wait_json(const RankStatus& s) {
  const Account& a = s.newest_wait;
  Json one('{');
  one.add("began_s", in_seconds(s.newest_wait_s));
  if (!a.waits_for.empty()) one.add("waits_for", entries(a.waits_for));
  if (!a.collectives.empty()) one.add("collectives", collectives(a.collectives));
  return one.ended();
}

std::string rank_json(unsigned r, const RankStatus& s, const JobWaits::Rank& waits, std::uint64_t now) {
  Json one('{');
  one.add("rank", std::to_string(r));
  if (s.pid != 0) one.add("pid", std::to_string(s.pid));
  one.add("state", json_string(state_of(s)));
  one.add("text", json_string(waits.text));
  if (!waits.needs.empty()) one.add("needs", ranges(waits.needs));
  if (s.account.since_ns != 0 && s.account.since_ns < now)
    one.add("waiting_s", in_seconds(static_cast<double>(now - s.account.since_ns) * 1e-9));
  if (!s.account.waits_for.empty()) one.add("waits_for", entries(s.account.waits_for));
  if (!s.account.collectives.empty()) one.add("collectives", collectives(s.account.collectives));
  if (!s.account.under_way.empty()) one.add("under_way", entries(s.account.under_way));
  if (s.account.dropped != 0) one.add("left_out", std::to_string(s.account.dropped));
  if (!s.ended && !s.answered && s.silent_s >= 0) one.add("silent_s", in_seconds(s.silent_s));
  if (!s.process.empty()) one.add("process", json_string(s.process));
  if (s.newest_wait_s >= 0) one.add("newest_wait", newest_wait_json(s));
  return one.ended();
}

}  // namespace

std::string waits_json(const std::vector<RankStatus>& ranks, const WaitsOf& job, WaitsReason reason) {
  constexpr const char* kReasons[] = {"query", "stall", "time_limit"};
  const JobWaits waits = waits_of(ranks);
  const std::uint64_t now = now_ns();
  Json out('{');
  out.add("kind", json_string("waits"));
  out.add("form", "1");
  out.add("reason", json_string(kReasons[static_cast<int>(reason)]));
  out.add("job", json_string(job.job_id));
  out.add("host", json_string(job.host));
  out.add("pid", std::to_string(job.launcher_pid));
  out.add("size", std::to_string(ranks.size()));
  Json list('[');
  for (unsigned r = 0; r < ranks.size(); ++r) list.element(rank_json(r, ranks[r], waits.ranks[r], now));
  out.add("ranks", list.ended());
  Json cycle('[');
  for (const unsigned r : waits.cycle) cycle.element(std::to_string(r));
  if (!cycle.empty()) out.add("cycle", cycle.ended());
  if (!waits.ends.empty()) out.add("ends", ranges(waits.ends));
  if (const std::string words = waits_in_words(ranks); !words.empty()) out.add("text", json_string(words));
  return out.ended() + "\n";
}

}  // namespace ashlar::mpiexec
