/* Every collective, blocking, nonblocking and persistent, with each argument wrong in turn. Each rank names itself as
 * the root, so that every argument counts on every rank; a wrong call fails where it is made, and nothing is sent. What
 * is the same for all procedures of the standard (handles and numbers on one process) is in tests/abi as well. */
#include "check.h"

enum { kForms = 3, kMostRanks = 16, kNeighbours = 2 };
static const char* const kFormNames[kForms] = {"blocking", "nonblocking", "persistent"};

typedef struct {
  void *send, *recv;
  int send_count, recv_count, root;
  const int *send_counts, *recv_counts, *places;
  const MPI_Aint* far_places;
  MPI_Datatype send_type, recv_type;
  const MPI_Datatype *send_types, *recv_types;
  MPI_Op op;
  MPI_Comm comm;
} Arguments;

/* What a collective has, and where it may be MPI_IN_PLACE. */
enum {
  kSend = 1 << 0,       /* a buffer to send from */
  kRecv = 1 << 1,       /* a buffer to receive into */
  kSendCount = 1 << 2,  /* one count */
  kRecvCount = 1 << 3,  /* the same */
  kSendCounts = 1 << 4, /* one for each rank, or neighbour */
  kRecvCounts = 1 << 5, /* the same */
  kSendType = 1 << 6,
  kRecvType = 1 << 7,
  kTypes = 1 << 8, /* one for each */
  kOp = 1 << 9,
  kRoot = 1 << 10,
  kSendInPlace = 1 << 11,
  kRecvInPlace = 1 << 12,
  kTopology = 1 << 13,
  kNoInter = 1 << 14,       /* not for intercommunicators */
  kFirstGetsNone = 1 << 15, /* the buffer to receive into does not count on rank 0 */
  kPlain = kSend | kRecv | kSendType | kRecvType,
  kReduces = kSend | kRecv | kRecvType | kOp | kSendInPlace,
  kFor_w = kSend | kRecv | kSendCounts | kRecvCounts | kTypes
};

#define FORMS(name, ...)                                                   \
  static int call_##name(int form, const Arguments* a, MPI_Request* r) {   \
    return form == 0   ? MPI_##name(__VA_ARGS__)                           \
           : form == 1 ? MPI_I##name(__VA_ARGS__, r)                       \
                       : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r); \
  }
/* The nonblocking names are written small behind the I. */
#define MPI_IBarrier MPI_Ibarrier
#define MPI_IBcast MPI_Ibcast
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_INeighbor_allgather MPI_Ineighbor_allgather
#define MPI_INeighbor_allgatherv MPI_Ineighbor_allgatherv
#define MPI_INeighbor_alltoall MPI_Ineighbor_alltoall
#define MPI_INeighbor_alltoallv MPI_Ineighbor_alltoallv
#define MPI_INeighbor_alltoallw MPI_Ineighbor_alltoallw

FORMS(Barrier, a->comm)
FORMS(Bcast, a->recv, a->recv_count, a->recv_type, a->root, a->comm)
FORMS(Reduce, a->send, a->recv, a->recv_count, a->recv_type, a->op, a->root, a->comm)
FORMS(Allreduce, a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm)
FORMS(Reduce_scatter, a->send, a->recv, a->recv_counts, a->recv_type, a->op, a->comm)
FORMS(Reduce_scatter_block, a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm)
FORMS(Scan, a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm)
FORMS(Exscan, a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm)
FORMS(Gather, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->root, a->comm)
FORMS(Gatherv, a->send, a->send_count, a->send_type, a->recv, a->recv_counts, a->places, a->recv_type, a->root, a->comm)
FORMS(Scatter, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->root, a->comm)
FORMS(Scatterv, a->send, a->send_counts, a->places, a->send_type, a->recv, a->recv_count, a->recv_type, a->root,
      a->comm)
FORMS(Allgather, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->comm)
FORMS(Allgatherv, a->send, a->send_count, a->send_type, a->recv, a->recv_counts, a->places, a->recv_type, a->comm)
FORMS(Alltoall, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->comm)
FORMS(Alltoallv, a->send, a->send_counts, a->places, a->send_type, a->recv, a->recv_counts, a->places, a->recv_type,
      a->comm)
FORMS(Alltoallw, a->send, a->send_counts, a->places, a->send_types, a->recv, a->recv_counts, a->places, a->recv_types,
      a->comm)
FORMS(Neighbor_allgather, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->comm)
FORMS(Neighbor_allgatherv, a->send, a->send_count, a->send_type, a->recv, a->recv_counts, a->places, a->recv_type,
      a->comm)
FORMS(Neighbor_alltoall, a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->comm)
FORMS(Neighbor_alltoallv, a->send, a->send_counts, a->places, a->send_type, a->recv, a->recv_counts, a->places,
      a->recv_type, a->comm)
FORMS(Neighbor_alltoallw, a->send, a->send_counts, a->far_places, a->send_types, a->recv, a->recv_counts, a->far_places,
      a->recv_types, a->comm)

static const struct Collective {
  const char* name;
  int (*call)(int form, const Arguments*, MPI_Request*);
  int has;
} kCollectives[] = {
    {"MPI_Barrier", call_Barrier, 0},
    {"MPI_Bcast", call_Bcast, kRecv | kRecvCount | kRecvType | kRoot},
    {"MPI_Reduce", call_Reduce, kReduces | kRecvCount | kRoot},
    {"MPI_Allreduce", call_Allreduce, kReduces | kRecvCount},
    {"MPI_Reduce_scatter", call_Reduce_scatter, kReduces | kRecvCounts},
    {"MPI_Reduce_scatter_block", call_Reduce_scatter_block, kReduces | kRecvCount},
    {"MPI_Scan", call_Scan, kReduces | kRecvCount | kNoInter},
    {"MPI_Exscan", call_Exscan, kReduces | kRecvCount | kNoInter | kFirstGetsNone},
    {"MPI_Gather", call_Gather, kPlain | kSendCount | kRecvCount | kRoot | kSendInPlace},
    {"MPI_Gatherv", call_Gatherv, kPlain | kSendCount | kRecvCounts | kRoot | kSendInPlace},
    {"MPI_Scatter", call_Scatter, kPlain | kSendCount | kRecvCount | kRoot | kRecvInPlace},
    {"MPI_Scatterv", call_Scatterv, kPlain | kSendCounts | kRecvCount | kRoot | kRecvInPlace},
    {"MPI_Allgather", call_Allgather, kPlain | kSendCount | kRecvCount | kSendInPlace},
    {"MPI_Allgatherv", call_Allgatherv, kPlain | kSendCount | kRecvCounts | kSendInPlace},
    {"MPI_Alltoall", call_Alltoall, kPlain | kSendCount | kRecvCount | kSendInPlace},
    {"MPI_Alltoallv", call_Alltoallv, kPlain | kSendCounts | kRecvCounts | kSendInPlace},
    {"MPI_Alltoallw", call_Alltoallw, kFor_w | kSendInPlace},
    {"MPI_Neighbor_allgather", call_Neighbor_allgather, kPlain | kSendCount | kRecvCount | kTopology},
    {"MPI_Neighbor_allgatherv", call_Neighbor_allgatherv, kPlain | kSendCount | kRecvCounts | kTopology},
    {"MPI_Neighbor_alltoall", call_Neighbor_alltoall, kPlain | kSendCount | kRecvCount | kTopology},
    {"MPI_Neighbor_alltoallv", call_Neighbor_alltoallv, kPlain | kSendCounts | kRecvCounts | kTopology},
    {"MPI_Neighbor_alltoallw", call_Neighbor_alltoallw, kFor_w | kTopology},
};

static double from[64], into[64];
static int counts[kMostRanks], places[kMostRanks], bad_counts[kMostRanks];
static MPI_Aint far_places[kMostRanks];
static MPI_Datatype types[kMostRanks], bad_types[kMostRanks];
static MPI_Comm ring, inter, freed_comm;
static MPI_Datatype raw_type, freed_type;
static MPI_Op freed_op;

static void on_op(void* in, void* inout, int* n, MPI_Datatype* type) { (void)in, (void)inout, (void)n, (void)type; }

#define CHANGE(name, ...) \
  static void name(Arguments* a) { __VA_ARGS__; }
CHANGE(null_comm, a->comm = MPI_COMM_NULL)
CHANGE(freed_comm_, a->comm = freed_comm)
CHANGE(root_behind, a->root = check_size)
CHANGE(root_negative, a->root = -99)
CHANGE(root_of_inter, a->root = MPI_ROOT)
CHANGE(negative_send, a->send_count = -1)
CHANGE(negative_recv, a->recv_count = -1)
CHANGE(negative_in_sends, a->send_counts = bad_counts)
CHANGE(negative_in_recvs, a->recv_counts = bad_counts)
CHANGE(no_sends, a->send_counts = NULL)
CHANGE(no_recvs, a->recv_counts = NULL)
CHANGE(null_send_type, a->send_type = MPI_DATATYPE_NULL)
CHANGE(null_recv_type, a->recv_type = MPI_DATATYPE_NULL)
CHANGE(raw_send_type, a->send_type = raw_type)
CHANGE(raw_recv_type, a->recv_type = raw_type)
CHANGE(freed_send_type, a->send_type = freed_type)
CHANGE(freed_recv_type, a->recv_type = freed_type)
CHANGE(null_in_types, a->send_types = bad_types)
CHANGE(null_in_recv_types, a->recv_types = bad_types)
CHANGE(null_op, a->op = MPI_OP_NULL)
CHANGE(freed_op_, a->op = freed_op)
CHANGE(op_for_integers, a->op = MPI_BAND)
CHANGE(op_for_pairs, a->op = MPI_MAXLOC)
CHANGE(op_of_windows, a->op = MPI_REPLACE)
CHANGE(no_send, a->send = NULL)
CHANGE(no_recv, a->recv = NULL)
CHANGE(send_in_place, a->send = MPI_IN_PLACE)
CHANGE(recv_in_place, a->recv = MPI_IN_PLACE)
CHANGE(one_buffer, a->recv = a->send)
CHANGE(no_topology, a->comm = MPI_COMM_WORLD)

static const struct Mistake {
  const char* what;
  void (*make)(Arguments*);
  int with, without; /* for collectives that have all of these, and none of those */
  int wanted;
} kMistakes[] = {
    {"the null communicator", null_comm, 0, 0, MPI_ERR_COMM},
    {"a freed communicator", freed_comm_, 0, 0, MPI_ERR_COMM},
    {"a root that is as large as the communicator", root_behind, kRoot, 0, MPI_ERR_ROOT},
    {"a negative root", root_negative, kRoot, 0, MPI_ERR_ROOT},
    {"MPI_ROOT on an intracommunicator", root_of_inter, kRoot, 0, MPI_ERR_ROOT},
    {"a negative sendcount", negative_send, kSendCount, 0, MPI_ERR_COUNT},
    {"a negative recvcount", negative_recv, kRecvCount, 0, MPI_ERR_COUNT},
    {"a negative count among sendcounts", negative_in_sends, kSendCounts, 0, MPI_ERR_COUNT},
    {"a negative count among recvcounts", negative_in_recvs, kRecvCounts, 0, MPI_ERR_COUNT},
    {"no sendcounts", no_sends, kSendCounts, 0, MPI_ERR_ARG},
    {"no recvcounts", no_recvs, kRecvCounts, 0, MPI_ERR_ARG},
    {"the null sendtype", null_send_type, kSendType, 0, MPI_ERR_TYPE},
    {"the null recvtype", null_recv_type, kRecvType, 0, MPI_ERR_TYPE},
    {"an uncommitted sendtype", raw_send_type, kSendType, 0, MPI_ERR_TYPE},
    {"an uncommitted recvtype", raw_recv_type, kRecvType, 0, MPI_ERR_TYPE},
    {"a freed sendtype", freed_send_type, kSendType, 0, MPI_ERR_TYPE},
    {"a freed recvtype", freed_recv_type, kRecvType, 0, MPI_ERR_TYPE},
    {"a null type among sendtypes", null_in_types, kTypes, 0, MPI_ERR_TYPE},
    {"a null type among recvtypes", null_in_recv_types, kTypes, 0, MPI_ERR_TYPE},
    {"the null operation", null_op, kOp, 0, MPI_ERR_OP},
    {"a freed operation", freed_op_, kOp, 0, MPI_ERR_OP},
    {"MPI_BAND of MPI_DOUBLE", op_for_integers, kOp, 0, MPI_ERR_OP},
    {"MPI_MAXLOC of MPI_DOUBLE", op_for_pairs, kOp, 0, MPI_ERR_OP},
    {"MPI_REPLACE", op_of_windows, kOp, 0, MPI_ERR_OP},
    {"nothing to send from", no_send, kSend, kTypes, MPI_ERR_BUFFER},
    {"nothing to receive into", no_recv, kRecv, kTypes, MPI_ERR_BUFFER},
    {"MPI_IN_PLACE to send from", send_in_place, kSend, kSendInPlace, MPI_ERR_BUFFER},
    {"MPI_IN_PLACE to receive into", recv_in_place, kRecv, kRecvInPlace, MPI_ERR_BUFFER},
    {"one buffer for both, MPI_IN_PLACE to send", one_buffer, kSendInPlace, kFirstGetsNone, MPI_ERR_BUFFER},
    {"one buffer for both, MPI_IN_PLACE to receive", one_buffer, kRecvInPlace, 0, MPI_ERR_BUFFER},
    {"a communicator without a topology", no_topology, kTopology, 0, MPI_ERR_TOPOLOGY},
};

static Arguments good(const struct Collective* c) {
  return (Arguments){.send = from,
                     .recv = into,
                     .send_count = 1,
                     .recv_count = 1,
                     .root = check_rank,
                     .send_counts = counts,
                     .recv_counts = counts,
                     .places = places,
                     .far_places = far_places,
                     .send_type = MPI_DOUBLE,
                     .recv_type = MPI_DOUBLE,
                     .send_types = types,
                     .recv_types = types,
                     .op = MPI_SUM,
                     .comm = c->has & kTopology ? ring : MPI_COMM_WORLD};
}

static void expect(const struct Collective* c, int form, const Arguments* a, const char* what, int wanted) {
  MPI_Request request = MPI_REQUEST_NULL;
  char text[MPI_MAX_ERROR_STRING] = "";
  int error_class = MPI_SUCCESS, length = 0;
  const int code = c->call(form, a, &request);
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  CHECK(error_class == wanted, "%s %s with %s: class %d, not %d: %s", kFormNames[form], c->name, what, error_class,
        wanted, text);
  if (strstr(what, "one buffer for both") != NULL) {
    const int named = strstr(text, "sendbuf") && strstr(text, "recvbuf") && strstr(text, c->name) &&
                      strstr(text, c->has & kSendInPlace ? "MPI_IN_PLACE as sendbuf" : "MPI_IN_PLACE as recvbuf");
    CHECK(named || form != 0, "%s with %s: %s", c->name, what, text);
  }
  CHECK(request == MPI_REQUEST_NULL, "%s %s with %s: a request although it failed", kFormNames[form], c->name, what);
}

/* Each wrong call leaves everything as it was. */
static void expect_works(const struct Collective* c, int form) {
  Arguments a = good(c);
  MPI_Request request = MPI_REQUEST_NULL;
  a.root = 0;
  MUST(c->call(form, &a, &request));
  if (form == 0) return;
  if (form == 2) MUST(MPI_Start(&request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (form == 2) MUST(MPI_Request_free(&request));
}

static void on_intercommunicator(const struct Collective* c, int form) {
  if (inter == MPI_COMM_NULL) return;
  Arguments a = good(c);
  a.comm = inter;
  if (c->has & kTopology) {
    expect(c, form, &a, "an intercommunicator", MPI_ERR_TOPOLOGY);
  } else if (c->has & kNoInter) {
    expect(c, form, &a, "an intercommunicator", MPI_ERR_COMM);
  } else if (c->has & kRoot) {
    a.root = kMostRanks;
    expect(c, form, &a, "a root that the other group does not have", MPI_ERR_ROOT);
  } else if (c->has & kSendInPlace) {
    a.send = MPI_IN_PLACE;
    expect(c, form, &a, "MPI_IN_PLACE on an intercommunicator", MPI_ERR_BUFFER);
  }
}

static void make_arguments(void) {
  for (int i = 0; i < kMostRanks; i++) {
    counts[i] = 1, places[i] = i, far_places[i] = i * (MPI_Aint)sizeof(double), types[i] = MPI_DOUBLE;
    bad_counts[i] = 1, bad_types[i] = MPI_DOUBLE;
  }
  const int last = check_size < kNeighbours ? check_size - 1 : kNeighbours - 1; /* ranks and neighbours have it */
  bad_counts[last] = -6, bad_types[last] = MPI_DATATYPE_NULL;
  MPI_Comm comm;
  const int periodic = 1;
  MUST(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &periodic, 0, &ring));
  inter = MPI_COMM_NULL;
  if (check_size > 1) {
    MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &comm));
    MUST(MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 0, &inter));
    MUST(MPI_Comm_free(&comm));
  }
  MUST(MPI_Type_contiguous(2, MPI_DOUBLE, &raw_type)); /* before the freed ones, whose storage it would take over */
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  freed_comm = comm;
  MUST(MPI_Comm_free(&comm));
  MPI_Datatype type;
  MUST(MPI_Type_contiguous(2, MPI_DOUBLE, &type));
  freed_type = type;
  MUST(MPI_Type_free(&type));
  MPI_Op op;
  MUST(MPI_Op_create(on_op, 1, &op));
  freed_op = op;
  MUST(MPI_Op_free(&op));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  make_arguments();
  MUST(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
  if (inter != MPI_COMM_NULL) MUST(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  int cases = 0;
  for (size_t k = 0; k < sizeof kCollectives / sizeof *kCollectives; k++) {
    const struct Collective* c = &kCollectives[k];
    for (int form = 0; form < kForms; form++) {
      for (size_t m = 0; m < sizeof kMistakes / sizeof *kMistakes; m++) {
        const struct Mistake* mistake = &kMistakes[m];
        if ((c->has & mistake->with) != mistake->with || (c->has & mistake->without) != 0) continue;
        Arguments a = good(c);
        mistake->make(&a);
        expect(c, form, &a, mistake->what, mistake->wanted);
        cases++;
      }
      on_intercommunicator(c, form);
      expect_works(c, form);
    }
  }
  CHECK(cases > 700, "only %d cases", cases);
  if (inter != MPI_COMM_NULL) MUST(MPI_Comm_free(&inter));
  MUST(MPI_Comm_free(&ring));
  MUST(MPI_Type_free(&raw_type));
  return check_end();
}
