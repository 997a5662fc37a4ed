#include "mpiexec/tune/measure.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>

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

/// Makes a call, or, where `request` is not null, the persistent operation of it.
template <class... Arguments>
void either(MPI_Request* request, int (*blocking)(Arguments...),
            std::type_identity_t<int (*)(Arguments..., MPI_Info, MPI_Request*)> persistent,
            std::type_identity_t<Arguments>... arguments) {
  if (request == nullptr) {
    blocking(arguments...);
  } else {
    persistent(arguments..., MPI_INFO_NULL, request);
  }
}

/// One call whose quantity (coll::quantity_of) is `bytes`, or its persistent operation.
void call(Collective what, int bytes, Buffers& b, MPI_Comm comm, int size, MPI_Request* request = nullptr) {
  const int items = bytes / static_cast<int>(sizeof(double));
  void* const in = b.in.data();
  void* const out = b.out.data();
  switch (what) {
    case Collective::kBarrier:
      return either(request, MPI_Barrier, MPI_Barrier_init, comm);
    case Collective::kBcast:
      return either(request, MPI_Bcast, MPI_Bcast_init, in, bytes, MPI_BYTE, 0, comm);
    case Collective::kReduce:
      return either(request, MPI_Reduce, MPI_Reduce_init, in, out, items, MPI_DOUBLE, MPI_SUM, 0, comm);
    case Collective::kAllreduce:
      return either(request, MPI_Allreduce, MPI_Allreduce_init, in, out, items, MPI_DOUBLE, MPI_SUM, comm);
    case Collective::kGather:
      return either(request, MPI_Gather, MPI_Gather_init, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    case Collective::kScatter:
      return either(request, MPI_Scatter, MPI_Scatter_init, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    case Collective::kAllgather:
      return either(request, MPI_Allgather, MPI_Allgather_init, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    case Collective::kAlltoall:
      return either(request, MPI_Alltoall, MPI_Alltoall_init, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    case Collective::kAllgatherv: {
      const int each = bytes / size;
      for (int r = 0; r < size; ++r) {
        b.counts[static_cast<std::size_t>(r)] = each;
        b.displs[static_cast<std::size_t>(r)] = r * each;
      }
      return either(request, MPI_Allgatherv, MPI_Allgatherv_init, in, each, MPI_BYTE, out, b.counts.data(),
                    b.displs.data(), MPI_BYTE, comm);
    }
    case Collective::kReduceScatterBlock:
      return either(request, MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_init, in, out, items / size, MPI_DOUBLE,
                    MPI_SUM, comm);
    case Collective::kScan:
      return either(request, MPI_Scan, MPI_Scan_init, in, out, items, MPI_DOUBLE, MPI_SUM, comm);
    case Collective::kExscan:
      return either(request, MPI_Exscan, MPI_Exscan_init, in, out, items, MPI_DOUBLE, MPI_SUM, comm);
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

/// What serves the call. A persistent operation chooses when it is made and does no more: a call would count as well
/// what serves the parts of it on this rank, which need not be what serves them on others.
coll::CatalogueEntry* serving(Collective what, int bytes, Buffers& buffers, MPI_Comm comm, int size) {
  std::vector<std::uint64_t> before;
  for (const coll::CatalogueEntry& entry : catalogue().entries()) before.push_back(entry.calls);
  MPI_Request request = MPI_REQUEST_NULL;
  call(what, bytes, buffers, comm, size, &request);
  if (request == MPI_REQUEST_NULL) return nullptr;
  MPI_Request_free(&request);
  std::size_t i = 0;
  for (coll::CatalogueEntry& entry : catalogue().entries())
    if (entry.calls != before[i++] && entry.algorithm->collective == what) return &entry;
  return nullptr;
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

  coll::CommState* state = nullptr;
  if (!coll::state_of(object, &state).ok()) return point;
  if (const coll::CatalogueEntry* const entry = serving(what, length, buffers, comm, size); entry != nullptr) {
    point.chosen = entry->algorithm->name;
    point.origin = origin_of(*state, what, entry, bytes);
  }
  for (coll::CatalogueEntry& entry : catalogue().entries()) {
    const coll::Algorithm& algorithm = *entry.algorithm;
    if (algorithm.collective != what || algorithm.is(coll::kInter)) continue;
    if (!coll::prefer(object, key.c_str(), algorithm.name).ok()) continue;
    if (serving(what, length, buffers, comm, size) != &entry) continue;  // it cannot serve this size
    call(what, length, buffers, comm, size);                             // what the first one makes is not measured
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
