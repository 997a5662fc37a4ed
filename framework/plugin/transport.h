/* The transport framework's interface, version 1: active messages in three sizes, optional remote reads and writes.
 *
 * A module is an interface (`ashlar_iface`): one transport on one lane. Every call happens under that lane's lock.
 * Nothing here blocks. Back-pressure is a value: ASHLAR_AGAIN means "keep it and try again after progress"; the kernel
 * owns the retry queue, and no component spins inside a send. */
#ifndef ASHLAR_TRANSPORT_H
#define ASHLAR_TRANSPORT_H

#include "framework/plugin/component.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_TRANSPORT_INTERFACE 1

enum {                           /* capability bits of an endpoint (proved for that peer) and of a component's answer */
       ASHLAR_CAP_GET = 1u << 0, /* get(): reads the peer's exposed memory without its software's help */
       ASHLAR_CAP_PUT = 1u << 1,
       ASHLAR_CAP_AMO = 1u << 2,
       ASHLAR_CAP_TAG = 1u << 3, /* matches tags itself (table to come with the first such component) */
       ASHLAR_CAP_WAKE_FD = 1u << 4,
       ASHLAR_CAP_WAKE_WORD = 1u << 5,
       ASHLAR_CAP_FAILURE = 1u << 6, /* tells of a peer's death */
       ASHLAR_CAP_OFFER = 1u << 7,   /* offer, withdraw, claim and deposit, to and from that peer */
       ASHLAR_CAP_REST = 1u << 8,    /* fate */
       ASHLAR_CAP_SELF = 1u << 9     /* of an answer: its interfaces reach this process alone */
};

enum { ASHLAR_KEY_BYTES = 48, ASHLAR_ADDRESS_MAX = 512 };

/* An active message as it arrives. h0 and h1 are the sixteen header bytes of the sender; `data` is valid only during
 * the handler. */
typedef struct ashlar_am {
  uint64_t h0, h1;
  const void* data;
  uint32_t length;
  uint32_t peer; /* the kernel's number of the sending process */
  uint8_t id;
} ashlar_am;

typedef struct ashlar_completion {
  void (*done)(struct ashlar_completion* self, ashlar_result result); /* may start operations; called under the lock */
} ashlar_completion;

/* Gathers the next `room` bytes of a message (or fewer, at its end) into `to`; returns how many. */
typedef size_t (*ashlar_fill)(void* argument, void* to, size_t room);

/* Memory that a peer may read: opaque, travels in messages. */
typedef struct ashlar_key {
  uint8_t bytes[ASHLAR_KEY_BYTES];
} ashlar_key;

enum ashlar_memory_kind {
  ASHLAR_MEMORY_HOST = 0,
  ASHLAR_MEMORY_CUDA = 1,
  ASHLAR_MEMORY_ROCM = 2,
  ASHLAR_MEMORY_ZE = 3
};

/* Offered receives: a receiver shows its peer the memory that one message of the peer belongs into, and the peer writes
 * it there while the receiver's program computes. Nothing is sent for that: an offer lies where the peer can see it.
 *
 * The message is named without knowing it: of the peer's active messages that this process has not been delivered
 * when it makes the offer, the one that comes after `before` others with the same words h0 and h1. Only the peer can
 * tell which of its messages that is, and whether enough of what it sent is still known to tell. */
typedef struct ashlar_offer {
  uint64_t h0, h1; /* h1 as under the peer's mask */
  uint64_t before;
  void* address;
  uint64_t length; /* a longer message does not use the offer */
  uint64_t token;  /* for whoever finds it */
} ashlar_offer;

/* A message that was sent over an endpoint, as its sender describes it. */
typedef struct ashlar_sent {
  uint64_t h0, h1;
  uint64_t h1_mask; /* what of h1 is compared with offers, and with messages that may come first */
  uint32_t ids;     /* bit per id of a message that is counted when its words fit */
  uint8_t id;       /* its own */
  uint64_t length;
} ashlar_sent;

/* An offer that a sender has found. All zero before the first claim(). */
typedef struct ashlar_claim {
  uint64_t written; /* bytes of the message that lie at the receiver */
  uint32_t asked;   /* the receiver waits for a word about this, and takes the offer back after it */
  uint32_t number;  /* of the offer, as its owner knows it, and its token */
  uint64_t token;
  uint32_t seen; /* the transport's: how many offers there were when it last looked */
  uint64_t place[3];
} ashlar_claim;

typedef struct ashlar_endpoint ashlar_endpoint;
typedef struct ashlar_iface ashlar_iface;

typedef struct ashlar_endpoint_ops {
  uint32_t size;
  /* Sends up to max_short bytes; they are copied before the return. OK or AGAIN or an error. */
  ashlar_result (*am_short)(ashlar_endpoint*, uint8_t id, uint64_t h0, uint64_t h1, const void* data, uint32_t length);
  /* Sends up to max_bcopy bytes that `fill` writes straight into the wire buffer. `length` is the exact length. */
  ashlar_result (*am_bcopy)(ashlar_endpoint*, uint8_t id, uint64_t h0, uint64_t h1, ashlar_fill fill, void* argument,
                            uint32_t length);
  /* As am_bcopy from memory that stays unchanged until `done` (PENDING) or the return (OK). NULL: not offered. */
  ashlar_result (*am_zcopy)(ashlar_endpoint*, uint8_t id, uint64_t h0, uint64_t h1, const void* data, uint32_t length,
                            ashlar_completion* done);
  /* Copies `length` bytes at `offset` of the peer's exposed memory to `to`. OK: finished before the return. */
  ashlar_result (*get)(ashlar_endpoint*, void* to, const ashlar_key*, uint64_t offset, uint64_t length,
                       ashlar_completion* done);
  ashlar_result (*put)(ashlar_endpoint*, const void* from, const ashlar_key*, uint64_t offset, uint64_t length,
                       ashlar_completion* done);
  /* Makes the peer's sleeping progress loop look again (for components that signal through memory of their own). */
  void (*wake)(ashlar_endpoint*);
  /* The four below: with ASHLAR_CAP_OFFER only, and absent from older tables.
   *
   * Offers memory of this process to the peer; `*number` names the offer and is never 0. AGAIN: as many offers are out
   * as there may be. A peer that has looked in vain and sleeps is woken. */
  ashlar_result (*offer)(ashlar_endpoint*, const ashlar_offer*, uint32_t* number);
  /* Takes an offer back. OK: nobody writes there any more, the number means nothing, and `*written` bytes of the
   * message are there; a sender that has written all of it considers it delivered. PENDING: the peer is writing just
   * now; it stops soon and finds `asked` set in its claim; then call again. */
  ashlar_result (*withdraw)(ashlar_endpoint*, uint32_t number, uint64_t* written);
  /* Looks for the offer that is meant for a message sent here and not yet answered. AGAIN: there is none, or it cannot
   * be told. Cheap when there is no new offer since the last look. */
  ashlar_result (*claim)(ashlar_endpoint*, const ashlar_sent*, ashlar_claim*);
  /* Writes up to `most` further bytes of the message `data` into a claimed offer, with nobody's help. OK: all of it is
   * there, the receiver finds it when it comes to the message. PENDING: there is more to write. AGAIN: the receiver has
   * taken the offer back. An error: this offer cannot be used, the receiver has what was written before. With `asked`
   * set by OK, PENDING or an error the receiver waits to be told, and this claim is at its end. */
  ashlar_result (*deposit)(ashlar_endpoint*, ashlar_claim*, const void* data, uint64_t length, uint64_t most);
  /* With ASHLAR_CAP_REST only, and absent from older tables: what has become of the message with these words and one
   * of the ids (a bit per id) that was sent here, if the peer is at rest. OK: it was delivered there before. AGAIN: it
   * lies there unread, or has never left. PENDING: the peer is not at rest, or something that it sent before it came to
   * rest may still have to be delivered here. May be asked after the peer's end as well. */
  ashlar_result (*fate)(ashlar_endpoint*, uint32_t ids, uint64_t h0, uint64_t h1);
} ashlar_endpoint_ops;

/* The head of every endpoint; the component's own data follows it. */
struct ashlar_endpoint {
  const ashlar_endpoint_ops* ops;
  uint64_t capabilities;
  uint32_t max_short; /* bytes of payload */
  uint32_t max_bcopy;
  uint32_t peer;
  /* Cost model, for protocol switches: a message of n bytes takes latency_ns + n / bandwidth. */
  float latency_ns;
  float bandwidth_copy; /* bytes per ns through am_bcopy */
  float bandwidth_get;  /* bytes per ns through get, 0 without it */
  uint32_t get_from;    /* bytes from which a get beats pieces through am_bcopy: a get has a fixed cost, too */
};

typedef struct ashlar_iface_ops {
  uint32_t size;
  /* This interface's address, at most ASHLAR_ADDRESS_MAX bytes; published to all peers before any connect. */
  ashlar_result (*address)(ashlar_iface*, void* out, uint32_t* length);
  /* Makes the endpoint to `peer` (the kernel's number) at `address`. Proves by use that the peer can be reached; when
   * it cannot, an error whose text says why (the kernel tries the next transport). May be called in the middle of
   * traffic, on first use. The peer need not be inside the library. */
  ashlar_result (*connect)(ashlar_iface*, uint32_t peer, const void* address, uint32_t length, ashlar_endpoint** out);
  void (*disconnect)(ashlar_iface*, ashlar_endpoint*);
  /* Delivers what arrived and advances what is pending; returns how many events it handled. Never blocks. */
  unsigned (*progress)(ashlar_iface*);
  /* Lets peers read (and write) [address, address + length) through the key until unexpose. */
  ashlar_result (*expose)(ashlar_iface*, const void* address, uint64_t length, int memory_kind, ashlar_key* out);
  void (*unexpose)(ashlar_iface*, const ashlar_key*);
  /* Sleeping. arm(): OK = nothing has arrived and from now on the next arrival raises the wake-up; AGAIN = something
   * has arrived, do not sleep. disarm() after waking. */
  ashlar_result (*arm)(ashlar_iface*);
  void (*disarm)(ashlar_iface*);
  /* At least one of: a descriptor that becomes readable, a futex word whose value changes. -1 / NULL: not offered. */
  int (*wake_fd)(ashlar_iface*);
  uint32_t* (*wake_word)(ashlar_iface*);
  /* Whether everything sent so far has left (for finalize). */
  int (*idle)(ashlar_iface*);
  /* NULL, or absent from older tables: not offered. The process comes to rest (1): it makes no progress, until it is
   * taken up again (0). Its peers can tell by `fate` which of their messages it has been delivered. */
  void (*rest)(ashlar_iface*, int resting);
} ashlar_iface_ops;

struct ashlar_iface {
  const ashlar_iface_ops* ops;
};

/* Context of query() and create() of a transport component. */
typedef struct ashlar_transport_context {
  uint32_t size;
  uint32_t lane;
  uint32_t self; /* the kernel's number of this process (its world rank) */
  uint32_t job_size;
  uint32_t local_rank, local_size; /* among the job's processes of this node */
  const char* job_id;              /* same text in every process of the job */
  uint64_t job_cookie;             /* shared secret of the job */
  int oversubscribed;              /* more ranks than cores on this node: spinning hurts */
  void* lane_context;              /* first argument of the functions below */
  /* Called by progress() for each arrival, in the order of each peer's sends. The handler never blocks; it may send. */
  void (*deliver)(void* lane_context, const ashlar_am*);
  void (*failed)(void* lane_context, uint32_t peer, const char* reason);
} ashlar_transport_context;

#ifdef __cplusplus
}
#endif
#endif
