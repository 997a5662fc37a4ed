#include "mpiexec/waits.h"

#include <algorithm>

#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

using launch::RankState;
using plugin::Account;

constexpr std::size_t kMostSentences = 16;
constexpr char kMismatch[] = "the calls do not match";
constexpr char kIt = '\x01';  // in a phrase: "it", or "each" when several ranks do the same

/// What one rank does, as a verb (for one rank, for several) and the rest of the sentence; and the ranks
/// that it waits for.
struct Phrase {
  const char* one = "is";
  const char* several = "are";
  std::string rest;
  std::vector<unsigned> needs;

  std::string about(std::size_t ranks) const {
    std::string out = std::string(ranks == 1 ? one : several) + " " + rest;
    if (const std::size_t at = out.find(kIt); at != std::string::npos) out.replace(at, 1, ranks == 1 ? "it" : "each");
    return out;
  }
  void add_need(unsigned rank) {
    if (std::find(needs.begin(), needs.end(), rank) == needs.end()) needs.push_back(rank);
  }
};

class Words {
 public:
  explicit Words(const std::vector<RankStatus>& ranks) : ranks_(ranks) {
    for (unsigned r = 0; r < ranks.size(); ++r) phrases_.push_back(phrase(r));
  }
  std::string all() const;
  JobWaits parts() const;

 private:
  Phrase phrase(unsigned r) const;
  Phrase starting(unsigned r) const;
  Phrase outside(unsigned r) const;
  Phrase finalizing() const;
  Phrase looking_in(unsigned r) const;
  Phrase waiting(unsigned r) const;
  std::string collective(unsigned r, const Account::Collective& c, Phrase* phrase, bool* all_there) const;
  std::vector<unsigned> cycle() const;
  std::vector<unsigned> ends() const;
  bool in_mpi(unsigned r) const { return !ranks_[r].ended && ranks_[r].state == RankState::kInitialized; }

  const std::vector<RankStatus>& ranks_;
  std::vector<Phrase> phrases_;
};

std::string seconds(double s) { return text(s < 9.95 ? "%.1f s" : "%.0f s", s); }

std::string named(const std::vector<unsigned>& ranks) {
  return text("rank%s %s", ranks.size() == 1 ? "" : "s", list_of(ranks).c_str());
}

Phrase Words::phrase(unsigned r) const {
  const RankStatus& s = ranks_[r];
  if (s.ended) return {"has", "have", "ended", {}};
  if (s.elsewhere) return {"runs", "run", "on another host, of which the job's mpiexec knows more", {}};
  if (s.state == RankState::kAbsent)
    return {"has",
            "have",
            "not called MPI_Init" + (s.process.empty() ? "" : std::string("; ") + kIt + " " + s.process),
            {}};
  if (s.state == RankState::kAttached) return starting(r);
  if (s.state == RankState::kFinalized)
    return {"has", "have", text("left MPI (%s is done)", launch::leaving_call(s.use)), {}};
  if (!s.answered) return outside(r);
  if (s.account.finalizing) return s.account.waits_for.empty() ? finalizing() : waiting(r);
  if (!s.account.waits) return looking_in(r);
  // Answers come one after the other. Only a wait that began before the query, and still lasts, overlaps with the
  // others.
  if (!s.progresses) return waiting(r);
  return {"gets on: now it waits", "get on: now they wait", waiting(r).rest, {}};
}

Phrase Words::starting(unsigned r) const {
  Phrase p;
  p.rest = "inside MPI_Init";
  for (unsigned other = 0; other < ranks_.size(); ++other)
    if (ranks_[other].fences < ranks_[r].fences) p.needs.push_back(other);
  if (!p.needs.empty()) p.rest += ", where " + named(p.needs) + (p.needs.size() == 1 ? " is" : " are") + " missing";
  return p;
}

/// How far a rank has come that says nothing any more.
std::string newest_wait(const RankStatus& s) {
  const Account& a = s.newest_wait;
  if (s.newest_wait_s < 0 || (a.collectives.empty() && a.waits_for.empty())) return {};
  const std::string& what = a.collectives.empty() ? a.waits_for[0].text : a.collectives[0].text;
  return "it last waited " + seconds(s.newest_wait_s) + " ago, " + what;
}

Phrase Words::outside(unsigned r) const {
  const RankStatus& s = ranks_[r];
  Phrase p;
  p.rest = "not inside MPI";
  if (!s.process.empty()) p.rest += std::string(": ") + kIt + " " + s.process;
  if (s.silent_s >= 1)
    p.rest +=
        (s.process.empty() ? std::string(": ") + kIt : " and") + " has not communicated for " + seconds(s.silent_s);
  if (const std::string last = newest_wait(s); !last.empty())
    p.rest += (p.rest.find(kIt) == std::string::npos ? ": " : "; ") + last;
  return p;
}

Phrase Words::finalizing() const {
  Phrase p{"waits", "wait", "in MPI_Finalize", {}};
  for (unsigned r = 0; r < ranks_.size(); ++r)
    if (!ranks_[r].ended && ranks_[r].state != RankState::kFinalized &&
        !(ranks_[r].answered && ranks_[r].account.finalizing && ranks_[r].account.waits_for.empty()))
      p.needs.push_back(r);
  if (!p.needs.empty()) p.rest += " for " + named(p.needs);
  return p;
}

/// It makes progress, but no call of it waits for long: it tests requests in a loop, say.
Phrase Words::looking_in(unsigned r) const {
  Phrase p{"looks", "look", "into MPI now and then without waiting there", {}};
  const auto& open = ranks_[r].account.under_way;
  if (open.empty()) return p;
  p.rest += "; under way: ";
  for (std::size_t i = 0; i < open.size() && i < 3; ++i) p.rest += (i ? "; " : "") + open[i].text;
  const std::size_t more = open.size() - std::min<std::size_t>(open.size(), 3) + ranks_[r].account.dropped;
  if (more) p.rest += text("; and %zu more", more);
  return p;
}

Phrase Words::waiting(unsigned r) const {
  const Account& a = ranks_[r].account;
  Phrase p{"waits", "wait", "", {}};
  bool all_there = true;
  for (const Account::Collective& c : a.collectives)
    p.rest += (p.rest.empty() ? "" : "; and ") + collective(r, c, &p, &all_there);
  // The messages of a collective matter only when all members take part in the same one.
  for (std::size_t i = 0; i < a.waits_for.size(); ++i) {
    const Account::Entry& e = a.waits_for[i];
    if (!a.collectives.empty() && !all_there) break;
    if (i < 3) p.rest += (p.rest.empty() ? "" : "; ") + e.text;
    // Of several, one is enough, except at the end: then none of them is necessary.
    if (e.peer < ranks_.size() && (a.waits_for.size() == 1 || a.finalizing || !a.collectives.empty()))
      p.add_need(e.peer);
  }
  if (a.waits_for.size() > 3) p.rest += text("; and %zu more", a.waits_for.size() - 3);
  // A collective's request names no rank, but the messages under it do.
  if (p.needs.empty() && a.waits_for.size() == 1 && a.waits_for[0].peer == plugin::kNoPeer)
    for (const Account::Entry& e : a.under_way)
      if (e.peer < ranks_.size()) p.add_need(e.peer);
  if (p.rest.empty()) p.rest = "in MPI";
  return p;
}

/// *all_there becomes false where a member is in no collective of that number.
std::string Words::collective(unsigned r, const Account::Collective& c, Phrase* phrase, bool* all_there) const {
  std::vector<unsigned> missing, elsewhere;
  std::string mismatch;
  for (const unsigned m : c.ranks) {
    if (m == r || m >= ranks_.size() || ranks_[m].elsewhere) continue;
    const Account& other = ranks_[m].account;
    const bool tells = in_mpi(m) && ranks_[m].answered;
    bool in_it = false, behind = !in_mpi(m) && ranks_[m].state < RankState::kInitialized, past = false;
    for (const Account::Begun& b : other.begun)
      if (tells && b.context == c.context) (b.number < c.number ? behind : past) = true;
    // Answers come one after the other: a member may be in the next one of the communicator, or still in the last.
    for (const Account::Collective& theirs : other.collectives) {
      if (!tells || theirs.context != c.context) continue;
      const bool same = theirs.number == c.number;
      if (!same) (theirs.number < c.number ? behind : past) = true;
      in_it = in_it || same;
      if (same && theirs.text != c.text && mismatch.empty())
        mismatch = text(", but rank %u is %s instead: %s", m, theirs.text.c_str(), kMismatch);
    }
    *all_there = *all_there && in_it;
    if (in_it || (past && !ranks_[m].ended)) continue;
    (behind ? missing : elsewhere).push_back(m);
  }
  *all_there = *all_there && mismatch.empty();
  for (const unsigned m : missing) phrase->add_need(m);
  for (const unsigned m : elsewhere) phrase->add_need(m);
  std::string out = c.text + mismatch;
  if (!missing.empty()) out += ", which " + named(missing) + (missing.size() == 1 ? " has" : " have") + " not entered";
  if (!elsewhere.empty())
    out += (missing.empty() ? ", in which " : " and in which ") + named(elsewhere) +
           (elsewhere.size() == 1 ? " is" : " are") + " not";
  return out;
}

/// Ranks of which each needs the next, and the last one the first; empty: there is no cycle.
std::vector<unsigned> Words::cycle() const {
  enum : char { kNew, kOnPath, kDone };
  std::vector<char> mark(ranks_.size(), kNew);
  struct Step {
    unsigned rank;
    std::size_t next;
  };
  for (unsigned start = 0; start < ranks_.size(); ++start) {
    if (mark[start] != kNew) continue;
    std::vector<Step> path{{start, 0}};
    mark[start] = kOnPath;
    while (!path.empty()) {
      Step& top = path.back();
      if (top.next == phrases_[top.rank].needs.size()) {
        mark[top.rank] = kDone;
        path.pop_back();
        continue;
      }
      const unsigned next = phrases_[top.rank].needs[top.next++];
      if (mark[next] == kOnPath) {
        std::vector<unsigned> out;
        for (const Step& step : path)
          if (!out.empty() || step.rank == next) out.push_back(step.rank);
        return out;
      }
      if (mark[next] == kNew) {
        mark[next] = kOnPath;
        path.push_back({next, 0});
      }
    }
  }
  return {};
}

/// The ranks that others need and that need no other rank themselves.
std::vector<unsigned> Words::ends() const {
  std::vector<unsigned> out;
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    if (!phrases_[r].needs.empty()) continue;
    for (const Phrase& p : phrases_)
      if (std::find(p.needs.begin(), p.needs.end(), r) != p.needs.end()) {
        out.push_back(r);
        break;
      }
  }
  return out;
}

std::string Words::all() const {
  struct Sentence {
    const Phrase* phrase;
    std::vector<unsigned> ranks;
  };
  std::vector<Sentence> sentences;
  const std::vector<unsigned> in_cycle = cycle();
  const std::vector<unsigned> last = in_cycle.empty() ? ends() : std::vector<unsigned>{};
  const auto matters = [&](unsigned r) {
    return std::find(in_cycle.begin(), in_cycle.end(), r) != in_cycle.end() ||
           std::find(last.begin(), last.end(), r) != last.end();
  };
  std::vector<unsigned> order(ranks_.size());
  for (unsigned r = 0; r < ranks_.size(); ++r) order[r] = r;
  // Of a large job only some ranks are described; those that explain the rest must be among them.
  if (ranks_.size() > kMostSentences) std::stable_partition(order.begin(), order.end(), matters);
  std::size_t untold = 0;
  for (const unsigned r : order) {
    const auto same = std::find_if(sentences.begin(), sentences.end(), [&](const Sentence& s) {
      return s.phrase->rest == phrases_[r].rest && s.phrase->one == phrases_[r].one;
    });
    if (same != sentences.end())
      same->ranks.push_back(r);
    else if (sentences.size() < kMostSentences)
      sentences.push_back({&phrases_[r], {r}});
    else
      ++untold;
  }
  std::string out;
  for (Sentence& s : sentences) {
    std::sort(s.ranks.begin(), s.ranks.end());
    out += (out.empty() ? "" : ";\n") + named(s.ranks) + " " + s.phrase->about(s.ranks.size());
  }
  if (untold) out += text(";\nand %zu more", untold);
  if (!in_cycle.empty()) {
    out += ":\na cycle";
    for (const unsigned r : in_cycle) out += text(r == in_cycle[0] ? " %u" : " -> %u", r);
    out += text(" -> %u", in_cycle[0]);
  } else if (!last.empty() && sentences.size() > 2) {
    out += ";\nin the end all wait for " + named(last);
  }
  return out + ".";
}

JobWaits Words::parts() const {
  JobWaits out;
  for (const Phrase& p : phrases_) out.ranks.push_back({.text = p.about(1), .needs = p.needs});
  out.cycle = cycle();
  if (out.cycle.empty()) out.ends = ends();
  return out;
}

}  // namespace

JobWaits waits_of(const std::vector<RankStatus>& ranks) { return Words(ranks).parts(); }

bool inside_mpi(const std::vector<RankStatus>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [](const RankStatus& s) {
    return s.state == RankState::kAttached || s.state == RankState::kInitialized;
  });
}

std::string waits_in_words(const std::vector<RankStatus>& ranks) {
  return inside_mpi(ranks) ? Words(ranks).all() : std::string();
}

}  // namespace ashlar::mpiexec
