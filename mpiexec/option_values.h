#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"
#include "mpiexec/options.h"

namespace ashlar::mpiexec {

/// A command line that is being read.
struct Reading {
  Options* options;
  Segment segment = {};
  std::vector<std::string> words = {};  // the command line, and what -file has put into it
  std::size_t at = 0;                   // the word that is looked at
  bool ranks_given = false;             // of this segment
  int files = 0;
};

using OptionValues = std::vector<std::string>;

struct OptionRow {
  const char* names;  // without dashes, separated by spaces; the first is the one shown
  int values;         // how many values follow; -1: one, only as --name=value
  const char* shown;  // the values in the help text
  const char* help;   // nullptr: accepted, not shown
  Status (*take)(Reading&, const OptionValues&);
};

/// Every option, in the order of the help text.
std::span<const OptionRow> option_rows();

constexpr long kMostRanks = 1 << 20;
Status not_a_value(std::string_view option, std::string_view wanted, std::string_view value);
bool to_number(const std::string& text, long low, long high, long* out);

// What the values of options mean. Each changes the options, or the program that is being read.
Status take_ranks(Reading& r, const OptionValues& v);
Status take_ranks_per_node(Reading& r, const OptionValues& v);
Status take_soft(Reading& r, const OptionValues& v);
Status take_file(Reading& r, const OptionValues& v);
Status take_trace(Reading& r, const OptionValues& v);
Status take_set(Reading& r, const OptionValues& v);
Status take_pset(Reading& r, const OptionValues& v);
Status take_stall(Reading& r, const OptionValues& v);
Status take_timeout(Reading& r, const OptionValues& v);
Status take_output(Reading& r, const OptionValues& v);
Status take_stdin(Reading& r, const OptionValues& v);
Status take_assignment(const std::string& pair, std::vector<EnvChange>* to);
Status take_env(const OptionValues& v, std::vector<EnvChange>* to);
/// One more tool beside those that the command line names already.
Status add_tool(Reading& r, const std::string& names);

// Where ranks run: option_places.cc.
Status take_bind(Reading& r, const OptionValues& v);
Status take_map(Reading& r, const OptionValues& v);
Status take_rank_by(Reading& r, const OptionValues& v);
Status take_hosts(Reading& r, const OptionValues& v);
Status take_host_file(Reading& r, const OptionValues& v);
Status take_agent(Reading& r, const OptionValues& v);
Status take_launcher(Reading& r, const OptionValues& v);
Status take_arch(Reading& r, const OptionValues& v);
/// Leaves the program those of its hosts that are of the kind that -arch names, or of no known one.
Status select_by_arch(const Options& options, Segment* segment);

}  // namespace ashlar::mpiexec
