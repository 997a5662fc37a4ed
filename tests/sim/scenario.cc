#include "tests/sim/scenario.h"

#include <algorithm>
#include <cstring>

#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "framework/object/handle.h"

namespace ashlar::sim {
namespace {

using coll::Collective;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A datatype for the whole run, freed at its end.
class Made {
 public:
  Made(Status status, Datatype* type) : type_(type) {
    if (!status.ok() || !datatype::commit(&type_).ok()) std::abort();
  }
  ~Made() { static_cast<void>(datatype::free(&type_)); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  Datatype& operator*() const { return *type_; }

 private:
  Datatype* type_;
};
Datatype& integer() { return datatype::predefined(MPI_INT); }
Made make_gaps(Datatype& of, MPI_Count extent) {
  Datatype* type = nullptr;
  const Status made = datatype::create_resized(of, 0, extent, &type);
  return Made(made, type);
}
Made make_contiguous(MPI_Count count) {
  Datatype* type = nullptr;
  const Status made = datatype::contiguous(count, integer(), &type);
  return Made(made, type);
}
Made make_vector() {
  Datatype* type = nullptr;
  const Status made = datatype::vector(3, 2, 4, integer(), &type);
  return Made(made, type);
}

struct Kind {
  Datatype* type;
  int ints;
};
/// The datatype that `rank` describes its data with. In kMixed ranks differ; the signatures are equal.
Kind kind_of(Items items, Rank rank) {
  static const Made gaps = make_gaps(integer(), 12);
  static const Made vector = make_vector();
  static const Made two = make_contiguous(2);
  static const Made two_apart = make_gaps(*two, 20);
  switch (items) {
    case Items::kInt:
      return {&integer(), 1};
    case Items::kGaps:
      return {&*gaps, 1};
    case Items::kVector:
      return {&*vector, 6};
    default:
      return rank % 2 == 0 ? Kind{&*two, 2} : Kind{&*two_apart, 2};
  }
}

using coll::among_neighbours;
using coll::reduces;

/// Those whose blocks have counts and displacements of their own.
bool spreads(Collective what) {
  switch (what) {
    case Collective::kGatherv:
    case Collective::kScatterv:
    case Collective::kAllgatherv:
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
    case Collective::kNeighborAllgatherv:
    case Collective::kNeighborAlltoallv:
    case Collective::kNeighborAlltoallw:
      return true;
    default:
      return false;
  }
}
bool has_types(Collective what) { return what == Collective::kAlltoallw || what == Collective::kNeighborAlltoallw; }

/// Pairs [first, last] of ranks: joining is allowed only where the left one ends right before the right one begins, so
/// a result of [0, n - 1] says that every operand came in once and in order.
void join_intervals(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) {
    int left[2], right[2];
    auto* const place = static_cast<unsigned char*>(inout) + i * 12;
    std::memcpy(left, static_cast<unsigned char*>(in) + i * 12, sizeof left);
    std::memcpy(right, place, sizeof right);
    const bool fits = left[1] + 1 == right[0];
    const int joined[2] = {fits ? left[0] : -1000, right[1]};
    std::memcpy(place, joined, sizeof joined);
  }
}
void sum_pairs(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) {
    int left[2], right[2];
    auto* const place = static_cast<unsigned char*>(inout) + i * 12;
    std::memcpy(left, static_cast<unsigned char*>(in) + i * 12, sizeof left);
    std::memcpy(right, place, sizeof right);
    const int sum[2] = {left[0] + right[0], left[1] + right[1]};
    std::memcpy(place, sum, sizeof sum);
  }
}

Kind kind_of(Operation operation) {
  static const Made pair = make_gaps(*make_contiguous(2), 12);
  return operation == Operation::kSum ? Kind{&integer(), 1} : Kind{&*pair, 2};
}
ReduceOp& op_of(Operation operation) {
  static ReduceOp intervals(ReduceOp::Code::kUser, false, reinterpret_cast<ReduceOp::Function>(join_intervals), false);
  static ReduceOp pairs(ReduceOp::Code::kUser, true, reinterpret_cast<ReduceOp::Function>(sum_pairs), false);
  switch (operation) {
    case Operation::kSum:
      return datatype::predefined_op(MPI_SUM);
    case Operation::kSumPairs:
      return pairs;
    default:
      return intervals;
  }
}

}  // namespace

std::string Scenario::describe() const {
  static constexpr const char* kItems[] = {"int", "gaps", "vector", "mixed"};
  static constexpr const char* kOperations[] = {"sum", "pairs", "intervals"};
  std::string text = coll::name_of(what);
  text += " of " + std::to_string(size) + " ranks, root " + std::to_string(root) + ", count " + std::to_string(count);
  text += reduces(what) ? std::string(", ") + kOperations[static_cast<int>(operation)]
                        : std::string(", ") + kItems[static_cast<int>(items)];
  if (in_place) text += ", in place";
  return text + ", seed " + std::to_string(seed);
}

Buffer::Buffer(Datatype& type, int ints_per_item, std::vector<MPI_Count> counts, bool spread, std::uint64_t seed)
    : type_(&type), ints_per_item_(ints_per_item), counts_(std::move(counts)), displs_(counts_.size()) {
  std::vector<std::size_t> order(counts_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); spread && i > 1; --i) std::swap(order[i - 1], order[mix(seed + i) % i]);
  MPI_Count at = 0;
  for (const std::size_t i : order) {
    displs_[i] = at;
    at += counts_[i] + (spread ? static_cast<MPI_Count>(mix(seed ^ i) % 3) : 0);
  }
  for (const MPI_Count displacement : displs_) byte_displs_.push_back(displacement * type.extent());
  memory_.assign(static_cast<std::size_t>(at * type.extent() + type.true_extent() + 16), 0xa5);
}

DataView Buffer::block(std::size_t i) const {
  return DataView{const_cast<unsigned char*>(memory_.data()) + displs_[i] * type_->extent(), counts_[i], type_};
}
DataView Buffer::first() const {
  return DataView{const_cast<unsigned char*>(memory_.data()), counts_.empty() ? 0 : counts_[0], type_};
}
MPI_Datatype Buffer::handle() const { return to_handle<MPI_Datatype>(type_); }
void Buffer::fill(std::size_t i, const std::vector<int>& values) {
  datatype::unpack(block(i), 0, values.data(), values.size() * sizeof(int));
}

Calls::Calls(const Scenario& scenario) : s_(scenario) {
  datatype::register_predefined();
  const auto ranks = static_cast<std::size_t>(s_.size);
  for (auto* side : {&send_, &recv_, &send_before_, &expected_}) side->resize(ranks);
  types_.resize(ranks);
  for (Rank r = 0; r < s_.size; ++r) pieces_.push_back(block_count(0, r));
  if (among_neighbours(s_.what)) draw_topology();
  for (Rank r = 0; r < s_.size; ++r) {
    if (reduces(s_.what)) {
      make_reduction(r);
    } else if (among_neighbours(s_.what)) {
      make_neighbourhood(r);
    } else {
      make_rank(r);
    }
    const auto me = static_cast<std::size_t>(r);
    if (has_types(s_.what)) types_[me].assign(std::max(send_[me]->blocks(), recv_[me]->blocks()), recv_[me]->handle());
    if (send_[me]) send_before_[me] = std::make_unique<Buffer>(*send_[me]);
  }
}

MPI_Count Calls::block_count(Rank from, Rank to) const {
  const auto most = static_cast<MPI_Count>(s_.count);
  const auto draw = [&](std::uint64_t a, std::uint64_t b) {
    return static_cast<MPI_Count>(mix(s_.seed * 31 + a * 1000003 + b) % static_cast<std::uint64_t>(most + 1));
  };
  switch (s_.what) {
    case Collective::kGatherv:
    case Collective::kAllgatherv:
      return draw(static_cast<std::uint64_t>(from), 0);
    case Collective::kScatterv:
    case Collective::kReduceScatter:
      return draw(static_cast<std::uint64_t>(to), 1);
    case Collective::kNeighborAllgatherv:
      return draw(static_cast<std::uint64_t>(from), 0);
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
    case Collective::kNeighborAlltoallv:
    case Collective::kNeighborAlltoallw:
      return draw(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to) + 2);
    default:
      return most;
  }
}

std::vector<int> Calls::values(Rank from, Rank to, std::size_t count) const {
  std::vector<int> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::uint64_t>(from) * 4099 + static_cast<std::uint64_t>(to);
    out[i] = static_cast<int>(mix(s_.seed ^ (place << 20) ^ i) & 0xfffffff);
    if (reduces(s_.what)) out[i] = s_.operation == Operation::kIntervals ? from : out[i] % 4096;
  }
  return out;
}

const std::vector<int>& Calls::reduced(std::size_t count) {
  // The same on every rank: worked out once, or thousands of ranks would each add up thousands of vectors.
  std::vector<int>& out = reduced_;
  if (out.size() == count) return out;
  out.assign(count, 0);
  if (s_.operation == Operation::kIntervals) {
    for (std::size_t i = 1; i < count; i += 2) out[i] = s_.size - 1;
    return out;
  }
  for (Rank r = 0; r < s_.size; ++r) {
    const std::vector<int> operand = values(r, 0, count);
    for (std::size_t i = 0; i < count; ++i) out[i] += operand[i];
  }
  return out;
}

void Calls::make_rank(Rank rank) {
  const auto me = static_cast<std::size_t>(rank);
  const auto ranks = static_cast<std::size_t>(s_.size);
  const Kind kind = kind_of(s_.items, rank);
  const bool root = rank == s_.root;
  const std::vector<MPI_Count> one{s_.count};
  const auto make = [&](std::vector<MPI_Count> counts, bool spread) {
    return std::make_unique<Buffer>(*kind.type, kind.ints, std::move(counts), spread, s_.seed + me);
  };
  const auto row = [&](bool outgoing) {  // a block per partner
    std::vector<MPI_Count> counts(ranks);
    for (Rank r = 0; r < s_.size; ++r)
      counts[static_cast<std::size_t>(r)] = outgoing ? block_count(rank, r) : block_count(r, rank);
    return counts;
  };
  const bool spread = spreads(s_.what);
  std::unique_ptr<Buffer>&send = send_[me], &recv = recv_[me], &expected = expected_[me];
  const auto whole = [&](Buffer& b) { return b.ints(0); };

  switch (s_.what) {
    case Collective::kBarrier:
      return;
    case Collective::kBcast:
      recv = make(one, false);
      expected = make(one, false);
      if (root) recv->fill(0, values(s_.root, 0, whole(*recv)));
      expected->fill(0, values(s_.root, 0, whole(*expected)));
      return;
    case Collective::kGather:
    case Collective::kGatherv:
    case Collective::kAllgather:
    case Collective::kAllgatherv: {
      const bool gets = root || s_.what == Collective::kAllgather || s_.what == Collective::kAllgatherv;
      send = make({block_count(rank, 0)}, false);
      send->fill(0, values(rank, 0, send->ints(0)));
      if (!gets) break;
      recv = make(row(false), spread);
      expected = make(row(false), spread);
      for (std::size_t r = 0; r < ranks; ++r) expected->fill(r, values(static_cast<Rank>(r), 0, expected->ints(r)));
      if (s_.in_place) recv->fill(me, values(rank, 0, recv->ints(me)));
      break;
    }
    case Collective::kScatter:
    case Collective::kScatterv: {
      recv = make({block_count(s_.root, rank)}, false);
      expected = make({block_count(s_.root, rank)}, false);
      if (!(root && s_.in_place)) expected->fill(0, values(s_.root, rank, expected->ints(0)));
      if (!root) break;
      send = make(row(true), spread);
      for (std::size_t r = 0; r < ranks; ++r) send->fill(r, values(s_.root, static_cast<Rank>(r), send->ints(r)));
      break;
    }
    default: {  // all-to-all; in place the counts are the same both ways
      const bool both = s_.in_place;
      std::vector<MPI_Count> in = row(false), out = row(true);
      if (both && spread) {
        for (Rank r = 0; r < s_.size; ++r)
          in[static_cast<std::size_t>(r)] = block_count(std::min(r, rank), std::max(r, rank));
        out = in;
      }
      send = make(out, spread);
      recv = make(in, spread);
      expected = make(in, spread);
      Buffer& source = both ? *recv : *send;
      for (std::size_t r = 0; r < ranks; ++r) {
        source.fill(r, values(rank, static_cast<Rank>(r), source.ints(r)));
        expected->fill(r, values(static_cast<Rank>(r), rank, expected->ints(r)));
      }
    }
  }
}

void Calls::make_reduction(Rank rank) {
  const auto me = static_cast<std::size_t>(rank);
  const Kind kind = kind_of(s_.operation);
  const auto make = [&](MPI_Count count) {
    return std::make_unique<Buffer>(*kind.type, kind.ints, std::vector<MPI_Count>{count}, false, s_.seed + me);
  };
  const bool pieces = s_.what == Collective::kReduceScatter || s_.what == Collective::kReduceScatterBlock;
  const bool prefix = s_.what == Collective::kScan || s_.what == Collective::kExscan;
  MPI_Count count = s_.count, mine = s_.count, before = 0;
  if (pieces) {
    count = 0;
    for (Rank r = 0; r < s_.size; ++r) {
      if (r == rank) before = count;
      count += block_count(0, r);
    }
    mine = block_count(0, rank);
  }
  std::unique_ptr<Buffer>&send = send_[me], &recv = recv_[me], &expected = expected_[me];
  send = make(count);
  const std::vector<int> operand = values(rank, 0, send->ints(0));
  const bool gets = s_.what != Collective::kReduce || rank == s_.root;
  // In place, the piece of a reduce_scatter lies at the beginning, and what is behind stays as it was.
  const bool in_place = s_.in_place && gets;
  recv = make(in_place ? count : mine);
  expected = make(in_place ? count : mine);
  if (in_place) {
    recv->fill(0, operand);
    expected->fill(0, operand);
  } else {
    send->fill(0, operand);
  }
  if (!gets) return;
  const auto put = [&](std::vector<int> result) {
    std::vector<int> whole = in_place ? operand : result;
    std::copy(result.begin(), result.end(), whole.begin());
    expected->fill(0, whole);
  };
  const auto step = static_cast<std::size_t>(kind.ints);
  if (prefix) {
    const std::vector<int> excluded = prefix_;
    if (prefix_.empty()) {
      prefix_ = operand;
    } else {
      for (std::size_t i = 0; i < operand.size(); ++i) {
        const bool interval = s_.operation == Operation::kIntervals;
        prefix_[i] = interval ? (i % 2 == 0 ? 0 : rank) : prefix_[i] + operand[i];
      }
    }
    if (s_.what == Collective::kScan) put(prefix_);
    if (s_.what == Collective::kExscan && rank > 0) put(excluded);
    return;
  }
  const std::vector<int>& all = reduced(operand.size());
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(before) * step);
  put(std::vector<int>(from, from + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(mine) * step)));
}

void Calls::draw_topology() {
  const auto n = static_cast<std::uint64_t>(s_.size);
  topology_.resize(static_cast<std::size_t>(s_.size));
  const bool grid = s_.seed % 2 == 1;  // a periodic ring; else any graph, with edges to oneself and double ones
  for (Rank r = 0; r < s_.size; ++r) {
    Edges& mine = topology_[static_cast<std::size_t>(r)];
    if (grid) {
      mine.destinations = {(r + s_.size - 1) % s_.size, (r + 1) % s_.size};
      mine.sources = mine.destinations;
      mine.numbers = {1, 0};
      continue;
    }
    const std::uint64_t degree = mix(s_.seed + static_cast<std::uint64_t>(r)) % 4;
    for (std::uint64_t e = 0; e < degree; ++e) {
      const auto to = static_cast<Rank>(mix(s_.seed * 7 + static_cast<std::uint64_t>(r) * 64 + e) % n);
      Edges& other = topology_[static_cast<std::size_t>(to)];
      mine.destinations.push_back(to);
      other.sources.push_back(r);
      other.numbers.push_back(static_cast<int>(e));
    }
  }
  for (Rank r = 0; r < s_.size; ++r) {
    Edges& edges = topology_[static_cast<std::size_t>(r)];
    if (grid) {
      edges.topology = std::make_shared<CartTopology>(std::vector<int>{s_.size}, std::vector<int>{1}, r);
    } else {
      edges.topology = std::make_shared<DistGraphTopology>(edges.sources, std::vector<int>{}, edges.destinations,
                                                           std::vector<int>{}, false);
    }
  }
}

void Calls::make_neighbourhood(Rank rank) {
  const auto me = static_cast<std::size_t>(rank);
  const Edges& edges = topology_[me];
  const Kind kind = kind_of(s_.items, rank);
  const bool spread = spreads(s_.what);
  const bool same_for_all = s_.what == Collective::kNeighborAllgather || s_.what == Collective::kNeighborAllgatherv;
  const auto make = [&](std::vector<MPI_Count> counts, bool apart) {
    return std::make_unique<Buffer>(*kind.type, kind.ints, std::move(counts), apart, s_.seed + me);
  };
  std::vector<MPI_Count> in, out;
  for (std::size_t i = 0; i < edges.sources.size(); ++i) in.push_back(block_count(edges.sources[i], edges.numbers[i]));
  for (std::size_t i = 0; i < edges.destinations.size(); ++i) out.push_back(block_count(rank, static_cast<Rank>(i)));
  send_[me] = make(same_for_all ? std::vector<MPI_Count>{block_count(rank, 0)} : out, spread && !same_for_all);
  recv_[me] = make(in, spread);
  expected_[me] = make(in, spread);
  for (std::size_t i = 0; i < send_[me]->blocks(); ++i)
    send_[me]->fill(i, values(rank, static_cast<Rank>(i), send_[me]->ints(i)));
  for (std::size_t i = 0; i < in.size(); ++i)
    expected_[me]->fill(i, values(edges.sources[i], same_for_all ? 0 : edges.numbers[i], expected_[me]->ints(i)));
}

coll::Call Calls::of(Rank rank) const {
  const auto me = static_cast<std::size_t>(rank);
  coll::Call call;
  call.what = s_.what;
  call.root = s_.root;
  if (send_[me]) call.send = send_[me]->first();
  if (recv_[me]) call.recv = recv_[me]->first();
  const bool root = rank == s_.root;
  const bool vector = spreads(s_.what);
  if (reduces(s_.what)) {
    call.op = &op_of(s_.operation);
    if (s_.what == Collective::kReduce && !root) {
      call.recv = DataView{};
    } else if (s_.in_place) {
      call.send = call.recv;
      call.recv.count = block_count(0, rank);
    }
    if (s_.what == Collective::kReduceScatter) call.recv_counts = IntArray(pieces_.data());
    call.bytes = call.quantity(s_.size);
    return call;
  }
  const bool scatters = s_.what == Collective::kScatter || s_.what == Collective::kScatterv;
  const bool gathers = s_.what == Collective::kGather || s_.what == Collective::kGatherv;
  call.in_place = s_.in_place && (root || !(scatters || gathers));
  const bool from_all = s_.what != Collective::kScatterv;
  const bool to_all = s_.what != Collective::kGatherv && s_.what != Collective::kAllgatherv &&
                      s_.what != Collective::kNeighborAllgatherv;
  if (vector && from_all && recv_[me]) {
    call.recv_counts = IntArray(recv_[me]->counts());
    call.recv_displs = IntArray(recv_[me]->displs());
  }
  if (vector && to_all && send_[me]) {
    call.send_counts = IntArray(send_[me]->counts());
    call.send_displs = IntArray(send_[me]->displs());
  }
  // What the binding does not pass must not be looked at.
  if (call.in_place && !scatters) call.send = DataView{}, call.send_counts = {}, call.send_displs = {};
  if (call.in_place && scatters) call.recv = DataView{};
  if (has_types(s_.what)) {
    call.recv_types = types_[me].data();
    call.recv_displs = IntArray(recv_[me]->byte_displs());
    call.recv.type = nullptr;
    if (!call.in_place) {
      call.send_types = types_[me].data();
      call.send_displs = IntArray(send_[me]->byte_displs());
      call.send.type = nullptr;
    }
  }
  if (!topology_.empty()) call.topology = topology_[me].topology.get();
  call.bytes = call.quantity(s_.size);
  return call;
}

std::string Calls::check(Rank rank) const {
  const auto me = static_cast<std::size_t>(rank);
  if (expected_[me] && !recv_[me]->same_memory(*expected_[me])) return "the receive buffer is wrong";
  if (send_before_[me] && !send_[me]->same_memory(*send_before_[me])) return "the send buffer was written to";
  return "";
}

MPI_Count Calls::quantity() const {
  const MPI_Count first = of(0).quantity(s_.size);
  for (Rank r = 1; r < s_.size; ++r) {
    if (of(r).quantity(s_.size) != first) return -1;
  }
  return first;
}

}  // namespace ashlar::sim
