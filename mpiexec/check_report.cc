#include "mpiexec/check_report.h"

#include <algorithm>
#include <cstdint>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/printable.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kManyHosts = 8;                       // from here on ways that are good are counted, not listed
constexpr std::size_t kLeastColumn = 14, kMostColumn = 40;  // the column of the words, by the longest name of a host

std::string time_words(std::uint64_t ns) {
  const double us = static_cast<double>(ns) / 1e3;
  if (us >= 1e6) return text("%.2f s", us / 1e6);
  return us >= 1e3 ? text("%.1f ms", us / 1e3) : text("%.0f us", us);
}

class Report {
 public:
  Report(const std::vector<CheckedHost>& hosts, const Settings& settings) : hosts_(hosts), settings_(settings) {
    for (const CheckedHost& host : hosts)
      if (hosts.size() > 1) column_ = std::max(column_, std::min(shown(host.plan.name).size() + 6, kMostColumn));
  }

  std::string run(unsigned* failed) {
    std::vector<std::string> bad;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      failed_ = false;
      add_host(hosts_[i]);
      if (settings_.tcp && hosts_[i].report.port != 0) add_ways(i);
      if (failed_) bad.push_back(shown(hosts_[i].plan.name));
    }
    *failed = static_cast<unsigned>(bad.size());
    return out_ + summary(bad);
  }

 private:
  /// "  what        words", with the words' further lines below their first one. Both may come from another host.
  void row(const std::string& what, const std::string& words) {
    std::string left = "  " + shown(what);
    left.resize(std::max(left.size() + 1, column_), ' ');
    out_ += left;
    for (const char c : printable(words, Newlines::keep)) {
      out_ += c;
      if (c == '\n') out_.append(column_, ' ');
    }
    out_ += "\n";
  }
  void bad_row(const std::string& what, const std::string& words) {
    failed_ = true;
    row(what, "FAILED: " + words);
  }

  void add_host(const CheckedHost& host) {
    out_ += (out_.empty() ? "host " : "\nhost ") + shown(host.plan.name) + (host.plan.here ? " (this one)\n" : "\n");
    const bool led_there = host.failure.empty() || !host.steps.empty();
    if (led_there && !host.plan.here) row("agent", host.node->agent() + ", " + time_words(host.agent_ns));
    if (const std::string said = host.node->said(); led_there && !said.empty()) row("it said", said);
    for (const CheckStep& step : host.steps)
      if (!step.over)
        bad_row(step.what, host.failure);
      else if (step.failed)
        bad_row(step.what, step.words);
      else
        row(step.what, step.words + (step.ns >= 1000 ? ", " + time_words(step.ns) : ""));
    const bool in_step = !host.steps.empty() && !host.steps.back().over;
    if (!host.failure.empty() && !in_step) bad_row(host.looked ? "ways" : "agent", host.failure);
  }

  void add_ways(std::size_t from) {
    const CheckedHost& host = hosts_[from];
    if (!host.tried) return;
    unsigned good = 0;
    std::uint64_t slowest = 0;
    for (std::size_t to = 0; to < hosts_.size(); ++to) {
      if (to == from) continue;
      const std::string what = "to " + shown(hosts_[to].plan.name);
      if (hosts_[to].report.port == 0) {
        row(what, "not tried: that host is not ready");
        continue;
      }
      std::uint64_t best = 0;
      const std::string words = words_of_ways(host, static_cast<std::uint32_t>(to), &best);
      if (best == 0) {
        bad_row(what, words);
      } else if (hosts_.size() < kManyHosts) {
        row(what, words);
      } else {
        ++good;
        slowest = std::max(slowest, best);
      }
    }
    if (good > 0) row(text("to %u hosts", good), "all are reached, the slowest in " + time_words(slowest));
  }

  /// A line for each way to the host, and what to do when none is good. Links are tried one by one for a link-local
  /// address: those that lead elsewhere are worth a line only where nothing else works. `best`: the time of the best
  /// way; 0: none is good.
  std::string words_of_ways(const CheckedHost& host, std::uint32_t to, std::uint64_t* best) const {
    const auto is_good = [to](const WayResult& way) { return way.host == to && way.good; };
    const bool any = std::any_of(host.ways.begin(), host.ways.end(), is_good);
    std::string lines;
    unsigned count = 0;
    for (const WayResult& way : host.ways) {
      if (way.host != to) continue;
      ++count;
      if (any && !way.good && way.to.starts_with("fe80:")) continue;
      lines += text("%s%s%s%s: ", lines.empty() ? "" : "\n", shown(way.to).c_str(), way.from.empty() ? "" : " from ",
                    shown(way.from).c_str());
      if (way.good)
        lines += text("%llu bytes both ways in %s", static_cast<unsigned long long>(settings_.tcp_exchange),
                      time_words(way.ns).c_str());
      else
        lines += shown(way.why_not);
      if (way.good && (*best == 0 || way.ns < *best)) *best = std::max<std::uint64_t>(way.ns, 1);
    }
    if (any) return lines;
    const Status why = fail(kErrOther, "check.no_way", {{"peer_host", brief(hosts_[to].plan.name)}, {"count", count}});
    return in_words(why) + (lines.empty() ? "" : "\nTried:\n") + lines;
  }

  std::string summary(const std::vector<std::string>& bad) const {
    std::string words = hosts_.size() > 1 && !settings_.tcp
                            ? "\nThe ways between the hosts were not tried: the parameter transport leaves out tcp.\n"
                            : "";
    if (bad.empty()) return words + text("\nA job can run on %s.\n", hosts_.size() == 1 ? "this host" : "these hosts");
    words += text("\nFAILED on %zu of %zu host%s:", bad.size(), hosts_.size(), hosts_.size() == 1 ? "" : "s");
    for (const std::string& name : bad) words += " " + name;
    return words + "\n";
  }

  const std::vector<CheckedHost>& hosts_;
  const Settings& settings_;
  std::size_t column_ = kLeastColumn;
  std::string out_;
  bool failed_ = false;
};

}  // namespace

std::string check_words(const std::vector<CheckedHost>& hosts, const Settings& settings, unsigned* failed) {
  return Report(hosts, settings).run(failed);
}

}  // namespace ashlar::mpiexec
