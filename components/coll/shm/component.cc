#include <cstddef>
#include <cstdio>

#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/config.h"
#include "components/coll/shm/counters.h"
#include "framework/plugin/component.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::int32_t kPriority = 50;  // before p2p, for what it serves
constexpr int kMostRanks = 1024;
constexpr std::uint64_t kLeastPlace = 4096;

std::uint64_t piece_asked = 65536, blocks_asked = 256u << 10;
Config config{65536, true, 32768, 256u << 10, 0, 4u << 20};
constexpr std::uint64_t kPlacesOfAll = 1u << 20;  // of one round, so that a segment for many ranks stays small

const ashlar_host* the_host = nullptr;
Counters the_counters;
bool movers_recorded = false;

void add_pvars(const ashlar_host& host) {
  static const ashlar_pvar rows[] = {
      {"copies", "system calls of this process that copied from or to another one's memory in a collective",
       ASHLAR_PVAR_COUNTER, &the_counters.copies},
      {"turns", "times it was this process's turn to copy in an exchange", ASHLAR_PVAR_COUNTER, &the_counters.turns},
      {"turns_waited_for", "of these, when it had to wait for it", ASHLAR_PVAR_COUNTER, &the_counters.turns_waited_for},
  };
  if (host.add_pvars != nullptr) host.add_pvars("coll", "shm", rows, sizeof rows / sizeof rows[0]);
}

constexpr const char* kPieceRange[] = {"4KiB", "16MiB", nullptr};
constexpr const char* kBlockRange[] = {"4KiB", "64MiB", nullptr};
constexpr const char* kSmallRange[] = {"0", "64MiB", nullptr};
constexpr const char* kMoverRange[] = {"0", "65536", nullptr};
constexpr const char* kFarRange[] = {"0", "1TiB", nullptr};
constexpr ashlar_param kParams[] = {
    {"piece", "64KiB",
     "Room for the payload of one rank in the shared segment: what fits goes through it at once (algorithm shm), more "
     "in "
     "pieces (shm_large). With more than 16 ranks it is less, 4 KiB at least.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, piece)), kPieceRange},
    {"single_copy", "true",
     "Whether ranks of a node may copy from and to each other's buffers in collectives (algorithm direct). Where the "
     "system forbids it they find out by themselves.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, single_copy)), nullptr},
    {"small_block", "32KiB",
     "Blocks for one rank up to this size are left in the segment by their sender, as far as there is room (algorithm "
     "direct): a copy more, a system call less. A block for everyone is left there whenever there is room.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, small_block)), kSmallRange},
    {"blocks", "256KiB",
     "Room for these blocks of one rank in the shared segment. With more than 4 ranks it is less; never less than for "
     "a "
     "piece.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, blocks)), kBlockRange},
    {"movers", "0",
     "Ranks that copy at the same time in an exchange of blocks (algorithm direct); the others wait for their turn, so "
     "that the first ones are done early. 0: where ranks take turns on the cores, as many as they share cores; else "
     "all.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL_EQ, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, movers)), kMoverRange},
    {"far_copy", "4MiB",
     "From so many bytes that an exchange (algorithm direct) moves from and to a rank, what stays on the rank is "
     "copied "
     "with both sides asked for ahead: it is in no cache of the core any more.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, far_copy)), kFarRange},
};

const char* needs_node(const Shape& shape, const Call& call) {
  if (shape.nodes > 1) return "the ranks are on several nodes";
  if (shape.ranks < 2) return "one rank needs no segment";
  if (shape.ranks > kMostRanks) return "too many ranks for one segment";
  if (call.bytes > static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(shape.ranks))))
    return "more than a rank's place in the segment, coll.shm.piece";
  return nullptr;
}
const char* needs_node_and_dense(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and operands lie packed in the segment";
  return needs_node(shape, call);
}

const char* needs_small_row(const Shape& shape, const Call& call) {
  if (const char* const why = needs_node(shape, call); why != nullptr) return why;
  if (call.bytes * shape.ranks > static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(shape.ranks))))
    return "the blocks for all ranks do not fit into a rank's place";
  return nullptr;
}
const char* needs_node_of_any_size(const Shape& shape, const Call&) {
  if (shape.nodes > 1) return "the ranks are on several nodes";
  if (shape.ranks < 2) return "one rank needs no segment";
  return shape.ranks > kMostRanks ? "too many ranks for one segment" : nullptr;
}
const char* needs_dense_items(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and operands lie packed in the segment";
  if (call.send.type->size() > static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(shape.ranks))))
    return "an item is larger than a piece";
  return needs_node_of_any_size(shape, call);
}

const char* needs_reach(const Shape& shape, const Call& call) {
  if (!config.single_copy) return "coll.shm.single_copy is off";
  return needs_node_of_any_size(shape, call);
}
const char* needs_reach_and_table(const Shape& shape, const Call& call) {
  const auto ranks = static_cast<std::uint32_t>(shape.ranks);
  if (blocks_bytes(ranks) < table_bytes(ranks, ranks)) return "a table for all ranks does not fit into a rank's place";
  return needs_reach(shape, call);
}
const char* needs_reach_and_dense(const Shape& shape, const Call& call) {
  if (!call.send.dense()) return "the datatype has gaps, and slices of operands are combined as they lie";
  return needs_reach(shape, call);
}

constexpr const char* kSlotsText = "slots in shared memory";
constexpr const char* kPiecesText = "in pieces through shared memory";
constexpr const char* kDirectText = "copied once between the callers' buffers";

constexpr Algorithm small(Collective what, const char* (*excluded)(const Shape&, const Call&),
                          Co (*run)(Op&, const Call&), std::uint8_t traits = 0) {
  return {what, "shm", "shm", kSlotsText, excluded, run, static_cast<std::uint8_t>(kInCallOrder | traits)};
}
constexpr Algorithm large(Collective what, const char* (*excluded)(const Shape&, const Call&),
                          Co (*run)(Op&, const Call&), std::uint8_t traits = 0) {
  return {what, "shm_large", "shm", kPiecesText, excluded, run, static_cast<std::uint8_t>(kInCallOrder | traits)};
}
constexpr Algorithm direct(Collective what, const char* (*excluded)(const Shape&, const Call&),
                           Co (*run)(Op&, const Call&), std::uint8_t traits = 0) {
  return {
      what, "direct", "shm", kDirectText, excluded, run, static_cast<std::uint8_t>(kInCallOrder | kReaches | traits)};
}

constexpr auto kEveryone = enter<everyone, everyone_stay>;
constexpr auto kGather = enter<gather_blocks, gather_blocks_stay>;
constexpr auto kScatter = enter<scatter_blocks, scatter_blocks_stay>;
constexpr auto kExchange = enter<exchange_direct, twice_stay>;
constexpr auto kCombine = enter<combine_direct, twice_stay>;

constexpr Algorithm kAlgorithms[] = {
    small(Collective::kBarrier, needs_node, enter<barrier, small_stay>),
    small(Collective::kBcast, needs_node, enter<bcast, small_stay>),
    small(Collective::kReduce, needs_node_and_dense, enter<reduce, small_stay>, kFixedOrder),
    small(Collective::kAllreduce, needs_node_and_dense, enter<allreduce, small_stay>, kFixedOrder),
    small(Collective::kGather, needs_node, enter<gather, small_stay>),
    small(Collective::kScatter, needs_node, enter<scatter, small_stay>),
    small(Collective::kGatherv, needs_node_of_any_size, kGather),
    small(Collective::kScatterv, needs_node_of_any_size, kScatter),
    small(Collective::kAllgather, needs_node, kEveryone),
    small(Collective::kAlltoall, needs_small_row, kEveryone),
    small(Collective::kReduceScatter, needs_node_and_dense, kEveryone, kFixedOrder),
    small(Collective::kReduceScatterBlock, needs_node_and_dense, kEveryone, kFixedOrder),
    small(Collective::kScan, needs_node_and_dense, enter<prefix, small_stay>, kFixedOrder),
    small(Collective::kExscan, needs_node_and_dense, enter<prefix, small_stay>, kFixedOrder),
    large(Collective::kBcast, needs_node_of_any_size, enter<bcast_large, large_stay>),
    large(Collective::kReduce, needs_dense_items, enter<reduce_large, large_stay>, kFixedOrder),
    large(Collective::kAllreduce, needs_dense_items, enter<allreduce_large, large_stay>, kFixedOrder),
    direct(Collective::kBcast, needs_reach, enter<bcast_direct, reach_stay>),
    direct(Collective::kGather, needs_reach, kGather),
    direct(Collective::kScatter, needs_reach, kScatter),
    direct(Collective::kAllgather, needs_reach_and_table, kExchange),
    direct(Collective::kAllgatherv, needs_reach_and_table, kExchange),
    direct(Collective::kAlltoall, needs_reach_and_table, kExchange),
    direct(Collective::kAlltoallv, needs_reach_and_table, kExchange),
    direct(Collective::kAlltoallw, needs_reach_and_table, kExchange),
    direct(Collective::kNeighborAllgather, needs_reach, kExchange, kListsEdges),
    direct(Collective::kNeighborAllgatherv, needs_reach, kExchange, kListsEdges),
    direct(Collective::kNeighborAlltoall, needs_reach, kExchange, kListsEdges),
    direct(Collective::kNeighborAlltoallv, needs_reach, kExchange, kListsEdges),
    direct(Collective::kNeighborAlltoallw, needs_reach, kExchange, kListsEdges),
    direct(Collective::kReduce, needs_reach_and_dense, kCombine, kFixedOrder),
    direct(Collective::kAllreduce, needs_reach_and_dense, kCombine, kFixedOrder),
    direct(Collective::kReduceScatter, needs_reach_and_dense, kCombine, kFixedOrder),
    direct(Collective::kReduceScatterBlock, needs_reach_and_dense, kCombine, kFixedOrder),
    direct(Collective::kScan, needs_reach_and_dense, kCombine, kFixedOrder),
    direct(Collective::kExscan, needs_reach_and_dense, kCombine, kFixedOrder),
};
constexpr AlgorithmList kList{sizeof(AlgorithmList), sizeof kAlgorithms / sizeof kAlgorithms[0], kAlgorithms};

ashlar_result open(const ashlar_host* host, const void* block) {
  the_host = host;
  add_pvars(*host);
  config = *static_cast<const Config*>(block);
  piece_asked = config.piece;
  blocks_asked = config.blocks;
  config.piece = (config.piece + 63) / 64 * 64;  // places begin on cache lines
  config.blocks = (config.blocks + 63) / 64 * 64;
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "small collectives of ranks that share a node");
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<AlgorithmList*>(&kList);
  return ASHLAR_OK;
}

void destroy(void*) {}

std::uint64_t room_of(std::uint64_t wanted, std::uint32_t ranks) {
  const std::uint64_t share = kPlacesOfAll / ranks / 64 * 64;
  const std::uint64_t room = wanted < share ? wanted : share;
  return room < kLeastPlace ? kLeastPlace : room;
}

}  // namespace

const Config& configuration() { return config; }
Counters& counters() { return the_counters; }

void record_movers(std::uint32_t movers, std::uint32_t ranks) {
  if (the_host == nullptr || the_host->record == nullptr || !first_to_set(movers_recorded)) return;
  char chosen[40], because[160];
  std::snprintf(chosen, sizeof chosen, "%u at a time", movers);
  std::snprintf(
      because, sizeof because,
      config.movers != 0 ? "coll.shm.movers says so; first used by %u ranks" : "the first %u ranks share as many cores",
      ranks);
  the_host->record("coll", "ranks that copy in an exchange", chosen, because, "", "coll.shm.movers");
}

void record_places(std::uint32_t ranks) {
  const auto record = [ranks](const char* parameter, std::uint64_t asked, std::uint64_t used, bool of_piece) {
    if (used == asked || the_host == nullptr || the_host->adjusted == nullptr) return;
    char words[32], because[120];
    const bool whole = used % 1024 == 0;
    std::snprintf(words, sizeof words, whole ? "%lluKiB" : "%llu",
                  static_cast<unsigned long long>(whole ? used / 1024 : used));
    if (used < asked)
      std::snprintf(because, sizeof because, "that is a place in a segment for %u ranks, which has %llu KiB for all",
                    ranks, static_cast<unsigned long long>(kPlacesOfAll / 1024));
    else
      std::snprintf(because, sizeof because,
                    of_piece ? "there is never less room than for coll.shm.piece" : "places begin on cache lines");
    the_host->adjusted("coll", "shm", parameter, words, because);
  };
  record("piece", piece_asked, place_bytes(ranks), false);
  record("blocks", blocks_asked, blocks_bytes(ranks), config.blocks < config.piece);
}

std::uint64_t place_bytes(std::uint32_t ranks) { return room_of(config.piece, ranks); }
std::uint64_t blocks_bytes(std::uint32_t ranks) {
  return room_of(config.blocks > config.piece ? config.blocks : config.piece, ranks);
}

}  // namespace ashlar::coll::shm

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {sizeof(ashlar_component),
                                              ASHLAR_COMPONENT_MAJOR,
                                              ASHLAR_COMPONENT_MINOR,
                                              "coll",
                                              "shm",
                                              "1.0.0",
                                              "small collectives on flags in shared memory",
                                              1,
                                              sizeof(ashlar::coll::shm::Config),
                                              sizeof ashlar::coll::shm::kParams / sizeof ashlar::coll::shm::kParams[0],
                                              ashlar::coll::shm::kParams,
                                              ASHLAR_BUILD_ID,
                                              ashlar::coll::shm::open,
                                              ashlar::coll::shm::query,
                                              ashlar::coll::shm::create,
                                              ashlar::coll::shm::destroy,
                                              nullptr};
