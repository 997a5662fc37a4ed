#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.h"
#include "framework/object/group.h"

namespace ashlar {
class Process;
}
namespace ashlar::runtime {

/// A process set (MPI-5.0, 11.3): a name, and its members.
struct ProcessSet {
  std::string name;
  Ref<Group> members;  // by world rank
};

/// Reads "NAME=RANKS;NAME=RANKS...", where RANKS is a list such as 0-3,7,10-20:2. What cannot be read, or names ranks
/// beyond `ranks`, is left out and goes to `mistakes`, a sentence each.
std::vector<ProcessSet> read_process_sets(std::string_view text, unsigned ranks, std::vector<std::string>* mistakes);

/// All process sets of the job: the standard's two, that of this node, those of parameter runtime.process_sets (mpiexec
/// puts its --pset there) and those of the launcher. Process::process_sets() keeps them.
std::vector<ProcessSet> collect_process_sets(const Process& process, std::string_view of_parameter);
/// By name, which may be in any case; nullptr: there is none.
const ProcessSet* find_process_set(Process& process, const char* name);

}  // namespace ashlar::runtime
