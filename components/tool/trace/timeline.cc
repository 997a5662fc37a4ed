#include "components/tool/trace/timeline.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace ashlar::tool_trace {
namespace {

using namespace recording;

Bar bar_of(const TimedCall& call) {
  return {.began = call.began,
          .took = call.took,
          .procedure = call.procedure,
          .comm = call.comm,
          .peer = call.peer,
          .bytes = call.bytes,
          .calls = 1,
          .algorithm = call.algorithm,
          .protocol = call.protocol,
          .in_mpi = call.took};
}

/// Joins the short calls of each interval; the bar has the procedure that took most of its time.
class Joiner {
 public:
  Joiner(double interval, std::vector<Bar>* to) : interval_(interval), to_(to) {}

  void add(const TimedCall& call) {
    if (call.took >= interval_) {
      end();
      to_->push_back(bar_of(call));
      return;
    }
    const double at = std::floor(call.began / interval_);
    if (!open_ || at != slot_) {
      end();
      slot_ = at;
      open_ = true;
      sum_ = bar_of(call);
      by_procedure_.clear();
    } else {
      const double ended = std::max(sum_.began + sum_.took, call.began + call.took);
      sum_.took = ended - sum_.began;
      sum_.in_mpi += call.took;
      sum_.bytes += call.bytes;
      if (sum_.peer != call.peer) sum_.peer = ASHLAR_TOOL_NONE;
      if (sum_.comm != call.comm) sum_.comm = 0;
      if (sum_.algorithm != call.algorithm) sum_.algorithm = 0;
      if (sum_.protocol != call.protocol) sum_.protocol = 0;
      ++sum_.calls;
    }
    auto of_same = std::find_if(by_procedure_.begin(), by_procedure_.end(),
                                [&](const auto& p) { return p.first == call.procedure; });
    if (of_same == by_procedure_.end())
      by_procedure_.emplace_back(call.procedure, call.took);
    else
      of_same->second += call.took;
  }
  void end() {
    if (!open_) return;
    open_ = false;
    sum_.procedure = std::max_element(by_procedure_.begin(), by_procedure_.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
    to_->push_back(sum_);
  }

 private:
  const double interval_;
  std::vector<Bar>* const to_;
  bool open_ = false;
  double slot_ = 0;
  Bar sum_{};
  std::vector<std::pair<std::uint32_t, double>> by_procedure_;
};

std::vector<Bar> bars_of(const std::vector<TimedCall>& calls, double interval) {
  std::vector<Bar> bars;
  if (interval <= 0) {
    for (const TimedCall& call : calls) bars.push_back(bar_of(call));
    return bars;
  }
  Joiner joiner(interval, &bars);
  for (const TimedCall& call : calls) joiner.add(call);
  joiner.end();
  return bars;
}

/// The interval that leaves about `most` bars of these calls. Long calls stay what they are, and there are at most as
/// many of them as intervals: so half the bars for each.
double interval_of(const std::vector<TimedCall>& calls, std::size_t most) {
  if (calls.size() <= most) return 0;
  double ended = 0;
  for (const TimedCall& call : calls) ended = std::max(ended, call.began + call.took);
  return std::max((ended - calls.front().began) * 2 / static_cast<double>(std::max<std::size_t>(most, 1)), 1.0);
}

}  // namespace

std::vector<std::uint32_t> chosen_ranks(const Records& records, const Figures& figures, std::size_t most) {
  std::set<std::uint32_t> chosen;
  if (figures.ranks.size() <= most) {
    for (const RankFigures& r : figures.ranks) chosen.insert(r.rank);
    return {chosen.begin(), chosen.end()};
  }
  // First those that ended otherwise than the others, then those that compute for longest and shortest.
  for (const RankRecord& rank : records.ranks)
    if (rank.present && !rank.finalized && chosen.size() < most / 4) chosen.insert(rank.rank);
  std::vector<RankFigures> by_time = figures.ranks;
  std::sort(by_time.begin(), by_time.end(),
            [](const RankFigures& a, const RankFigures& b) { return a.computing > b.computing; });
  for (std::size_t i = 0; i < most / 8; ++i) {
    chosen.insert(by_time[i].rank);
    chosen.insert(by_time[by_time.size() - 1 - i].rank);
  }
  const std::size_t left = most - chosen.size();
  for (std::size_t i = 0; i < left; ++i) chosen.insert(figures.ranks[i * figures.ranks.size() / left].rank);
  for (std::size_t i = 0; chosen.size() < most; ++i) chosen.insert(figures.ranks[i].rank);
  return {chosen.begin(), chosen.end()};
}

Timeline timeline_of(const Records& records, const Figures& figures, std::size_t most_ranks, std::size_t most_bars) {
  Timeline timeline;
  const std::vector<std::uint32_t> ranks = chosen_ranks(records, figures, most_ranks);
  timeline.all_ranks = ranks.size() == figures.ranks.size();
  std::uint64_t calls = 0;
  for (const std::uint32_t rank : ranks) calls += records.ranks[rank].calls_kept;
  for (const std::uint32_t rank : ranks) {
    std::vector<TimedCall> of_rank = records.calls_of(rank);
    const std::vector<TimedCall>& unfinished = records.ranks[rank].in_progress;
    of_rank.insert(of_rank.end(), unfinished.begin(), unfinished.end());
    std::stable_sort(of_rank.begin(), of_rank.end(),
                     [](const TimedCall& a, const TimedCall& b) { return a.began < b.began; });
    timeline.calls += of_rank.size();
    double interval = calls > most_bars ? interval_of(of_rank, most_bars / ranks.size()) : 0;
    std::vector<Bar> bars = bars_of(of_rank, interval);
    // Where a rank was silent for long there is room for more.
    for (int i = 0; i < 8 && interval > 1 && bars.size() * 3 < most_bars / ranks.size(); ++i)
      bars = bars_of(of_rank, interval /= 2);
    timeline.interval = std::max(timeline.interval, interval);
    timeline.ranks.push_back({.rank = rank, .bars = std::move(bars)});
  }
  return timeline;
}

}  // namespace ashlar::tool_trace
