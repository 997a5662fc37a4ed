#pragma once
#include <vector>

#include "framework/object/leaks.h"

namespace ashlar {
class Process;
}
namespace ashlar::runtime {

/// check.leaks: tells which messages have come to this process that no receive has taken. `held`: the handles that the
/// program still has, by which communicators are named. When all processes have come to MPI_Finalize.
void report_unreceived(Process& process, const std::vector<leaks::Handle>& held);

}  // namespace ashlar::runtime
