/* The topology framework's interface, version 1: where processes run, and which of them should take which place in a
 * pattern of communication.
 *
 * A component does one of the two or both; its capability bits say which. It is loaded when a call first needs it
 * (ranks that may change, splits by hardware), never before. One module serves one process; calls come one at a time.
 * query() and create() have no context (NULL). */
#ifndef ASHLAR_TOPOLOGY_H
#define ASHLAR_TOPOLOGY_H

#include "framework/plugin/component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_TOPOLOGY_FRAMEWORK "topology"
#define ASHLAR_TOPOLOGY_INTERFACE 1

enum {
  ASHLAR_TOPOLOGY_LOCATES = 1, /* has type() and instance() */
  ASHLAR_TOPOLOGY_MATCHES = 2  /* has match() */
};

/* What instance() says when there is no number to give. */
enum {
  ASHLAR_TOPOLOGY_NOT_RESTRICTED = -1, /* the process may run on several instances, or the machine does not say */
  ASHLAR_TOPOLOGY_NO_SUCH_TYPE = -2
};

/* `nodes` nodes of a pattern and as many processes. */
typedef struct ashlar_topology_problem {
  uint32_t size;
  int32_t nodes;
  const int32_t* ends; /* node i talks to to[ends[i - 1]] ... to[ends[i] - 1]; both ends of an edge may name it */
  const int32_t* to;
  const int32_t* weights; /* one per entry of `to`, at least 0; NULL: all 1 */
  int32_t kinds;          /* of places, from the widest to the narrowest */
  const int64_t* places; /* of process p: places[p * kinds] ...; -1: unknown. Numbers mean the same in all processes. */
} ashlar_topology_problem;

typedef struct ashlar_topology ashlar_topology;
typedef struct ashlar_topology_ops {
  uint32_t size;

  /* LOCATES. The index-th type of hardware that is known here, from the widest to the narrowest, as the info key
   * mpi_hw_resource_type has it ("hwloc://Package"); NULL: there are no more. */
  const char* (*type)(ashlar_topology*, uint32_t index);
  /* The number of the one instance of `type` to which the calling process is restricted by its binding at this moment.
   * It is the number that the system gives to the first processor of that instance: the same for all processes of the
   * node, whatever component gives it. Of the machine it is 0. Or one of the numbers above. */
  int64_t (*instance)(ashlar_topology*, const char* type);

  /* MATCHES. Fills order[0 ... nodes - 1], a permutation: order[node] is the process that takes the node, so that
   * processes that talk much are near each other: they share the places of many kinds. The same answer for the same
   * problem, in every process: it is not compared. */
  ashlar_result (*match)(ashlar_topology*, const ashlar_topology_problem*, int32_t* order);
} ashlar_topology_ops;

/* A module begins with its table; the component's own data follows. */
struct ashlar_topology {
  const ashlar_topology_ops* ops;
};

#ifdef __cplusplus
}
#endif
#endif
