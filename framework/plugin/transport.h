/* The transport framework's interface, version 2: active messages in two sizes, optional remote reads, writes and
 * atomic operations, optional receives posted in shared memory or matched by the network.
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

#define ASHLAR_TRANSPORT_INTERFACE 2

enum {                           /* capability bits of an endpoint (proved for that peer) and of a component's answer */
       ASHLAR_CAP_GET = 1u << 0, /* get(): reads exposed memory; its owner has to progress if ASHLAR_PUT_UNKNOWN */
       ASHLAR_CAP_PUT = 1u << 1,
       ASHLAR_CAP_AMO = 1u << 2, /* amo(), with the operations that the interface's attributes name */
       ASHLAR_CAP_TAG = 1u << 3, /* ashlar_tag_ops, to and from that peer */
       ASHLAR_CAP_WAKE_FD = 1u << 4,
       ASHLAR_CAP_WAKE_WORD = 1u << 5,
       ASHLAR_CAP_FAILURE = 1u << 6, /* reports a peer's death */
       ASHLAR_CAP_POST = 1u << 7,    /* ashlar_post_ops, to and from that peer */
       ASHLAR_CAP_REST = 1u << 8,    /* rest() and fate(): whether a process that makes no progress has a message */
       ASHLAR_CAP_SELF = 1u << 9     /* of an answer: its interfaces reach this process alone */
};

enum { ASHLAR_KEY_BYTES = 48, ASHLAR_ADDRESS_MAX = 512 };

/* ashlar_transport_context::peer_of: the kernel does not know the process. */
#define ASHLAR_NOBODY 0xffffffffu

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

/* One piece of a get or put of several: [offset, offset + length) of the exposed memory, and where it lies here. */
typedef struct ashlar_piece {
  void* local; /* a put only reads it */
  uint64_t offset;
  uint64_t length;
} ashlar_piece;

/* Atomic operations on integers of 1, 2, 4 or 8 bytes; sums wrap around. */
enum ashlar_amo_op {
  ASHLAR_AMO_ADD = 0,
  ASHLAR_AMO_AND = 1,
  ASHLAR_AMO_OR = 2,
  ASHLAR_AMO_XOR = 3,
  ASHLAR_AMO_SWAP = 4,
  ASHLAR_AMO_COMPARE_SWAP = 5 /* the operand is stored if the memory has the bytes of `compare` */
};

/* When the bytes of a put are in the peer's memory, where its processor finds them. */
enum ashlar_put_completion {
  ASHLAR_PUT_UNKNOWN = 0, /* nothing is promised: one-sided communication does without this transport */
  ASHLAR_PUT_AT_DONE = 1, /* when put() has returned ASHLAR_OK, or its completion is called */
  ASHLAR_PUT_AT_FLUSH = 2 /* when a flush() that was called after that is complete; until then only `from` is free */
};

/* What remote operations of an interface mean, alike for all of its endpoints. */
typedef struct ashlar_iface_attributes {
  uint32_t size;           /* set by the caller: a component writes no member beyond it */
  uint32_t put_completion; /* ashlar_put_completion */
  /* 1: an amo() is atomic beside the atomic instructions of the peer's processors on the same bytes, in both
   * directions. 0: only beside other amo(). */
  uint32_t amo_coherent;
  uint32_t amo_ops[4];  /* for 1, 2, 4 and 8 bytes: a bit for each ashlar_amo_op that there is */
  uint32_t pieces_most; /* of one getv() or putv(); 0: they are not offered */
  /* Since minor version 7. Of ashlar_tag_ops: bits of a tag, 0: there are none; bytes of the longest message; and
   * whether the network matches at a lower cost than the kernel's queues do. */
  uint32_t tag_bits, tag_most, tags_pay;
} ashlar_iface_attributes;

typedef struct ashlar_endpoint ashlar_endpoint;
typedef struct ashlar_iface ashlar_iface;

/* Receives posted in shared memory: a receiver describes the memory that one message of a peer belongs into where that
 * peer finds it, and the peer writes the message there while the receiver's program computes. Nothing is sent for that.
 *
 * The message is named without being known: of the peer's active messages that have not been delivered here when this
 * process posts, the one that comes after `before` others of its kind. A kind is h0 and the upper half of h1. Only the
 * peer can tell which of its messages that is, and whether enough of what it sent is still known to tell. */
typedef struct ashlar_posted {
  uint64_t h0, h1; /* the lower half of h1 is 0 */
  uint64_t before;
  void* address;
  uint64_t length; /* a longer message is not written here */
  uint64_t token;  /* for the peer that finds it */
} ashlar_posted;

/* A message that was sent over an endpoint, as its sender describes it. */
typedef struct ashlar_sent {
  uint64_t h0, h1;
  uint64_t length;
  uint32_t ids; /* bit per id of the messages that count among those of a kind */
  uint8_t id;   /* its own */
} ashlar_sent;

/* A posted receive that a sender has found. All zero before the first find(). */
typedef struct ashlar_found {
  uint64_t written; /* bytes of the message that lie at the receiver */
  uint32_t asked;   /* the receiver waits for a message that the sender has stopped, and then withdraws */
  uint32_t number;  /* of the posted receive, as its owner knows it, and its token */
  uint64_t token;
  uint32_t seen; /* the transport's: how many had been posted when it last looked */
  uint64_t place[3];
} ashlar_found;

/* An optional table: a transport that cannot do this leaves it out. */
typedef struct ashlar_post_ops {
  uint32_t size;
  /* Posts memory of this process for a message of the peer; `*number` names it and is never 0. AGAIN: as many are
   * posted as there may be. A peer that has looked in vain and sleeps is woken. */
  ashlar_result (*post)(ashlar_endpoint*, const ashlar_posted*, uint32_t* number);
  /* Takes the memory back. OK: the peer writes there no more, the number means nothing, and `*written` bytes of the
   * message are there; a sender that has written all of it considers it delivered. PENDING: the peer is writing just
   * now; it stops soon and finds `asked` set; then call again. */
  ashlar_result (*withdraw)(ashlar_endpoint*, uint32_t number, uint64_t* written);
  /* Looks for the receive that is meant for a message sent here and not yet answered. AGAIN: there is none, or it
   * cannot be told. Cheap when nothing was posted since the last look. */
  ashlar_result (*find)(ashlar_endpoint*, const ashlar_sent*, ashlar_found*);
  /* Writes up to `most` further bytes of the message `data` into the receive that was found, without the receiver's
   * help. OK: all of it is there, the receiver finds it when it comes to the message. PENDING: there is more to write.
   * AGAIN: the receiver has withdrawn it. An error: this receive cannot be written, the receiver has what was written
   * before. With `asked` set by OK, PENDING or an error the receiver waits for that message, and nothing more can be
   * written.
   */
  ashlar_result (*write)(ashlar_endpoint*, ashlar_found*, const void* data, uint64_t length, uint64_t most);
} ashlar_post_ops;

/* Messages that the network matches by their tag: a receive is posted there, and the oldest message of that peer that
 * fits takes the oldest receive that it fits. Tagged and active messages to one peer leave in the order of the calls,
 * and a tagged message has arrived when an active message that was sent behind it is delivered. */
typedef struct ashlar_tag_event {
  /* OK: a message was taken. AGAIN: there was none (of a claim), or the receive was cancelled. Else it failed. */
  ashlar_result result;
  uint32_t peer;
  uint64_t tag, immediate; /* of the message */
  uint64_t length;         /* of the whole message, also where the receive is shorter: its memory then means nothing */
  const void* data;        /* of a claim, valid during the call */
} ashlar_tag_event;

typedef struct ashlar_tag_receive {
  /* Called once, in a later round of progress, or inside receive(), claim() and cancel(). */
  void (*done)(struct ashlar_tag_receive* self, const ashlar_tag_event*);
  void* own; /* the transport's until then */
} ashlar_tag_receive;

enum { ASHLAR_TAG_IMMEDIATE_BITS = 48 };

typedef struct ashlar_tag_ops {
  uint32_t size;
  /* Sends up to `tag_most` bytes that `fill` writes. OK or AGAIN or an error, as am_bcopy. */
  ashlar_result (*send)(ashlar_endpoint*, uint64_t tag, uint64_t immediate, ashlar_fill fill, void* argument,
                        uint32_t length);
  /* Sends an active message of up to max_short bytes, and behind it a tagged one without any: both, or AGAIN. */
  ashlar_result (*announce)(ashlar_endpoint*, uint64_t tag, uint64_t immediate, uint8_t id, uint64_t h0, uint64_t h1,
                            const void* data, uint32_t length);
  /* Posts a receive for messages of that peer whose tag is `tag`, but for the bits of `ignored`. PENDING: `done` will
   * be called; until then the memory is the transport's. AGAIN: as many are posted as there may be. */
  ashlar_result (*receive)(ashlar_endpoint*, uint64_t tag, uint64_t ignored, void* to, uint32_t length,
                           ashlar_tag_receive*);
  /* Takes the oldest message that fits and has met no receive, of that peer, or of any (NULL): one that a receive
   * posted before can take goes there. PENDING or AGAIN or an error. */
  ashlar_result (*claim)(ashlar_iface*, ashlar_endpoint*, uint64_t tag, uint64_t ignored, ashlar_tag_receive*);
  /* Takes a posted receive back. It ends all the same: cancelled, or with the message that it had met. Of those that an
   * interface still has when it is closed nothing is told. */
  void (*cancel)(ashlar_iface*, ashlar_tag_receive*);
} ashlar_tag_ops;

/* What the way to a peer has cost. 0: not measured yet. */
typedef struct ashlar_path_cost {
  float round_trip_ns; /* the shortest */
  float bandwidth;     /* bytes per ns of large gets, while any was under way; of late */
} ashlar_path_cost;

typedef struct ashlar_endpoint_ops {
  uint32_t size;
  /* Sends up to max_short bytes; they are copied before the return. OK or AGAIN or an error. */
  ashlar_result (*am_short)(ashlar_endpoint*, uint8_t id, uint64_t h0, uint64_t h1, const void* data, uint32_t length);
  /* Sends up to max_bcopy bytes that `fill` writes straight into the wire buffer. `length` is the exact length. */
  ashlar_result (*am_bcopy)(ashlar_endpoint*, uint8_t id, uint64_t h0, uint64_t h1, ashlar_fill fill, void* argument,
                            uint32_t length);
  /* Copies `length` bytes at `offset` of the peer's exposed memory to `to`. OK: finished before the return. PENDING:
   * `done` is called in a later round of progress, with an error when the peer has ended meanwhile, and never after
   * disconnect(). AGAIN: nothing was started. A long one is cut: no call copies for longer than a round of progress may
   * last. This holds for put, getv, putv, amo and flush as well. */
  ashlar_result (*get)(ashlar_endpoint*, void* to, const ashlar_key*, uint64_t offset, uint64_t length,
                       ashlar_completion* done);
  /* OK and `done`: `from` may be used again. When the peer finds the bytes: ashlar_iface_attributes. Gets and puts take
   * place in any order. */
  ashlar_result (*put)(ashlar_endpoint*, const void* from, const ashlar_key*, uint64_t offset, uint64_t length,
                       ashlar_completion* done);
  /* Makes the peer's sleeping progress loop look again (for components that signal through memory of their own). */
  void (*wake)(ashlar_endpoint*);
  /* With ASHLAR_CAP_POST only, else NULL. */
  const ashlar_post_ops* posts;
  /* With ASHLAR_CAP_REST only, else NULL: what has become of the message with these words and one
   * of the ids (a bit per id) that was sent here, if the peer is at rest. OK: it was delivered there before. AGAIN: it
   * lies there unread, or has never left. PENDING: the peer is not at rest, or something that it sent before it came to
   * rest may still have to be delivered here. May be asked after the peer's end as well. */
  ashlar_result (*fate)(ashlar_endpoint*, uint32_t ids, uint64_t h0, uint64_t h1);

  /* Since minor version 4; NULL: not offered. */

  /* As get and put, of 1 to `pieces_most` pieces of one exposed region, of at least a byte each. The array stays as it
   * is until the operation is complete. */
  ashlar_result (*getv)(ashlar_endpoint*, const ashlar_key*, const ashlar_piece* pieces, uint32_t count,
                        ashlar_completion* done);
  ashlar_result (*putv)(ashlar_endpoint*, const ashlar_key*, const ashlar_piece* pieces, uint32_t count,
                        ashlar_completion* done);
  /* With ASHLAR_CAP_AMO. An atomic operation on `width` bytes (1, 2, 4, 8) at `offset`, where they are aligned: the
   * address in the peer, not the offset alone, is a multiple of `width`. What was there before goes to `result` (width
   * bytes), unless that is NULL. `operand` and `compare` are integers, of which the lowest bytes count. Complete when
   * it has returned OK or its completion is called: with a result it has taken place, without one it has when a later
   * flush is complete. Those of one endpoint on the same bytes take place in the order of the calls. */
  ashlar_result (*amo)(ashlar_endpoint*, int op, uint32_t width, const ashlar_key*, uint64_t offset, uint64_t operand,
                       uint64_t compare, void* result, ashlar_completion* done);
  /* Complete when all puts and atomic operations that this endpoint completed before the call have taken place in the
   * peer's memory. Needs nothing of the peer's software. NULL: there is nothing to wait for. */
  ashlar_result (*flush)(ashlar_endpoint*, ashlar_completion* done);

  /* Since minor version 8; NULL: not offered. What has been measured, by the exchange that proved the path and by use
   * since; never what a library or a card says of itself. */
  void (*measured)(ashlar_endpoint*, ashlar_path_cost* out);
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
  /* This interface's address, in the *length bytes of `out`; published to all peers before any connect. */
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
  /* At least one of: a descriptor that becomes readable, a futex word whose value changes. -1 / NULL: not offered.
   * Both: the kernel sleeps on the word, which costs less, unless another interface of the lane has a descriptor alone.
   * Only then does it ask for the descriptor, before arm(); from that call on arrivals raise both. */
  int (*wake_fd)(ashlar_iface*);
  uint32_t* (*wake_word)(ashlar_iface*);
  /* Whether all that was sent would arrive if this process ended now (for finalize); peers' progress may be needed. */
  int (*idle)(ashlar_iface*);
  /* NULL: not offered. The last session of this process has ended (1): it makes no progress until another one begins
   * (0), and is *at rest* meanwhile. Peers ask by `fate` which of their messages had been delivered to it. */
  void (*rest)(ashlar_iface*, int resting);
  /* Since minor version 4; NULL: all attributes are 0. Fills what the caller has room for; they never change. */
  void (*attributes)(ashlar_iface*, ashlar_iface_attributes* out);
  /* Since minor version 5; NULL: not offered. The kernel's number `peer`, of a process of another job, means nothing
   * any more: its endpoint is given back as by disconnect(), and what the process may still send is dropped, until the
   * kernel knows it again (ashlar_transport_context::peer_of). */
  void (*forget)(ashlar_iface*, uint32_t peer);
  /* Since minor version 6; NULL: not offered. The process behind the endpoint has ended, as the launcher or another
   * interface says, in the words `how`: what is under way to it and from it fails, later calls fail, and nothing is
   * tried any more to reach it. It may be known here already. */
  void (*ended)(ashlar_iface*, ashlar_endpoint*, const char* how);
  /* Since minor version 7; NULL: not offered. For endpoints with ASHLAR_CAP_TAG. */
  const ashlar_tag_ops* tags;
} ashlar_iface_ops;

struct ashlar_iface {
  const ashlar_iface_ops* ops;
};

/* Memory that the library gave to the program, or that a window has: it stays where and what it is until it is freed.
 */
typedef struct ashlar_lasting {
  uint64_t address, length;
  uint64_t serial; /* no other memory has or had it */
} ashlar_lasting;

enum ashlar_tags_wanted { ASHLAR_TAGS_NEVER = 0, ASHLAR_TAGS_WHERE_PAYING = 1, ASHLAR_TAGS_WHERE_WORKING = 2 };

/* Context of query() and create() of a transport component. */
typedef struct ashlar_transport_context {
  uint32_t size;
  uint32_t lane;
  uint32_t self; /* the kernel's number of this process: its rank in its job */
  uint32_t job_size;
  uint32_t local_rank, local_size; /* among the job's processes of this node */
  const char* job_id;              /* same text in every process of the job */
  uint64_t job_cookie;             /* shared secret of the job */
  int oversubscribed;              /* more ranks than cores on this node: spinning hurts */
  void* lane_context;              /* first argument of the functions below */
  /* Called by progress() for each arrival, in the order of each peer's sends. The handler never blocks; it may send. */
  void (*deliver)(void* lane_context, const ashlar_am*);
  void (*failed)(void* lane_context, uint32_t peer, const char* reason);
  /* Since minor version 5. What tells this job from all others, and the kernel's number of rank `rank` of a job:
   * ASHLAR_NOBODY when the kernel does not know that process, whose messages are then not to be delivered. `peer` of an
   * endpoint, of deliver() and failed() is the kernel's number in this process; a process of another job has a number
   * of its own for this one, so what travels between processes is job and rank. */
  uint64_t job[2];
  uint32_t (*peer_of)(void* lane_context, const uint64_t job[2], uint32_t rank);
  /* Since minor version 6. Whether all of [address, address + length) lies in lasting memory, and which. A serial that
   * is told again tells that the memory was not freed in the meantime: what was registered of it still holds. */
  int (*lasting)(void* lane_context, const void* address, uint64_t length, ashlar_lasting* out);
  /* Since minor version 7. Whether the kernel wants tags (ashlar_tags_wanted). */
  uint32_t tags_wanted;
  /* Since minor version 9. Lanes of this process, which share its descriptors and memory. */
  uint32_t lanes;
} ashlar_transport_context;

#ifdef __cplusplus
}
#endif
#endif
