/* Random traffic with an oracle. All ranks make the same plan from a seed: which rank sends what to which, on which
 * communicator, with which tag and call. Each message says who it is; when all are there, the oracle holds them against
 * the plan: every message exactly once, into a receive that asked for it, and never past an older message that the same
 * receive could have taken (MPI-5.0, 3.5). Beside it, operations that nothing may ever match are cancelled; messages
 * are cancelled while they are perhaps received, and the two sides' words have to agree; and partitioned messages come
 * in. Arguments: seed, rounds, threads (each with communicators of its own). */
#include <pthread.h>

#include "check.h"

enum { kComms = 3, kMostMessages = 160, kTags = 5, kNobodysTag = 999, kMostThreads = 4, kMostBytes = 200000 };
enum { kDisputed = 12, kDisputedTag = 500, kPartsTag = 700, kMostParts = 24, kModes = 8 };

/* How the receives of one communicator ask in one round; chosen so that whatever is taken, the others find theirs. */
enum Asking { kExactOrAnySource, kExactOrAnyTag, kAnything, kAskings };

typedef struct {
  int from, to, comm, tag, bytes, mode, number; /* number: of its sender, receiver and communicator */
} Planned;

typedef struct {
  int source, tag, comm; /* as asked */
  unsigned char* buffer;
  int got;              /* index of the planned message */
  int gaps, persistent; /* every second byte of the buffer; by a request that is started */
} Receive;

typedef struct {
  int from, number, bytes, tag;
} Label; /* at the head of every message that is long enough; shorter ones differ in length */

/* A message that its sender may call back, and that its receiver may ask for or not. */
typedef struct {
  unsigned char *out, *in;
  int bytes, cancels, wanted;
  MPI_Request send, receive;
} Disputed;

/* A partitioned message to the right and one from the left. */
typedef struct {
  unsigned char *out, *in;
  int bytes, parts_out, parts_in, marked, order[kMostParts];
  MPI_Request send, receive;
} Parts;

typedef struct {
  MPI_Comm comms[kComms], nobody;
  MPI_Datatype every_second; /* one byte and a gap of one */
  Random plan, own;
  int rounds, thread;
} Worker;

static int message_bytes(Random* r) {
  const int kind = random_below(r, 10);
  if (kind < 6) return (int)sizeof(Label) + random_below(r, 60);
  if (kind < 9) return (int)sizeof(Label) + random_below(r, 8000);
  return (int)sizeof(Label) + random_below(r, kMostBytes - (int)sizeof(Label));
}

static unsigned seed_of(const Planned* m) { return (unsigned)(m->from * 40009 + m->number * 97 + m->comm); }

static unsigned char* make_message(const Planned* m) {
  unsigned char* data = check_alloc((size_t)m->bytes);
  const Label label = {m->from, m->number, m->bytes, m->tag};
  pattern_fill(data, (size_t)m->bytes, seed_of(m));
  memcpy(data, &label, sizeof label);
  return data;
}

static int plan(Worker* w, Planned* messages, int* asking) {
  const int n = 20 + random_below(&w->plan, kMostMessages - 20);
  for (int i = 0; i < n; i++) {
    Planned* m = &messages[i];
    m->from = random_below(&w->plan, check_size), m->to = random_below(&w->plan, check_size);
    m->comm = random_below(&w->plan, kComms), m->tag = random_below(&w->plan, kTags);
    m->bytes = message_bytes(&w->plan), m->mode = random_below(&w->plan, kModes);
    m->number = 0;
    for (int j = 0; j < i; j++)
      m->number += messages[j].from == m->from && messages[j].to == m->to && messages[j].comm == m->comm;
  }
  for (int c = 0; c < kComms; c++) asking[c] = random_below(&w->plan, kAskings);
  return n;
}

static void ask(const Planned* m, int asking, Receive* r) {
  r->source = m->from, r->tag = m->tag, r->comm = m->comm, r->got = -1;
  if (asking == kExactOrAnySource && m->tag % 2) r->source = MPI_ANY_SOURCE;
  if (asking == kExactOrAnyTag && m->from % 2) r->tag = MPI_ANY_TAG;
  if (asking == kAnything) r->source = MPI_ANY_SOURCE, r->tag = MPI_ANY_TAG;
}

static int takes(const Receive* r, const Planned* m) {
  return r->comm == m->comm && (r->source == MPI_ANY_SOURCE || r->source == m->from) &&
         (r->tag == MPI_ANY_TAG || r->tag == m->tag);
}

/* Which message is it? */
static void identify(Receive* r, const MPI_Status* s, const Planned* messages, int n) {
  Label label;
  int count = 0;
  MPI_Status copy = *s;
  MUST(MPI_Get_count(&copy, MPI_BYTE, &count));
  CHECK(count >= (int)sizeof label, "%d bytes", count);
  memcpy(&label, r->buffer, sizeof label);
  for (int i = 0; i < n && r->got < 0; i++) {
    const Planned* m = &messages[i];
    if (m->from == label.from && m->to == check_rank && m->comm == r->comm && m->number == label.number) r->got = i;
  }
  CHECK(r->got >= 0, "a message from %d, number %d, that nobody planned", label.from, label.number);
  if (r->got < 0) return;
  const Planned* m = &messages[r->got];
  CHECK(count == m->bytes && s->MPI_SOURCE == m->from && s->MPI_TAG == m->tag, "status %d bytes, source %d, tag %d",
        count, s->MPI_SOURCE, s->MPI_TAG);
  CHECK(takes(r, m), "asked for source %d tag %d, got source %d tag %d", r->source, r->tag, m->from, m->tag);
  unsigned char* should = make_message(m);
  CHECK(memcmp(should, r->buffer, (size_t)m->bytes) == 0, "message %d of rank %d is damaged", m->number, m->from);
  free(should);
}

/* Receives are in the order in which they asked. */
static void judge(const Receive* receives, int n, const Planned* messages) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      if (receives[i].got < 0 || receives[j].got < 0) continue;
      const Planned *a = &messages[receives[i].got], *b = &messages[receives[j].got];
      CHECK(a != b, "message %d of rank %d came twice", a->number, a->from);
      const int overtaken = a->from == b->from && a->comm == b->comm && b->number < a->number;
      CHECK(!overtaken || !takes(&receives[i], b), "receive %d took message %d of rank %d, receive %d message %d", i,
            a->number, a->from, j, b->number);
    }
}

static void send(Worker* w, const Planned* m, unsigned char* data, unsigned char** keep, MPI_Request* request) {
  MPI_Comm comm = w->comms[m->comm];
  switch (m->mode) {
    case 0:
      MUST(MPI_Isend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, request));
      break;
    case 1:
      MUST(MPI_Issend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, request));
      break;
    case 2:
      MUST(MPI_Ibsend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, request));
      break;
    case 3:
      MUST(MPI_Send_init(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, request));
      MUST(MPI_Start(request));
      break;
    case 4: { /* with gaps between its bytes */
      unsigned char* wide = check_alloc(2 * (size_t)m->bytes);
      for (int i = 0; i < m->bytes; i++) wide[2 * i] = data[i], wide[2 * i + 1] = 0xaa;
      *keep = wide;
      MUST(MPI_Isend(wide, m->bytes, w->every_second, m->to, m->tag, comm, request));
      break;
    }
    case 5:
      MUST(MPI_Bsend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm));
      *request = MPI_REQUEST_NULL;
      break;
    case 6:
      MUST(MPI_Isendrecv(data, m->bytes, MPI_BYTE, m->to, m->tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, request));
      break;
    default: /* no call will ever wait for it; its buffer lives to the end of the round */
      MUST(MPI_Isend(data, m->bytes, MPI_BYTE, m->to, m->tag, comm, request));
      MUST(MPI_Request_free(request));
      break;
  }
}

/* Completes all requests in one of several ways; the statuses are those of the requests. */
static void complete(Worker* w, int n, MPI_Request* requests, MPI_Status* statuses) {
  const int way = random_below(&w->own, 5);
  int left = 0, flag = 0;
  int* indices = check_alloc(sizeof(int) * (size_t)n);
  MPI_Status* some = check_alloc(sizeof(MPI_Status) * (size_t)n);
  if (way == 0) {
    MUST(MPI_Waitall(n, requests, statuses));
  } else if (way == 1) {
    while (!flag) MUST(MPI_Testall(n, requests, &flag, statuses));
  } else if (way == 2) {
    for (left = n; left > 0; left--) {
      int index;
      MPI_Status s;
      MUST(MPI_Waitany(n, requests, &index, &s));
      if (index == MPI_UNDEFINED) break;
      statuses[index] = s;
    }
  } else {
    for (int count = 0; count != MPI_UNDEFINED;) {
      if (way == 3) MUST(MPI_Waitsome(n, requests, &count, indices, some));
      if (way == 4) MUST(MPI_Testsome(n, requests, &count, indices, some));
      for (int i = 0; count != MPI_UNDEFINED && i < count; i++) statuses[indices[i]] = some[i];
    }
  }
  free(indices);
  free(some);
}

static void post(Worker* w, Receive* r, MPI_Request* request) {
  MPI_Datatype type = r->gaps ? w->every_second : MPI_BYTE;
  MPI_Comm comm = w->comms[r->comm];
  if (r->persistent) {
    MUST(MPI_Recv_init(r->buffer, kMostBytes, type, r->source, r->tag, comm, request));
    MUST(MPI_Start(request));
  } else {
    MUST(MPI_Irecv(r->buffer, kMostBytes, type, r->source, r->tag, comm, request));
  }
}

/* The gaps have to be as they were; without them the message is looked at as any other. */
static void close_gaps(Receive* r) {
  for (int i = 0; i < kMostBytes; i++) {
    if (r->buffer[2 * i + 1] != 0xbb) {
      CHECK(0, "the gap behind byte %d was written", i);
      break;
    }
    r->buffer[i] = r->buffer[2 * i];
  }
}

/* Receives one message by a probe. */
static void receive_probed(Worker* w, Receive* r) {
  MPI_Comm comm = w->comms[r->comm];
  MPI_Message m = MPI_MESSAGE_NULL;
  MPI_Status s;
  int count, flag = 0;
  const int way = random_below(&w->own, 3);
  if (way == 0) {
    MUST(MPI_Mprobe(r->source, r->tag, comm, &m, &s));
  } else if (way == 1) {
    while (!flag) MUST(MPI_Improbe(r->source, r->tag, comm, &flag, &m, &s));
  } else {
    MUST(MPI_Probe(r->source, r->tag, comm, &s));
  }
  MUST(MPI_Get_count(&s, MPI_BYTE, &count));
  if (way < 2) {
    MUST(MPI_Mrecv(r->buffer, count, MPI_BYTE, &m, &s));
  } else {
    MUST(MPI_Recv(r->buffer, count, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, comm, &s));
  }
}

static void expect_cancelled(MPI_Request* r) {
  MPI_Status s;
  int flag = 0;
  MUST(MPI_Cancel(r));
  MUST(MPI_Wait(r, &s));
  MUST(MPI_Test_cancelled(&s, &flag));
  CHECK(flag, "nobody could have matched it");
}

/* ---- messages that are perhaps cancelled: to the right, from the left ---- */

static void start_disputed(Worker* w, Disputed* d) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < kDisputed; i++, d++) {
    d->bytes = random_below(&w->own, 3) ? random_below(&w->own, 3000) : random_below(&w->own, kMostBytes);
    d->out = check_alloc((size_t)d->bytes), d->in = check_alloc(kMostBytes);
    pattern_fill(d->out, (size_t)d->bytes, (unsigned)(check_rank * 50 + i));
    const int synchronous = random_below(&w->own, 2);
    d->cancels = synchronous || random_below(&w->own, 2); /* a synchronous one may never be wanted */
    if (synchronous)
      MUST(MPI_Issend(d->out, d->bytes, MPI_BYTE, right, kDisputedTag + i, w->nobody, &d->send));
    else
      MUST(MPI_Isend(d->out, d->bytes, MPI_BYTE, right, kDisputedTag + i, w->nobody, &d->send));
    d->wanted = random_below(&w->own, 2);
    d->receive = MPI_REQUEST_NULL;
    if (d->wanted) MUST(MPI_Irecv(d->in, kMostBytes, MPI_BYTE, left, kDisputedTag + i, w->nobody, &d->receive));
  }
}

static int cancelled(MPI_Request* r) {
  MPI_Status s;
  int flag = 0;
  MUST(MPI_Wait(r, &s));
  MUST(MPI_Test_cancelled(&s, &flag));
  return flag;
}

static void end_disputed(Worker* w, Disputed* all) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  int mine[2 * kDisputed], theirs[2 * kDisputed];
  for (int i = 0; i < kDisputed; i++)
    if (all[i].cancels) MUST(MPI_Cancel(&all[i].send));
  for (int i = 0; i < kDisputed; i++) {
    Disputed* d = &all[i];
    /* One that is not cancelled and has no receive yet would need the other side's receive: that comes below. */
    if (d->cancels) mine[i] = cancelled(&d->send);
    if (!d->cancels) mine[i] = 0;
    mine[kDisputed + i] = d->bytes;
  }
  MUST(MPI_Sendrecv(mine, 2 * kDisputed, MPI_INT, right, kNobodysTag + 2, theirs, 2 * kDisputed, MPI_INT, left,
                    kNobodysTag + 2, w->nobody, MPI_STATUS_IGNORE));
  for (int i = 0; i < kDisputed; i++) {
    Disputed* d = &all[i];
    const int bytes = theirs[kDisputed + i];
    MPI_Status s;
    if (theirs[i]) {
      int flag = 0;
      MUST(MPI_Iprobe(left, kDisputedTag + i, w->nobody, &flag, &s));
      CHECK(!flag, "message %d was cancelled, and is there", i);
      if (!d->wanted) continue;
      MUST(MPI_Cancel(&d->receive));
      CHECK(cancelled(&d->receive), "message %d was cancelled, and received", i);
      continue;
    }
    if (d->wanted) MUST(MPI_Wait(&d->receive, MPI_STATUS_IGNORE));
    if (!d->wanted) MUST(MPI_Recv(d->in, kMostBytes, MPI_BYTE, left, kDisputedTag + i, w->nobody, MPI_STATUS_IGNORE));
    CHECK_PATTERN(d->in, (size_t)bytes, (unsigned)(left * 50 + i));
  }
  for (int i = 0; i < kDisputed; i++) {
    if (!all[i].cancels) CHECK(!cancelled(&all[i].send));
    free(all[i].out), free(all[i].in);
  }
}

/* ---- partitioned messages ---- */

static void start_parts(Worker* w, Parts* p) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  /* The planned random numbers: both sides have to agree on the whole. */
  const int unit = 1 + random_below(&w->plan, random_below(&w->plan, 2) ? 40 : 1500);
  p->parts_out = 1 + random_below(&w->own, 4) * 3, p->parts_in = 1 + random_below(&w->own, 4) * 3;
  p->bytes = 1 * 4 * 7 * 10 * unit; /* 1, 4, 7 or 10 parts */
  p->out = check_alloc((size_t)p->bytes), p->in = check_alloc((size_t)p->bytes);
  pattern_fill(p->out, (size_t)p->bytes, (unsigned)check_rank);
  p->marked = 0;
  for (int i = 0; i < p->parts_out; i++) p->order[i] = i;
  for (int i = p->parts_out - 1; i > 0; i--) {
    const int j = random_below(&w->own, i + 1), other = p->order[i];
    p->order[i] = p->order[j], p->order[j] = other;
  }
  MUST(MPI_Psend_init(p->out, p->parts_out, p->bytes / p->parts_out, MPI_BYTE, right, kPartsTag, w->nobody,
                      MPI_INFO_NULL, &p->send));
  MUST(MPI_Precv_init(p->in, p->parts_in, p->bytes / p->parts_in, MPI_BYTE, left, kPartsTag, w->nobody, MPI_INFO_NULL,
                      &p->receive));
  MUST(MPI_Start(&p->send));
  MUST(MPI_Start(&p->receive));
}

static void mark_one(Parts* p) {
  if (p->marked < p->parts_out) MUST(MPI_Pready(p->order[p->marked++], p->send));
}

static void end_parts(Parts* p) {
  const int left = (check_rank + check_size - 1) % check_size;
  int flag = 0;
  while (p->marked < p->parts_out) mark_one(p);
  MUST(MPI_Parrived(p->receive, p->parts_in - 1, &flag));
  if (flag) {
    const size_t part = (size_t)(p->bytes / p->parts_in), at = part * (size_t)(p->parts_in - 1);
    for (size_t i = at; i < at + part; i++)
      if (p->in[i] != pattern_byte((unsigned)left, i)) {
        CHECK(0, "byte %zu of a partition that has arrived", i);
        break;
      }
  }
  MUST(MPI_Wait(&p->send, MPI_STATUS_IGNORE));
  MUST(MPI_Wait(&p->receive, MPI_STATUS_IGNORE));
  CHECK_PATTERN(p->in, (size_t)p->bytes, (unsigned)left);
  MUST(MPI_Request_free(&p->send));
  MUST(MPI_Request_free(&p->receive));
  free(p->out), free(p->in);
}

static void one_round(Worker* w) {
  static _Thread_local Planned messages[kMostMessages];
  unsigned char *out[kMostMessages], *kept[kMostMessages] = {NULL};
  Disputed disputed[kDisputed];
  Parts parts;
  Receive receives[kMostMessages];
  MPI_Request requests[2 * kMostMessages], useless[2];
  MPI_Status statuses[2 * kMostMessages];
  int asking[kComms], mine[kMostMessages], sends = 0, posted = 0, total = 0, nobodys[2];
  const int n = plan(w, messages, asking);

  /* Receives in an order of this rank's own; the late ones are probed for when the others are done. */
  for (int i = 0; i < n; i++)
    if (messages[i].to == check_rank) mine[total++] = i;
  for (int i = total - 1; i > 0; i--) {
    const int j = random_below(&w->own, i + 1), other = mine[i];
    mine[i] = mine[j], mine[j] = other;
  }
  const int late = total > 0 ? random_below(&w->own, total + 1) / 3 : 0, early = total - late;
  for (int i = 0; i < total; i++) {
    ask(&messages[mine[i]], asking[messages[mine[i]].comm], &receives[i]);
    receives[i].gaps = i < early && random_below(&w->own, 4) == 0;
    receives[i].persistent = i < early && random_below(&w->own, 4) == 0;
    receives[i].buffer = check_alloc((receives[i].gaps ? 2 : 1) * (size_t)kMostBytes);
    if (receives[i].gaps) memset(receives[i].buffer, 0xbb, 2 * (size_t)kMostBytes);
  }
  start_parts(w, &parts);
  start_disputed(w, disputed);
  MUST(MPI_Irecv(&nobodys[0], 1, MPI_INT, MPI_ANY_SOURCE, kNobodysTag, w->nobody, &useless[0]));
  MUST(MPI_Issend(&nobodys[1], 1, MPI_INT, (check_rank + 1) % check_size, kNobodysTag + 1, w->nobody, &useless[1]));

  /* Sends in the order of the plan, receives among them. */
  for (int i = 0; i < n; i++) {
    while (posted < early && random_below(&w->own, 3) == 0) {
      post(w, &receives[posted], &requests[posted]);
      posted++;
    }
    if (random_below(&w->own, 4) == 0) mark_one(&parts);
    out[i] = NULL;
    if (messages[i].from != check_rank) continue;
    out[i] = make_message(&messages[i]);
    send(w, &messages[i], out[i], &kept[i], &requests[kMostMessages + sends++]);
  }
  for (; posted < early; posted++) post(w, &receives[posted], &requests[posted]);
  /* Persistent requests do not become null: their handles are kept. */
  MPI_Request persistent[kMostMessages], persistent_receives[kMostMessages];
  memcpy(persistent, requests + kMostMessages, sizeof(MPI_Request) * (size_t)sends);
  memcpy(persistent_receives, requests, sizeof(MPI_Request) * (size_t)early);
  memmove(requests + early, requests + kMostMessages, sizeof(MPI_Request) * (size_t)sends);
  expect_cancelled(&useless[0]);
  if (late == 0) {
    complete(w, early + sends, requests, statuses);
  } else { /* synchronous messages among the late ones complete only when they are received */
    complete(w, early, requests, statuses);
    for (int i = early; i < total; i++) receive_probed(w, &receives[i]);
    complete(w, sends, requests + early, statuses + early);
  }
  expect_cancelled(&useless[1]);
  end_disputed(w, disputed);
  end_parts(&parts);
  for (int i = 0; i < early; i++) {
    if (receives[i].gaps) close_gaps(&receives[i]);
    if (receives[i].persistent) MUST(MPI_Request_free(&persistent_receives[i]));
  }
  for (int i = 0; i < total; i++) {
    Label label;
    memcpy(&label, receives[i].buffer, sizeof label);
    if (i < early) {
      identify(&receives[i], &statuses[i], messages, n);
    } else {
      MPI_Status s = {0};
      s.MPI_SOURCE = label.from, s.MPI_TAG = label.tag;
      MUST(MPI_Status_set_elements(&s, MPI_BYTE, label.bytes));
      identify(&receives[i], &s, messages, n);
    }
  }
  judge(receives, total, messages);
  MUST(MPI_Barrier(w->comms[0])); /* every message has been received: the buffers of freed requests too */
  for (int i = 0, k = 0; i < n; i++) {
    if (messages[i].from != check_rank) continue;
    if (messages[i].mode == 3) MUST(MPI_Request_free(&persistent[k]));
    k++;
    free(out[i]);
    free(kept[i]);
  }
  for (int i = 0; i < total; i++) free(receives[i].buffer);
}

static void* work(void* argument) {
  Worker* w = argument;
  for (int i = 0; i < w->rounds && check_failures == 0; i++) one_round(w);
  return NULL;
}

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 10, threads = argc > 3 ? atoi(argv[3]) : 1;
  static Worker workers[kMostThreads];
  pthread_t ids[kMostThreads];
  int provided;
  void* back;
  int size;
  MUST(MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  MUST(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  for (int t = 0; t < threads; t++) {
    Worker* w = &workers[t];
    w->rounds = rounds, w->thread = t;
    w->plan.state = seed * 1000003 + (uint64_t)t;
    w->own.state = seed * 7 + (uint64_t)(check_rank * 131 + t);
    for (int c = 0; c < kComms; c++) MUST(MPI_Comm_dup(MPI_COMM_WORLD, &w->comms[c]));
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &w->nobody));
    MUST(MPI_Type_create_resized(MPI_BYTE, 0, 2, &w->every_second));
    MUST(MPI_Type_commit(&w->every_second));
  }
  for (int t = 1; t < threads; t++) pthread_create(&ids[t], NULL, work, &workers[t]);
  work(&workers[0]);
  for (int t = 1; t < threads; t++) pthread_join(ids[t], NULL);
  MUST(MPI_Buffer_detach(&back, &size));
  if (check_failures)
    fprintf(stderr, "pt2pt_random: again with: %llu %d %d\n", (unsigned long long)seed, rounds, threads);
  for (int t = 0; t < threads; t++) {
    for (int c = 0; c < kComms; c++) MUST(MPI_Comm_free(&workers[t].comms[c]));
    MUST(MPI_Comm_free(&workers[t].nobody));
    MUST(MPI_Type_free(&workers[t].every_second));
  }
  return check_end();
}
