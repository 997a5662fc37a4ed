/* The coll framework's interface, version 2: algorithms of collectives, in rounds.
 *
 * An algorithm is a row of a table and one function. The kernel calls round(op, 0), round(op, 1), ...; each posts
 * messages and does local work, and answers whether there is another round. The next is called when all messages of the
 * one before have arrived and left: at once, or long after, from another call of the program. So one function serves
 * the blocking, the nonblocking and the persistent form, and waits nowhere.
 *
 * What an algorithm depends on has to be equal on all ranks: its restrictions, and what it looks at in `excluded`.
 * Intracommunicators only. (Version 1 is C++: components of the kernel's own tree, pinned by build_id.) */
#ifndef ASHLAR_COLL_H
#define ASHLAR_COLL_H

#include "framework/plugin/component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_COLL_FRAMEWORK "coll"
#define ASHLAR_COLL_INTERFACE 2

enum { ASHLAR_COLL_DONE = 0, ASHLAR_COLL_MORE = 1 }; /* what round() answers, or an error of ashlar_host::fail */

/* What a message or a copy is made of. */
enum ashlar_coll_side {
  ASHLAR_COLL_SEND = 0, /* items of the type that this rank sends */
  ASHLAR_COLL_RECV = 1, /* items of the type that it receives: the same type in reductions and broadcasts */
  ASHLAR_COLL_BYTES = 2
};

/* Items as they lie in the program's memory: item i is at items + i * extent. */
typedef struct ashlar_coll_data {
  void* items;
  uint64_t count;
  uint64_t item_bytes; /* of data in one item: what travels */
  int64_t extent;
} ashlar_coll_data;

/* The group of processes, the same on all of them. */
typedef struct ashlar_coll_shape {
  uint32_t size;
  int32_t ranks;
  int32_t nodes;
  int32_t node_ranks; /* of the fullest node */
  int32_t in_runs;    /* 1: the ranks of each node follow each other */
} ashlar_coll_shape;

/* The call. What is not significant on this rank is zero.
 *
 *                  send                             recv
 *   bcast          -                                the buffer, on every rank
 *   reduce(all)    this rank's vector               the result (reduce: at the root)
 *   reduce_scatter this rank's whole vector         this rank's piece of the result
 *   scan, exscan   this rank's vector               the result
 *   gather(v)      this rank's contribution         root: block 0, of the first rank
 *   scatter(v)     root: block 0                    this rank's block
 *   allgather(v)   this rank's contribution         block 0
 *   alltoall(v)    block 0                          block 0
 *
 * MPI_IN_PLACE is resolved: reductions find their vector in `recv` too, so `send.items` may equal `recv.items`. */
typedef struct ashlar_coll_call {
  uint32_t size;
  int32_t ranks, rank, root;
  uint64_t bytes;   /* the number that tuning rules go by, equal on all ranks (docs/collectives.md) */
  int32_t in_place; /* 1: this rank's contribution to a gather, scatter or allgather is in its place already */
  int32_t commutes; /* of reductions: the operation commutes */
  ashlar_coll_data send, recv;
} ashlar_coll_call;

typedef struct ashlar_coll_op ashlar_coll_op;

/* What a round may do. A failure sticks: after one, nothing more is done, and the operation ends with it; so nothing
 * here needs to be looked at. `items` and counts are of `side`'s type. */
typedef struct ashlar_coll_services {
  uint32_t size;
  /* Posts a message. Its memory is not touched until the round is over. Messages between two ranks arrive in the order
   * of their posts. */
  void (*send)(ashlar_coll_op*, int32_t to, int32_t side, const void* items, uint64_t count);
  void (*recv)(ashlar_coll_op*, int32_t from, int32_t side, void* items, uint64_t count);
  /* At once, with what earlier rounds have brought: inout = in op inout, item by item. */
  void (*reduce)(ashlar_coll_op*, const void* in, void* inout, uint64_t count);
  /* At once. Between sides when both are of equal signature. */
  void (*copy)(ashlar_coll_op*, int32_t from_side, const void* from, uint64_t from_count, int32_t to_side, void* to,
               uint64_t to_count);
  /* Memory until the end of the operation, not initialised; NULL: there is none, and the operation fails. */
  void* (*scratch)(ashlar_coll_op*, int32_t side, uint64_t count);
  /* The block for or from a rank, in all forms of gather, scatter, allgather and alltoall; of reduce_scatter (RECV) the
   * piece of the result that this rank gets, which begins at the sum of the counts before it. */
  ashlar_coll_data (*block)(ashlar_coll_op*, int32_t side, int32_t rank);
} ashlar_coll_services;

/* One collective in flight on one rank. */
struct ashlar_coll_op {
  const ashlar_coll_services* services;
  const ashlar_coll_call* call;
  void* state; /* the algorithm's own, `state_bytes` long, zero before round 0 */
};

/* Restrictions: bits of ashlar_coll_algorithm::needs. */
enum {
  ASHLAR_COLL_POWER_OF_TWO = 1u << 0, /* ranks */
  ASHLAR_COLL_COMMUTING = 1u << 1,    /* operation */
  ASHLAR_COLL_ONE_NODE = 1u << 2,
  ASHLAR_COLL_ITEM_PER_RANK = 1u << 3 /* of a vector, at least one item for each rank */
};

/* Where an algorithm is to be taken, as its maker measured: it then comes before the kernel's own. Both ends belong to
 * it; a most of 0 is no limit. Users' settings and tuning files come first. */
typedef struct ashlar_coll_range {
  int32_t least_ranks, most_ranks;
  int32_t least_nodes, most_nodes;
  uint64_t least_bytes, most_bytes; /* of ashlar_coll_call::bytes */
} ashlar_coll_range;

typedef struct ashlar_coll_algorithm {
  uint32_t size;
  uint32_t needs;         /* ASHLAR_COLL_POWER_OF_TWO, ... */
  const char* collective; /* "allreduce": as in the parameters; not alltoallw and those among neighbours */
  const char* name;       /* "my_ring": coll.allreduce.algorithm = my_ring takes it */
  const char* summary;    /* one line for listings */
  int32_t (*round)(ashlar_coll_op*, uint32_t number);
  uint64_t state_bytes;
  /* 1: each item of a reduction's result is the same function of the operands, whatever sizes and placement are:
   * a0 op (a1 op (... a[n-1])). coll.reproducible takes no other. */
  int32_t fixed_order;
  uint32_t prefer_count;
  const ashlar_coll_range* prefer; /* where it is the best; NULL: only by name, or when nothing else can serve */
  /* What else keeps it from serving a call, in words; NULL: nothing. Equal on all ranks: the members of `call` that are
   * this rank's alone are zero. The function may be NULL. */
  const char* (*excluded)(const ashlar_coll_shape*, const ashlar_coll_call*);
} ashlar_coll_algorithm;

typedef struct ashlar_coll ashlar_coll;
typedef struct ashlar_coll_ops {
  uint32_t size;
  uint32_t count; /* of rows */
  const ashlar_coll_algorithm* rows;
} ashlar_coll_ops;

/* A module begins with its table. It has no other part: rows are constant and live as long as the process. query() and
 * create() have no context (NULL). */
struct ashlar_coll {
  const ashlar_coll_ops* ops;
};

#ifdef __cplusplus
}
#endif
#endif
