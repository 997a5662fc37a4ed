#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/base/status.h"
#include "mpiexec/hosts.h"

namespace ashlar::mpiexec {

enum class BindTo { kAuto, kNone, kHwthread, kCore, kNuma, kSocket };
enum class MapBy { kAuto, kHwthread, kCore, kNuma, kSocket };
/// How ranks are spread over hosts: all slots of one before the next one, or one on each in turn.
enum class MapNodes { kAuto, kSlot, kNode };

using EnvChange = std::pair<std::string, std::string>;  // name, value

/// One colon-separated part of the command line: a program and how many ranks run it.
struct Segment {
  unsigned ranks = 1;
  unsigned asked = 1;  // what -n says: more than `ranks` where -soft left fewer
  std::string soft;    // what -soft says, or ""
  std::vector<std::string> argv;
  std::string wdir;
  std::string path;  // folders to search for the program, before PATH
  std::string set;   // name of the process set of its ranks
  std::vector<EnvChange> env;
  std::vector<HostSlots> hosts;  // --host; empty: those of the program before
  unsigned per_node = 0;         // -ppn; 0: not given
  std::string arch;              // -arch; "": not given
};

struct Options {
  std::vector<Segment> segments;
  std::vector<EnvChange> env;                               // for every segment
  std::vector<std::pair<std::string, std::string>> params;  // --set KEY=VALUE in order
  std::vector<std::pair<std::string, std::string>> sets;    // --pset NAME=RANKS
  std::vector<HostSlots> hosts;                             // --hostfile
  std::vector<HostSlots> taken;                             // slots of them that ranks of other jobs have
  std::vector<HostSlots> allocation;                        // the nodes of Slurm's job; before the command line
  MapNodes map_nodes = MapNodes::kAuto, rank_nodes = MapNodes::kAuto;
  std::string launch_agent;  // parameter mpiexec.launch_agent; empty: not given
  bool by_ssh = false;       // or what the parameter says, also within the allocation
  std::string prefix;        // of the installation on other hosts; empty: as here
  BindTo bind = BindTo::kAuto;
  MapBy map = MapBy::kAuto;
  bool report_bindings = false;
  bool show_placement = false;
  bool check = false;  // look at the hosts, and run nothing
  bool tag_output = false;
  bool timestamp_output = false;
  bool explain = false;
  std::string explain_topic;  // empty: all
  std::string output;         // pattern or folder of per-rank files
  std::string tools;          // names, separated by commas
  std::string traces;         // files of --trace, separated by commas
  double timeout_s = 0;
  std::string stall;        // parameter watch.stall; empty: not given
  int stdin_rank = 0;       // -1: none
  std::string pmix_parent;  // RANK:JOB that has asked for this job through PMIx; empty: none has
  bool help = false, version = false;

  unsigned ranks() const;
  /// The hosts of programs that name none: --hostfile, or the allocation; empty: this machine.
  const std::vector<HostSlots>& base_hosts() const { return hosts.empty() ? allocation : hosts; }
  /// All process sets as parameter runtime.process_sets has them: those of --pset, and one for each of several
  /// programs.
  std::string process_sets() const;
};

// Standard input of a step goes to all its tasks, so there is one for each host. Output that is buffered is passed on
// by whole lines, and messages of a daemon have none.
inline constexpr char kSrunAgent[] =
    "srun --nodes=1 --ntasks=1 --nodelist=%h --overlap --mpi=none --cpu-bind=none --quiet --unbuffered";

/// The ranks of a list such as 0-3,8-14:2; false: it is none.
bool expand_ranks(const std::string& list, std::vector<unsigned>* ranks);

/// Parses the command line; `options` is fresh, or knows the allocation. Options stand before the program; all but -n,
/// -wdir, -path, -env and -x hold for the whole job wherever they stand.
Status parse_options(int argc, const char* const* argv, Options* options);

std::string help_text();

}  // namespace ashlar::mpiexec
