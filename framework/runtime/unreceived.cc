#include "framework/runtime/unreceived.h"

#include <cstddef>
#include <string>
#include <vector>

#include "framework/base/catalogue.h"
#include "framework/object/comm.h"
#include "framework/p2p/unreceived.h"
#include "framework/progress/waiting.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

constexpr std::size_t kMostLines = 20;

/// The communicator's name, or that it has none any more.
std::string on(const Process& process, const std::vector<leaks::Handle>& held, std::uint32_t context) {
  const Comm* comm = nullptr;
  for (const Comm* predefined : {process.world, process.self})
    if (predefined->context == context) comm = predefined;
  for (const leaks::Handle& handle : held)
    if (handle.object && handle.kind == Kind::kComm && static_cast<const Comm*>(handle.object)->context == context)
      comm = static_cast<const Comm*>(handle.object);
  return comm ? std::string("on '") + comm->name.c_str() + "'" : "on a communicator that was freed";
}

std::string line_of(const p2p::Unreceived& row, const std::string& place) {
  std::string line = row.messages == 1 ? "1 message of " : std::to_string(row.messages) + " messages of together ";
  line +=
      std::to_string(row.bytes) + (row.bytes == 1 ? " byte" : " bytes") + " from rank " + std::to_string(row.source);
  return line + " tag " + std::to_string(row.tag) + " " + place;
}

}  // namespace

void report_unreceived(Process& process, const std::vector<leaks::Handle>& held) {
  std::vector<p2p::Unreceived> rows;
  std::size_t beyond = 0, messages = 0;
  for (unsigned i = 0; i < process.lane_count(); ++i) {
    Lane& lane = *process.lane(i);
    const LaneGuard guard(lane.lock);
    while (progress::poll(lane) != 0) {
      // What was sent before all came here has arrived.
    }
    p2p::collect_unreceived(lane, kMostLines, &rows, &beyond);
  }
  std::string lines;
  for (const p2p::Unreceived& row : rows) {
    messages += row.messages;
    lines += (lines.empty() ? "" : "\n  ") + line_of(row, on(process, held, row.context));
  }
  if (messages == 0) return;
  if (beyond != 0) lines += "\n  and " + std::to_string(beyond) + " others";
  messages += beyond;
  const std::string what = messages == 1 ? "1 message was" : std::to_string(messages) + " messages were";
  const auto m = catalogue::message("check.unreceived",
                                    {{"what", what}, {"are", messages == 1 ? "is" : "are"}, {"messages", lines}});
  process.reporter.notice(1, m.id, m.paragraph());
}

}  // namespace ashlar::runtime
