#include "framework/runtime/process_sets.h"

#include <mpi.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "framework/base/log.h"
#include "framework/object/group_api.h"
#include "framework/object/group_builder.h"
#include "framework/object/limit.h"
#include "framework/object/pvars.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

/// A number at the front of `text`, which is taken off.
bool take_number(std::string_view& text, unsigned* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}
bool take_sign(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

/// "0-3,7,10-20:2" as (first, last, stride).
bool read_ranks(std::string_view text, std::vector<std::array<int, 3>>* ranges) {
  while (!text.empty()) {
    unsigned first = 0, last = 0, stride = 1;
    if (!take_number(text, &first)) return false;
    last = first;
    if (take_sign(text, '-') && !take_number(text, &last)) return false;
    if (take_sign(text, ':') && !take_number(text, &stride)) return false;
    ranges->push_back({static_cast<int>(first), static_cast<int>(last), static_cast<int>(stride)});
    if (!text.empty() && !take_sign(text, ',')) return false;
  }
  return !ranges->empty();
}

ProcessSet set_of(std::string name, Group* members) { return {std::move(name), Ref<Group>::adopt(members)}; }

Group* of_this_node(const Process& process) {
  GroupBuilder members;
  for (PeerId p = 0; p < process.job->ranks; ++p)
    if (process.node_of(p) == process.job->node) members.append(p);
  return members.finish();
}

void add(std::string_view text, unsigned ranks, std::vector<ProcessSet>* sets) {
  std::vector<std::string> mistakes;
  for (ProcessSet& set : read_process_sets(text, ranks, &mistakes)) {
    bool taken = false;
    for (const ProcessSet& other : *sets) taken = taken || strcasecmp(other.name.c_str(), set.name.c_str()) == 0;
    if (!taken) sets->push_back(std::move(set));
  }
  for (const std::string& mistake : mistakes) ASHLAR_LOG(error, "runtime", "%s", mistake.c_str());
}

}  // namespace

std::vector<ProcessSet> read_process_sets(std::string_view text, unsigned ranks, std::vector<std::string>* mistakes) {
  std::vector<ProcessSet> sets;
  const Ref<Group> world = Ref<Group>::adopt(Group::strided(0, 1, static_cast<int>(ranks)));
  if (!world) {
    mistakes->push_back(object::none_left("the group of a process set", groups_alive()).text());
    return sets;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.empty()) continue;
    const std::size_t equals = entry.rfind('=');
    const std::string name(entry.substr(0, equals == std::string_view::npos ? 0 : equals));
    std::vector<std::array<int, 3>> ranges;
    const std::string what = "process set '" + std::string(entry) + "'";
    if (name.empty() || name.size() >= MPI_MAX_PSET_NAME_LEN || !read_ranks(entry.substr(equals + 1), &ranges)) {
      mistakes->push_back(what + " is left out: NAME=RANKS is wanted, as in ocean=0-3,8-14:2");
      continue;
    }
    Group* members = nullptr;
    const Status made = group::range_incl(*world, static_cast<int>(ranges.size()),
                                          reinterpret_cast<int(*)[3]>(ranges.data()), &members);
    if (!made.ok()) {
      mistakes->push_back(what + " is left out: " + made.text());
      continue;
    }
    sets.push_back(set_of(name, members));
  }
  return sets;
}

std::vector<ProcessSet> collect_process_sets(const Process& process, std::string_view of_parameter) {
  std::vector<ProcessSet> sets;
  const ashlar_job& job = *process.job;
  sets.push_back(set_of("mpi://WORLD", Group::strided(0, 1, static_cast<int>(job.ranks))));
  sets.push_back(set_of("mpi://SELF", Group::strided(job.rank, 1, 1)));
  sets.push_back(set_of("ashlar://NODE", of_this_node(process)));
  add(of_parameter, job.ranks, &sets);
  const ashlar_launch_ops& ops = *process.launch->ops;
  // The table of a component built before this member ends before it.
  if (ops.process_sets)
    if (const char* const of_launcher = ops.process_sets(process.launch)) add(of_launcher, job.ranks, &sets);
  std::erase_if(sets, [](const ProcessSet& set) {
    if (set.members) return false;
    ASHLAR_LOG(error, "runtime", "process set %s is left out: %s", set.name.c_str(),
               object::none_left("its group", groups_alive()).text());
    return true;
  });
  return sets;
}

const ProcessSet* find_process_set(Process& process, const char* name) {
  for (const ProcessSet& set : process.process_sets())
    if (strcasecmp(set.name.c_str(), name) == 0) return &set;
  return nullptr;
}

}  // namespace ashlar::runtime
