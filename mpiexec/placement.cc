#include "mpiexec/placement.h"

#include <algorithm>

#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

unsigned unit_of(const Cpu& cpu, MapBy map) {
  switch (map) {
    case MapBy::kNuma:
      return cpu.numa;
    case MapBy::kSocket:
      return cpu.socket;
    case MapBy::kHwthread:
      return cpu.os;
    case MapBy::kCore:
    case MapBy::kAuto:
      break;
  }
  return cpu.core;
}

// The order in which ranks take places: first place of each unit, then the second of each, and so on. A place is a
// hardware thread when mapping by hwthread, otherwise the first allowed thread of a core.
std::vector<const Cpu*> order_of_places(const Topology& topology, MapBy map) {
  std::vector<std::vector<const Cpu*>> units;
  std::vector<unsigned> ids;
  unsigned last_core = ~0u;
  for (const Cpu& cpu : topology.cpus) {
    if (map != MapBy::kHwthread && cpu.core == last_core) continue;
    last_core = cpu.core;
    const unsigned id = unit_of(cpu, map);
    auto found = std::find(ids.begin(), ids.end(), id);
    if (found == ids.end()) {
      ids.push_back(id);
      units.emplace_back();
      found = ids.end() - 1;
    }
    units[static_cast<std::size_t>(found - ids.begin())].push_back(&cpu);
  }
  std::vector<const Cpu*> out;
  for (std::size_t turn = 0;; ++turn) {
    const std::size_t before = out.size();
    for (const auto& unit : units)
      if (turn < unit.size()) out.push_back(unit[turn]);
    if (out.size() == before) return out;
  }
}

std::string words_for(const Topology& topology, const std::vector<unsigned>& cpus) {
  std::vector<unsigned> cores;
  std::vector<unsigned> whole;  // every allowed thread of those cores
  for (const Cpu& cpu : topology.cpus)
    if (std::find(cpus.begin(), cpus.end(), cpu.os) != cpus.end() && (cores.empty() || cores.back() != cpu.core))
      cores.push_back(cpu.core);
  for (const Cpu& cpu : topology.cpus)
    if (std::find(cores.begin(), cores.end(), cpu.core) != cores.end()) whole.push_back(cpu.os);
  std::vector<unsigned> sorted = cpus;
  std::sort(sorted.begin(), sorted.end());
  std::string out = text("core%s %s", cores.size() == 1 ? "" : "s", list_of(cores).c_str());
  out += text(" (cpu%s %s%s)", sorted.size() == 1 ? "" : "s", list_of(sorted).c_str(),
              whole.size() > cpus.size() ? ", a part of the core" : "");
  return out;
}

void finish_words(const Topology& topology, Placement* p) {
  for (const auto& cpus : p->cpus) p->words.push_back(cpus.empty() ? "not bound" : words_for(topology, cpus));
}

std::string capacity_words(unsigned cores, double quota) {
  if (quota > 0 && quota < cores) return text("the control group's quota of %.3g cores", quota);
  return text("%u usable core%s", cores, cores == 1 ? "" : "s");
}

bool more_than(unsigned ranks, unsigned cores, double quota) { return ranks > cores || (quota > 0 && ranks > quota); }

}  // namespace

bool needs_topology(BindTo bind, unsigned ranks, unsigned allowed) {
  if (bind == BindTo::kNone) return false;
  if (bind == BindTo::kAuto) return ranks > 1 && ranks <= allowed;
  return true;
}

Placement place_unbound(unsigned ranks, unsigned allowed, double quota, BindTo bind) {
  Placement p;
  p.cpus.resize(ranks);
  p.words.assign(ranks, "not bound");
  p.oversubscribed = more_than(ranks, allowed, quota);
  p.what = "no binding";
  if (bind == BindTo::kNone)
    p.because = "--bind-to none";
  else if (ranks == 1)
    p.because = "a single rank may use every core";
  else
    p.because = text("%u ranks are more than %u usable processors", ranks, allowed);
  return p;
}

Placement place(const Topology& topology, unsigned ranks, double quota, BindTo bind, MapBy map) {
  const unsigned cores = topology.cores();
  const bool crowded = more_than(ranks, cores, quota);
  if (bind == BindTo::kAuto && (crowded || ranks == 1) && map == MapBy::kAuto) {
    Placement p = place_unbound(ranks, cores, quota, bind);
    p.oversubscribed = crowded;
    if (ranks > 1) p.because = text("%u ranks are more than %s", ranks, capacity_words(cores, quota).c_str());
    p.lost = "equal shares of the cores: two ranks on one core would be tied to it while others idle";
    return p;
  }
  Placement p;
  p.bound = true;
  p.oversubscribed = crowded;
  p.cpus.resize(ranks);
  if (bind == BindTo::kAuto && map == MapBy::kAuto) {
    // Shares, not single cores: a rank with threads of its own, and a second job on the machine, stay usable.
    p.what = "equal shares of the cores";
    p.because = text("%u ranks fit on %s", ranks, capacity_words(cores, quota).c_str());
    p.lost = "one core per rank: threads of a rank would share it (--bind-to core)";
    for (const Cpu& cpu : topology.cpus)
      for (unsigned r = 0; r < ranks; ++r)
        if (cpu.core >= static_cast<unsigned long>(r) * cores / ranks &&
            cpu.core < static_cast<unsigned long>(r + 1) * cores / ranks)
          p.cpus[r].push_back(cpu.os);
    finish_words(topology, &p);
    return p;
  }
  const BindTo unit = bind == BindTo::kAuto ? (map == MapBy::kHwthread ? BindTo::kHwthread : BindTo::kCore) : bind;
  const MapBy over = map != MapBy::kAuto ? map : unit == BindTo::kHwthread ? MapBy::kHwthread : MapBy::kCore;
  const std::vector<const Cpu*> places = order_of_places(topology, over);
  for (unsigned r = 0; r < ranks; ++r) {
    const Cpu& at = *places[r % places.size()];
    for (const Cpu& cpu : topology.cpus) {
      const bool mine = unit == BindTo::kHwthread ? cpu.os == at.os
                        : unit == BindTo::kNuma   ? cpu.numa == at.numa
                        : unit == BindTo::kSocket ? cpu.socket == at.socket
                                                  : cpu.core == at.core;
      if (mine) p.cpus[r].push_back(cpu.os);
    }
  }
  static const char* const kUnits[] = {"auto", "none", "hardware thread", "core", "NUMA node", "socket"};
  static const char* const kPlaces[] = {"auto", "hardware threads", "cores", "NUMA nodes", "sockets"};
  p.what = text("one %s each, ranks placed over %s in turn", kUnits[static_cast<int>(unit)],
                kPlaces[static_cast<int>(over)]);
  p.because = bind != BindTo::kAuto ? "--bind-to on the command line" : "--map-by on the command line";
  if (ranks > places.size()) p.because += text("; %u ranks share %zu places", ranks, places.size());
  finish_words(topology, &p);
  return p;
}

}  // namespace ashlar::mpiexec
