#include "mpiexec/tune/measure.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "framework/coll/api.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/lane_collectives.h"
#include "framework/object/handle.h"

namespace ashlar::tune {
namespace {

using coll::Collective;

constexpr int kBatches = 5;

/// The buffers of a call, large enough for every rank's blocks both ways.
struct Buffers {
  std::vector<double> in, out;
  std::vector<int> counts, displs;
};

/// One call whose quantity (coll::quantity_of) is `bytes`.
void call(Collective what, int bytes, Buffers& b, MPI_Comm comm, int size) {
  const int items = bytes / static_cast<int>(sizeof(double));
  void* const in = b.in.data();
  void* const out = b.out.data();
  switch (what) {
    case Collective::kBarrier:
      MPI_Barrier(comm);
      return;
    case Collective::kBcast:
      MPI_Bcast(in, bytes, MPI_BYTE, 0, comm);
      return;
    case Collective::kReduce:
      MPI_Reduce(in, out, items, MPI_DOUBLE, MPI_SUM, 0, comm);
      return;
    case Collective::kAllreduce:
      MPI_Allreduce(in, out, items, MPI_DOUBLE, MPI_SUM, comm);
      return;
    case Collective::kGather:
      MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
      return;
    case Collective::kScatter:
      MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
      return;
    case Collective::kAllgather:
      MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
      return;
    case Collective::kAlltoall:
      MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
      return;
    case Collective::kAllgatherv: {
      const int each = bytes / size;
      for (int r = 0; r < size; ++r) {
        b.counts[static_cast<std::size_t>(r)] = each;
        b.displs[static_cast<std::size_t>(r)] = r * each;
      }
      MPI_Allgatherv(in, each, MPI_BYTE, out, b.counts.data(), b.displs.data(), MPI_BYTE, comm);
      return;
    }
    case Collective::kReduceScatterBlock:
      MPI_Reduce_scatter_block(in, out, items / size, MPI_DOUBLE, MPI_SUM, comm);
      return;
    case Collective::kScan:
      MPI_Scan(in, out, items, MPI_DOUBLE, MPI_SUM, comm);
      return;
    case Collective::kExscan:
      MPI_Exscan(in, out, items, MPI_DOUBLE, MPI_SUM, comm);
      return;
    default:
      return;
  }
}

double batch(Collective what, int bytes, Buffers& buffers, MPI_Comm comm, int size, int repeats) {
  double spent = 0;
  for (int i = 0; i < repeats; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);  // another communicator: the one under test may have a forced algorithm for barriers
    const double start = MPI_Wtime();
    call(what, bytes, buffers, comm, size);
    spent += MPI_Wtime() - start;
  }
  double slowest = 0;
  MPI_Allreduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / repeats;
}

std::string key_of(Collective what) { return std::string("coll.") + coll::name_of(what) + ".algorithm"; }

/// The entry whose counter the last call moved on; what the rules say, unless one was preferred.
coll::CatalogueEntry* used(Collective what, const std::vector<std::uint64_t>& before) {
  std::size_t i = 0;
  for (coll::CatalogueEntry& entry : catalogue().entries()) {
    if (entry.algorithm->collective == what && entry.calls != before[i]) return &entry;
    ++i;
  }
  return nullptr;
}
std::vector<std::uint64_t> counters() {
  std::vector<std::uint64_t> out;
  for (const coll::CatalogueEntry& entry : catalogue().entries()) out.push_back(entry.calls);
  return out;
}

const char* origin_of(coll::CommState& state, Collective what, const coll::CatalogueEntry* entry, MPI_Count bytes) {
  for (const coll::Choice& choice : state.plan->choices[static_cast<std::size_t>(what)]) {
    if (choice.entry == entry && choice.rule != nullptr && choice.rule->bytes.has(bytes)) return choice.rule->origin;
  }
  return "no rule applies";
}

}  // namespace

// Constant by now, so the lane's lock is not needed.
coll::Catalogue& catalogue() ASHLAR_NO_THREAD_SAFETY { return resolve(MPI_COMM_WORLD)->lane->coll->engine.catalogue; }

const Figure* Point::of(const std::string& algorithm) const {
  for (const Figure& figure : figures) {
    if (figure.algorithm == algorithm) return &figure;
  }
  return nullptr;
}

const std::vector<Collective>& measured_collectives() {
  static const std::vector<Collective> all = {
      Collective::kBarrier,  Collective::kBcast,   Collective::kReduce,    Collective::kAllreduce,
      Collective::kGather,   Collective::kScatter, Collective::kAllgather, Collective::kAllgatherv,
      Collective::kAlltoall, Collective::kScan,    Collective::kExscan,    Collective::kReduceScatterBlock};
  return all;
}

Point measure(MPI_Comm comm, Collective what, MPI_Count bytes, double seconds) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  const auto room = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(size) / sizeof(double) + 8;
  const auto ranks = static_cast<std::size_t>(size);
  Buffers buffers{std::vector<double>(room), std::vector<double>(room), std::vector<int>(ranks),
                  std::vector<int>(ranks)};
  const int length = static_cast<int>(bytes);
  Comm& object = *resolve(comm);
  const std::string key = key_of(what);
  Point point{what, bytes, "", "", {}};

  std::vector<std::uint64_t> before = counters();
  call(what, length, buffers, comm, size);
  coll::CommState* state = nullptr;
  if (!coll::state_of(object, &state).ok()) return point;
  if (const coll::CatalogueEntry* const entry = used(what, before); entry != nullptr) {
    point.chosen = entry->algorithm->name;
    point.origin = origin_of(*state, what, entry, bytes);
  }
  for (coll::CatalogueEntry& entry : catalogue().entries()) {
    const coll::Algorithm& algorithm = *entry.algorithm;
    if (algorithm.collective != what || algorithm.is(coll::kInter)) continue;
    if (!coll::prefer(object, key.c_str(), algorithm.name).ok()) continue;
    before = counters();
    call(what, length, buffers, comm, size);
    if (used(what, before) != &entry) continue;  // it cannot serve this size
    const double once = batch(what, length, buffers, comm, size, 2);
    const int repeats = static_cast<int>(std::clamp(seconds / kBatches / once, 3.0, 10000.0));
    double times[kBatches];
    for (double& time : times) time = batch(what, length, buffers, comm, size, repeats);
    std::sort(times, times + kBatches);
    point.figures.push_back({algorithm.name, times[kBatches / 2]});
  }
  if (!coll::prefer(object, key.c_str(), "").ok()) return point;
  std::sort(point.figures.begin(), point.figures.end(),
            [](const Figure& a, const Figure& b) { return a.seconds < b.seconds; });
  return point;
}

}  // namespace ashlar::tune
