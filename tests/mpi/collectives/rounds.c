// coll/rounds: every collective that components may serve, straight from its definition, against the C interface. What
// the tests of collectives run with, so that each service and each form is used with every size, type and placement.
#include <stdio.h>

#include "framework/plugin/coll.h"

static const ashlar_host* host;

// --- helpers ---------------------------------------------------------------------------------------------------------

static void send_all(ashlar_coll_op* op, int32_t to, ashlar_coll_data d, int32_t side) {
  op->services->send(op, to, side, d.items, d.count);
}
static void recv_all(ashlar_coll_op* op, int32_t from, ashlar_coll_data d, int32_t side) {
  op->services->recv(op, from, side, d.items, d.count);
}
static char* item(ashlar_coll_data d, uint64_t index) { return (char*)d.items + (int64_t)index * d.extent; }

// --- without reductions ----------------------------------------------------------------------------------------------

static int32_t barrier(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  if ((1 << number) >= c->ranks) return ASHLAR_COLL_DONE;
  const int32_t step = 1 << number;
  op->services->recv(op, (c->rank + c->ranks - step) % c->ranks, ASHLAR_COLL_BYTES, NULL, 0);
  op->services->send(op, (c->rank + step) % c->ranks, ASHLAR_COLL_BYTES, NULL, 0);
  return ASHLAR_COLL_MORE;
}

static int32_t bcast(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  (void)number;
  for (int32_t r = 0; c->rank == c->root && r < c->ranks; ++r)
    if (r != c->root) send_all(op, r, c->recv, ASHLAR_COLL_RECV);
  if (c->rank != c->root) recv_all(op, c->root, c->recv, ASHLAR_COLL_RECV);
  return ASHLAR_COLL_DONE;
}

static int32_t gather(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  (void)number;
  if (c->rank != c->root) {
    send_all(op, c->root, c->send, ASHLAR_COLL_SEND);
    return ASHLAR_COLL_DONE;
  }
  for (int32_t r = 0; r < c->ranks; ++r) {
    const ashlar_coll_data block = op->services->block(op, ASHLAR_COLL_RECV, r);
    if (r != c->root)
      recv_all(op, r, block, ASHLAR_COLL_RECV);
    else if (!c->in_place)
      op->services->copy(op, ASHLAR_COLL_SEND, c->send.items, c->send.count, ASHLAR_COLL_RECV, block.items,
                         block.count);
  }
  return ASHLAR_COLL_DONE;
}

static int32_t scatter(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  (void)number;
  if (c->rank != c->root) {
    recv_all(op, c->root, c->recv, ASHLAR_COLL_RECV);
    return ASHLAR_COLL_DONE;
  }
  for (int32_t r = 0; r < c->ranks; ++r) {
    const ashlar_coll_data block = op->services->block(op, ASHLAR_COLL_SEND, r);
    if (r != c->root)
      send_all(op, r, block, ASHLAR_COLL_SEND);
    else if (!c->in_place)
      op->services->copy(op, ASHLAR_COLL_SEND, block.items, block.count, ASHLAR_COLL_RECV, c->recv.items,
                         c->recv.count);
  }
  return ASHLAR_COLL_DONE;
}

// A ring: in each round a block goes one rank further.
static int32_t allgather(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  const int32_t round = (int32_t)number;
  if (number == 0 && !c->in_place) {
    const ashlar_coll_data own = op->services->block(op, ASHLAR_COLL_RECV, c->rank);
    op->services->copy(op, ASHLAR_COLL_SEND, c->send.items, c->send.count, ASHLAR_COLL_RECV, own.items, own.count);
  }
  if (round >= c->ranks - 1) return ASHLAR_COLL_DONE;
  const int32_t left = (c->rank + c->ranks - 1) % c->ranks, right = (c->rank + 1) % c->ranks;
  const int32_t out = (c->rank + c->ranks - round) % c->ranks, in = (c->rank + 2 * c->ranks - round - 1) % c->ranks;
  recv_all(op, left, op->services->block(op, ASHLAR_COLL_RECV, in), ASHLAR_COLL_RECV);
  send_all(op, right, op->services->block(op, ASHLAR_COLL_RECV, out), ASHLAR_COLL_RECV);
  return ASHLAR_COLL_MORE;
}

// In place, a block is kept aside until the one for its place has come.
static int32_t alltoall(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  void** const aside = op->state;
  const int32_t step = (int32_t)number;
  if (step >= c->ranks) return ASHLAR_COLL_DONE;
  if (c->in_place) {
    // The pair {rank, other} exchanges in the round that both come to.
    const int32_t other = (2 * c->ranks + step - c->rank) % c->ranks;
    const ashlar_coll_data block = op->services->block(op, ASHLAR_COLL_RECV, other);
    if (other == c->rank) return ASHLAR_COLL_MORE;
    *aside = op->services->scratch(op, ASHLAR_COLL_RECV, block.count);
    if (!*aside) return ASHLAR_COLL_DONE;
    op->services->copy(op, ASHLAR_COLL_RECV, block.items, block.count, ASHLAR_COLL_RECV, *aside, block.count);
    recv_all(op, other, block, ASHLAR_COLL_RECV);
    op->services->send(op, other, ASHLAR_COLL_RECV, *aside, block.count);
    return ASHLAR_COLL_MORE;
  }
  const int32_t to = (c->rank + step) % c->ranks, from = (c->rank + c->ranks - step) % c->ranks;
  const ashlar_coll_data out = op->services->block(op, ASHLAR_COLL_SEND, to);
  const ashlar_coll_data in = op->services->block(op, ASHLAR_COLL_RECV, from);
  if (step == 0) {
    op->services->copy(op, ASHLAR_COLL_SEND, out.items, out.count, ASHLAR_COLL_RECV, in.items, in.count);
    return ASHLAR_COLL_MORE;
  }
  recv_all(op, from, in, ASHLAR_COLL_RECV);
  send_all(op, to, out, ASHLAR_COLL_SEND);
  return ASHLAR_COLL_MORE;
}

// --- reductions: all operands to one rank, combined from the last to the first
// ---------------------------------------------

struct operands {
  void* result;  // of the ranks from `next` on
  void* operand;
  int32_t next;
};

// Combines the operands of the ranks below `ranks` on rank `root`. 1: it needs another round.
static int32_t combine(ashlar_coll_op* op, int32_t root, int32_t ranks, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  const ashlar_coll_services* s = op->services;
  struct operands* o = op->state;
  const uint64_t count = c->send.count;
  if (c->rank != root) {
    if (number == 0 && c->rank < ranks) send_all(op, root, c->send, ASHLAR_COLL_SEND);
    return 0;
  }
  if (number == 0) {
    o->result = s->scratch(op, ASHLAR_COLL_SEND, count);
    o->operand = s->scratch(op, ASHLAR_COLL_SEND, count);
    o->next = ranks - 1;
    if (!o->result || !o->operand) return 0;
  } else {
    // What has arrived is the operand of rank `next`.
    if (o->next == ranks - 1)
      s->copy(op, ASHLAR_COLL_SEND, o->operand, count, ASHLAR_COLL_SEND, o->result, count);
    else
      s->reduce(op, o->operand, o->result, count);
    --o->next;
  }
  if (o->next < 0) return 0;
  if (o->next == root)
    s->copy(op, ASHLAR_COLL_SEND, c->send.items, count, ASHLAR_COLL_SEND, o->operand, count);
  else
    s->recv(op, o->next, ASHLAR_COLL_SEND, o->operand, count);
  return 1;
}

static int32_t reduce(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  if (combine(op, c->root, c->ranks, number)) return ASHLAR_COLL_MORE;
  const struct operands* o = op->state;
  if (c->rank == c->root && o->result)
    op->services->copy(op, ASHLAR_COLL_SEND, o->result, c->send.count, ASHLAR_COLL_RECV, c->recv.items, c->recv.count);
  return ASHLAR_COLL_DONE;
}

static int32_t allreduce(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  if (combine(op, 0, c->ranks, number)) return ASHLAR_COLL_MORE;
  const struct operands* o = op->state;
  if (c->rank != 0) {
    // The operand may lie where the result comes to: it has to have left.
    if (number == 0) return ASHLAR_COLL_MORE;
    recv_all(op, 0, c->recv, ASHLAR_COLL_RECV);
    return ASHLAR_COLL_DONE;
  }
  if (!o->result) return ASHLAR_COLL_DONE;
  op->services->copy(op, ASHLAR_COLL_SEND, o->result, c->send.count, ASHLAR_COLL_RECV, c->recv.items, c->recv.count);
  for (int32_t r = 1; r < c->ranks; ++r) op->services->send(op, r, ASHLAR_COLL_SEND, o->result, c->send.count);
  return ASHLAR_COLL_DONE;
}

static int32_t reduce_scatter(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  if (combine(op, 0, c->ranks, number)) return ASHLAR_COLL_MORE;
  const struct operands* o = op->state;
  if (c->rank != 0) {
    if (number == 0) return ASHLAR_COLL_MORE;
    recv_all(op, 0, c->recv, ASHLAR_COLL_RECV);
    return ASHLAR_COLL_DONE;
  }
  if (!o->result) return ASHLAR_COLL_DONE;
  ashlar_coll_data whole = c->send;
  whole.items = o->result;
  uint64_t at = 0;
  for (int32_t r = 0; r < c->ranks; ++r) {
    const uint64_t count = op->services->block(op, ASHLAR_COLL_RECV, r).count;
    if (r == 0)
      op->services->copy(op, ASHLAR_COLL_SEND, whole.items, count, ASHLAR_COLL_RECV, c->recv.items, c->recv.count);
    else
      op->services->send(op, r, ASHLAR_COLL_SEND, item(whole, at), count);
    at += count;
  }
  return ASHLAR_COLL_DONE;
}

// A chain: each rank gets what those before it have combined to.
struct prefix {
  void* before;
  void* upto;
};

static int32_t scans(ashlar_coll_op* op, uint32_t number, int exclusive) {
  const ashlar_coll_call* c = op->call;
  const ashlar_coll_services* s = op->services;
  struct prefix* p = op->state;
  const uint64_t count = c->send.count;
  if (number == 0) {
    p->before = s->scratch(op, ASHLAR_COLL_SEND, count);
    p->upto = s->scratch(op, ASHLAR_COLL_SEND, count);
    if (!p->before || !p->upto) return ASHLAR_COLL_DONE;
    s->copy(op, ASHLAR_COLL_SEND, c->send.items, count, ASHLAR_COLL_SEND, p->upto, count);
    if (c->rank > 0) s->recv(op, c->rank - 1, ASHLAR_COLL_SEND, p->before, count);
    return ASHLAR_COLL_MORE;
  }
  if (c->rank > 0) {
    if (exclusive) s->copy(op, ASHLAR_COLL_SEND, p->before, count, ASHLAR_COLL_RECV, c->recv.items, count);
    s->reduce(op, p->before, p->upto, count);
  }
  if (!exclusive) s->copy(op, ASHLAR_COLL_SEND, p->upto, count, ASHLAR_COLL_RECV, c->recv.items, count);
  if (c->rank + 1 < c->ranks) s->send(op, c->rank + 1, ASHLAR_COLL_SEND, p->upto, count);
  return ASHLAR_COLL_DONE;
}
static int32_t scan(ashlar_coll_op* op, uint32_t number) { return scans(op, number, 0); }
static int32_t exscan(ashlar_coll_op* op, uint32_t number) { return scans(op, number, 1); }

// --- rows that are not as they should be
// -------------------------------------------------------------------------------

static int32_t fails(ashlar_coll_op* op, uint32_t number) {
  const ashlar_coll_call* c = op->call;
  if (number == 0) {
    op->services->send(op, (c->rank + 1) % c->ranks, ASHLAR_COLL_BYTES, NULL, 0);
    op->services->recv(op, (c->rank + c->ranks - 1) % c->ranks, ASHLAR_COLL_BYTES, NULL, 0);
    return ASHLAR_COLL_MORE;
  }
  return host->fail(ASHLAR_ERR_OTHER, "round %u was told to fail", number);
}
static int32_t misses(ashlar_coll_op* op, uint32_t number) {
  (void)number;
  op->services->send(op, op->call->ranks, ASHLAR_COLL_BYTES, NULL, 0);
  return ASHLAR_COLL_DONE;
}
static const char* never(const ashlar_coll_shape* shape, const ashlar_coll_call* call) {
  return shape->ranks > 0 && call->rank == 0 ? "it was told not to" : NULL;
}

#define ROW(what, function, bytes)                                                                       \
  {                                                                                                      \
    .size = sizeof(ashlar_coll_algorithm), .collective = what, .name = "rounds", .summary = "for tests", \
    .round = function, .state_bytes = bytes                                                              \
  }
static const ashlar_coll_range small[] = {{.least_ranks = 2, .least_bytes = 1, .most_bytes = 64}};
static const ashlar_coll_algorithm rows[] = {
    ROW("barrier", barrier, 0),
    ROW("bcast", bcast, 0),
    ROW("gather", gather, 0),
    ROW("gatherv", gather, 0),
    ROW("scatter", scatter, 0),
    ROW("scatterv", scatter, 0),
    ROW("allgather", allgather, 0),
    ROW("allgatherv", allgather, 0),
    ROW("alltoall", alltoall, sizeof(void*)),
    ROW("alltoallv", alltoall, sizeof(void*)),
    ROW("reduce", reduce, sizeof(struct operands)),
    ROW("allreduce", allreduce, sizeof(struct operands)),
    ROW("reduce_scatter", reduce_scatter, sizeof(struct operands)),
    ROW("reduce_scatter_block", reduce_scatter, sizeof(struct operands)),
    ROW("scan", scan, sizeof(struct prefix)),
    ROW("exscan", exscan, sizeof(struct prefix)),
    {.size = sizeof(ashlar_coll_algorithm), .collective = "allreduce", .name = "rounds_fail", .round = fails},
    {.size = sizeof(ashlar_coll_algorithm), .collective = "allreduce", .name = "rounds_miss", .round = misses},
    {.size = sizeof(ashlar_coll_algorithm),
     .collective = "allreduce",
     .name = "rounds_never",
     .round = allreduce,
     .state_bytes = sizeof(struct operands),
     .excluded = never},
    {.size = sizeof(ashlar_coll_algorithm),
     .collective = "allreduce",
     .name = "rounds_preferred",
     .round = allreduce,
     .state_bytes = sizeof(struct operands),
     .fixed_order = 1,
     .prefer_count = 1,
     .prefer = small},
};
static const ashlar_coll_ops ops = {.size = sizeof ops, .count = sizeof rows / sizeof rows[0], .rows = rows};
static ashlar_coll module = {&ops};

static ashlar_result open_rounds(const ashlar_host* h, const void* config) {
  (void)config;
  host = h;
  return ASHLAR_OK;
}
static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = 1;
  snprintf(answer->reason, sizeof answer->reason, "for tests");
}
static ashlar_result create(const void* context, void** out) {
  (void)context;
  *out = &module;
  return ASHLAR_OK;
}

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_COLL_FRAMEWORK,
    .name = "rounds",
    .version = "1.0.0",
    .description = "Collectives of the tests, in rounds.",
    .interface_version = ASHLAR_COLL_INTERFACE,
    .open = open_rounds,
    .query = query,
    .create = create,
};
