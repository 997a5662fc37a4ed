/* coll/example: one algorithm for MPI_Allreduce, recursive doubling, written in rounds.
 *
 *     mpiexec --set coll.allreduce.algorithm=example_doubling -n 4 ./program
 *
 * In round k every rank exchanges what it has with the rank whose number differs in bit k; after lg n rounds all have
 * combined everything. A round only posts its messages and returns: the kernel calls the next one when they are
 * through. So this one function is MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init. <ashlar/coll.h> says what each
 * member means. */
#include <ashlar/coll.h>
#include <stdio.h>

static const ashlar_host* host;

/* Zero before round 0, and there until the operation is over. */
struct state {
  void* mine;   /* what has been combined so far */
  void* theirs; /* what the other rank had */
};

static int32_t doubling(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_services* do_ = op->services;
  const ashlar_coll_call* call = op->call;
  struct state* s = op->state;
  const uint64_t count = call->send.count;
  if (number == 0) {
    s->mine = do_->scratch(op, ASHLAR_COLL_SEND, count);
    s->theirs = do_->scratch(op, ASHLAR_COLL_SEND, count);
    if (!s->mine || !s->theirs) return ASHLAR_COLL_DONE; /* the kernel knows, and the operation fails */
    do_->copy(op, ASHLAR_COLL_SEND, call->send.items, count, ASHLAR_COLL_SEND, s->mine, count);
  } else {
    /* What the last round has brought. Operands are combined in the order of the ranks, so that operations need not
     * commute: the kernel computes inout = in op inout. */
    const int32_t other = call->rank ^ (1 << (number - 1));
    if (other < call->rank) {
      do_->reduce(op, s->theirs, s->mine, count);
    } else {
      void* combined = s->theirs;
      do_->reduce(op, s->mine, s->theirs, count);
      s->theirs = s->mine;
      s->mine = combined;
    }
  }
  if ((1 << number) >= call->ranks) {
    do_->copy(op, ASHLAR_COLL_SEND, s->mine, count, ASHLAR_COLL_RECV, call->recv.items, call->recv.count);
    return ASHLAR_COLL_DONE;
  }
  const int32_t other = call->rank ^ (1 << number);
  do_->recv(op, other, ASHLAR_COLL_SEND, s->theirs, count);
  do_->send(op, other, ASHLAR_COLL_SEND, s->mine, count);
  return ASHLAR_COLL_MORE;
}

/* Without `prefer` it is used where it is asked for by name, or by a tuning file. */
static const ashlar_coll_algorithm rows[] = {
    {.size = sizeof rows[0],
     .needs = ASHLAR_COLL_POWER_OF_TWO,
     .collective = "allreduce",
     .name = "example_doubling",
     .summary = "lg n exchanges of the whole vector, in the order of the ranks",
     .round = doubling,
     .state_bytes = sizeof(struct state)},
};
static const ashlar_coll_ops ops = {.size = sizeof ops, .count = sizeof rows / sizeof rows[0], .rows = rows};
static ashlar_coll module = {&ops};

static ashlar_result open_example(const ashlar_host* h, const void* config) {
  (void)config;
  host = h;
  return ASHLAR_OK;
}

static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = 1;
  snprintf(answer->reason, sizeof answer->reason, "it serves wherever messages do");
}

static ashlar_result create(const void* context, void** out) {
  (void)context;
  *out = &module;
  return ASHLAR_OK;
}

static void destroy(void* m) { (void)m; }

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_COLL_FRAMEWORK,
    .name = "example",
    .version = "1.0.0",
    .description = "One algorithm for MPI_Allreduce.",
    .interface_version = ASHLAR_COLL_INTERFACE,
    .open = open_example,
    .query = query,
    .create = create,
    .destroy = destroy,
};
