/* Random epochs whose outcome is defined, whatever the order in which things happen: rma_oracle [seed [rounds
 * [threads]]]. Every part of every process's window is given to one game of an epoch: put       one process puts, in a
 * layout of its own, into another one get       any number of processes get what the owner has stored combine   any
 * number of processes combine with one operation, by any of the calls: the result does not depend on the order tickets
 * fetch and add: the results are a permutation chain     replace by values of one's own: what was fetched and what is
 * left is one chain swap      a counter by compare and swap growing   one process replaces by growing numbers: no
 * reading of another falls flag      put, flush, flag: who sees the flag sees the data locked    get, add, put under an
 * exclusive lock The kind of window and of epoch, displacement units, layouts, alignments, sizes, calls and their order
 * are random, the same for the same seed. */
#include <pthread.h>
#include <stdatomic.h>

#include "ops.h"
#include "rma.h"

typedef enum { kPut, kGet, kCombine, kTickets, kChain, kSwap, kGrowing, kFlag, kLocked, kGames } Game;
static const char* const game_names[] = {"put",  "get",     "combine", "tickets", "chain",
                                         "swap", "growing", "flag",    "locked"};

enum { kSlots = 6, kSlotBytes = 2048, kLargeBytes = 1 << 18, kMostRuns = 6, kEach = 12 };

/* A part of the window of `target`. */
typedef struct {
  Game game;
  int target, number, writer;
  MPI_Aint offset, bytes;
  uint64_t seed;
  const Case* op;
  int n, strided; /* combine: elements, every second */
} Slot;

static uint64_t program_seed;
static int threads;

/* Numbers that belong to a slot and a process. */
static Random random_of(const Slot* s, int rank) {
  Random r = {.state = s->seed * 1000003 + (uint64_t)rank * 7919 + 13};
  random_next(&r);
  return r;
}

static int takes_part(const Slot* s, int rank) {
  Random r = random_of(s, rank);
  return random_below(&r, 3) != 0;
}

/* ---- layouts -------------------------------------------------------------------------------------------------------
 */

typedef struct {
  int n, at[kMostRuns], length[kMostRuns];
} Runs;

/* `total` bytes as some runs in `room` bytes, in any order. */
static Runs random_runs(Random* r, int total, int room) {
  Runs runs = {.n = 1 + random_below(r, kMostRuns)};
  if (runs.n > total) runs.n = 1;
  int left = total, spare = room - total, at = 0;
  for (int i = 0; i < runs.n; i++) {
    const int last = i == runs.n - 1;
    const int length = last ? left : 1 + random_below(r, left - (runs.n - 1 - i));
    const int gap = spare > 0 && random_below(r, 2) ? random_below(r, spare + 1) : 0;
    at += gap, spare -= gap;
    runs.at[i] = at, runs.length[i] = length;
    at += length, left -= length;
  }
  for (int i = runs.n - 1; i > 0; i--) {
    const int k = random_below(r, i + 1), other_at = runs.at[k], other_length = runs.length[k];
    runs.at[k] = runs.at[i], runs.length[k] = runs.length[i];
    runs.at[i] = other_at, runs.length[i] = other_length;
  }
  return runs;
}

static MPI_Datatype type_of(const Runs* runs) {
  MPI_Datatype type;
  MUST(MPI_Type_indexed(runs->n, runs->length, runs->at, MPI_BYTE, &type));
  MUST(MPI_Type_commit(&type));
  return type;
}

/* The data of a transfer: the runs at the origin hold the pattern in their order, and so do those at the target. */
typedef struct {
  Runs here, there;
  int total;
  unsigned pattern;
} Transfer;

static Transfer transfer_of(const Slot* s, int rank) {
  Random r = random_of(s, rank);
  random_next(&r);
  const int room = (int)s->bytes;
  Transfer t = {.total = 1 + random_below(&r, random_below(&r, 2) ? room : 64), .pattern = (unsigned)random_next(&r)};
  t.here = random_runs(&r, t.total, room);
  t.there = random_runs(&r, t.total, room);
  return t;
}

/* Writes the pattern to the runs of `to`, or finds out whether it is there: -1, or the byte that is wrong. */
static int pattern_in(char* to, const Runs* runs, unsigned pattern, int write) {
  size_t k = 0;
  for (int i = 0; i < runs->n; i++)
    for (int b = 0; b < runs->length[i]; b++, k++) {
      if (write)
        to[runs->at[i] + b] = (char)pattern_byte(pattern, k);
      else if ((unsigned char)to[runs->at[i] + b] != pattern_byte(pattern, k))
        return runs->at[i] + b;
    }
  return -1;
}

/* ---- combining -----------------------------------------------------------------------------------------------------
 */

static int times_of(const Slot* s, int rank) { return takes_part(s, rank) ? 1 + (int)(s->seed >> 20 & 1) : 0; }

/* What process `rank` gives for element `i` at its `k`th time: so small that every sum is exact. */
static int given(const Slot* s, int rank, int i, int k) {
  const Case* const c = s->op;
  const int v = (int)((s->seed + (uint64_t)(rank * 31 + i * 7 + k * 3)) % 8);
  if (c->op == MPI_PROD) return rank == s->writer && k == 0 ? 2 : 1;
  if (c->op == MPI_LAND || c->op == MPI_LOR || c->op == MPI_LXOR) return v % 4 != 0 ? 3 : 0;
  return c->size == 1 && c->op == MPI_SUM ? v % 2 : v;
}

static int initial(const Slot* s, int i) {
  return s->op->op == MPI_PROD ? 3 : s->op->op == MPI_LAND ? 1 : (int)((s->seed + (uint64_t)i) % 5);
}

static MPI_Aint element_at(const Slot* s, int i) { return (MPI_Aint)(s->strided ? 2 * i : i) * (MPI_Aint)s->op->size; }

/* ---- actions: what one process does in an epoch --------------------------------------------------------------------
 */

typedef struct {
  const TestWindow* w;
  const Slot* slot;
  EpochKind epoch;
  int time;   /* combine: which time; flag: 1 to read */
  char* data; /* origin */
  char* more; /* result */
} Action;

static void flush_some(const TestWindow* w, int target, Random* r) {
  const int how = random_below(r, 4);
  MUST(how == 0   ? MPI_Win_flush(target, w->win)
       : how == 1 ? MPI_Win_flush_all(w->win)
       : how == 2 ? MPI_Win_flush_local(target, w->win)
                  : MPI_Win_flush_local_all(w->win));
}

static void act_transfer(Action* a, MPI_Aint disp, Random* r) {
  const Transfer t = transfer_of(a->slot, a->w->rank);
  MPI_Datatype here = type_of(&t.here), there = type_of(&t.there);
  MPI_Request request = MPI_REQUEST_NULL;
  const int target = a->slot->target, request_based = is_passive(a->epoch) && random_below(r, 2);
  const MPI_Win win = a->w->win;
  a->data = check_alloc((size_t)a->slot->bytes);
  memset(a->data, 0x33, (size_t)a->slot->bytes);
  if (a->slot->game == kPut) pattern_in(a->data, &t.here, t.pattern, 1);
  if (a->slot->game == kPut)
    MUST(request_based ? MPI_Rput(a->data, 1, here, target, disp, 1, there, win, &request)
                       : MPI_Put(a->data, 1, here, target, disp, 1, there, win));
  else
    MUST(request_based ? MPI_Rget(a->data, 1, here, target, disp, 1, there, win, &request)
                       : MPI_Get(a->data, 1, here, target, disp, 1, there, win));
  MUST(MPI_Type_free(&here));
  MUST(MPI_Type_free(&there));
  if (request_based) MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void act_combine(Action* a, MPI_Aint disp, Random* r) {
  const Slot* const s = a->slot;
  const Case* const c = s->op;
  const size_t bytes = (size_t)s->n * c->size;
  a->data = check_alloc(bytes);
  a->more = check_alloc(bytes);
  memset(a->data, 0, bytes);
  for (int i = 0; i < s->n; i++) c->put(a->data + (size_t)i * c->size, given(s, a->w->rank, i, a->time));
  MPI_Datatype there = c->type;
  if (s->strided) {
    MUST(MPI_Type_vector(s->n, 1, 2, c->type, &there));
    MUST(MPI_Type_commit(&there));
  }
  const int count = s->strided ? 1 : s->n, passive = is_passive(a->epoch);
  const MPI_Win win = a->w->win;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (random_below(r, passive ? 4 : 2)) {
    case 0:
      if (s->n == 1)
        MUST(MPI_Fetch_and_op(a->data, a->more, c->type, s->target, disp, c->op, win));
      else
        MUST(MPI_Accumulate(a->data, s->n, c->type, s->target, disp, count, there, c->op, win));
      break;
    case 1:
      MUST(MPI_Get_accumulate(a->data, s->n, c->type, a->more, s->n, c->type, s->target, disp, count, there, c->op,
                              win));
      break;
    case 2:
      MUST(MPI_Raccumulate(a->data, s->n, c->type, s->target, disp, count, there, c->op, win, &request));
      break;
    default:
      MUST(MPI_Rget_accumulate(a->data, s->n, c->type, a->more, s->n, c->type, s->target, disp, count, there, c->op,
                               win, &request));
  }
  if (s->strided) MUST(MPI_Type_free(&there));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Values are this process's alone: not 0. Results are int64_t, two for each time: fetched and put. */
static void act_fetch(Action* a, MPI_Aint disp, Random* r) {
  static const int64_t one = 1;
  const Slot* const s = a->slot;
  a->data = check_alloc(2 * kEach * sizeof(int64_t));
  int64_t* const links = (int64_t*)a->data;
  for (int i = 0; i < kEach; i++) {
    links[2 * i + 1] = 1 + a->w->rank * kEach + i;
    const MPI_Op op = s->game == kTickets ? MPI_SUM : MPI_REPLACE;
    const int64_t* const from = s->game == kTickets ? &one : &links[2 * i + 1];
    if (random_below(r, 2))
      MUST(MPI_Fetch_and_op(from, &links[2 * i], MPI_INT64_T, s->target, disp, op, a->w->win));
    else
      MUST(MPI_Get_accumulate(from, 1, MPI_INT64_T, &links[2 * i], 1, MPI_INT64_T, s->target, disp, 1, MPI_INT64_T, op,
                              a->w->win));
    if (is_passive(a->epoch) && random_below(r, 3) == 0) flush_some(a->w, s->target, r);
  }
}

static void act_swap(Action* a, MPI_Aint disp) {
  for (int i = 0; i < kEach; i++) {
    int64_t guess = 0, was = -1;
    for (;;) {
      const int64_t next = guess + 1;
      MUST(MPI_Compare_and_swap(&next, &guess, &was, MPI_INT64_T, a->slot->target, disp, a->w->win));
      MUST(MPI_Win_flush(a->slot->target, a->w->win));
      if (was == guess) break;
      guess = was;
    }
  }
}

static void act_growing(Action* a, MPI_Aint disp, Random* r) {
  const Slot* const s = a->slot;
  const MPI_Win win = a->w->win;
  int64_t before[2] = {0, 0};
  a->data = check_alloc(kEach * 2 * sizeof(int64_t));
  int64_t* const values = (int64_t*)a->data;
  for (int i = 0; i < kEach; i++) {
    if (a->w->rank == s->writer) { /* two words: each is whole, both need not be of one time */
      values[2 * i] = values[2 * i + 1] = (i + 1) * (int64_t)0x100000001;
      MUST(MPI_Accumulate(&values[2 * i], 2, MPI_INT64_T, s->target, disp, 2, MPI_INT64_T, MPI_REPLACE, win));
      if (random_below(r, 3) == 0) flush_some(a->w, s->target, r);
      continue;
    }
    int64_t now[2] = {-1, -1};
    MUST(
        MPI_Get_accumulate(NULL, 0, MPI_INT64_T, now, 2, MPI_INT64_T, s->target, disp, 2, MPI_INT64_T, MPI_NO_OP, win));
    MUST(MPI_Win_flush_local(s->target, win));
    for (int k = 0; k < 2; k++) {
      CHECK(now[k] >= before[k], "word %d fell from %llx to %llx", k, (long long)before[k], (long long)now[k]);
      CHECK((now[k] >> 32) == (now[k] & 0xffffffff), "word %d is torn: %llx", k, (long long)now[k]);
      before[k] = now[k];
    }
  }
}

static void act_flag(Action* a, MPI_Aint disp) {
  const Slot* const s = a->slot;
  const TestWindow* const w = a->w;
  const MPI_Aint data = disp_of(w, s->target, s->offset + 64);
  enum { kData = 512 };
  if (!a->time) {
    static const int64_t up = 1;
    a->data = check_alloc(kData);
    pattern_fill(a->data, kData, (unsigned)s->seed);
    MUST(MPI_Put(a->data, kData, MPI_BYTE, s->target, data, kData, MPI_BYTE, w->win));
    MUST(MPI_Win_flush(s->target, w->win));
    MUST(MPI_Accumulate(&up, 1, MPI_INT64_T, s->target, disp, 1, MPI_INT64_T, MPI_REPLACE, w->win));
    MUST(MPI_Win_flush(s->target, w->win));
    return;
  }
  char got[kData];
  int64_t flag = 0;
  while (flag == 0) {
    MUST(MPI_Fetch_and_op(NULL, &flag, MPI_INT64_T, s->target, disp, MPI_NO_OP, w->win));
    MUST(MPI_Win_flush(s->target, w->win));
  }
  MUST(MPI_Get(got, kData, MPI_BYTE, s->target, data, kData, MPI_BYTE, w->win));
  MUST(MPI_Win_flush_local(s->target, w->win));
  CHECK_PATTERN(got, kData, (unsigned)s->seed);
}

static void act_locked(Action* a, MPI_Aint disp) {
  int64_t value = -1;
  const int target = a->slot->target;
  MUST(MPI_Get(&value, 1, MPI_INT64_T, target, disp, 1, MPI_INT64_T, a->w->win));
  MUST(MPI_Win_flush(target, a->w->win));
  a->data = check_alloc(sizeof value);
  value++;
  memcpy(a->data, &value, sizeof value);
  MUST(MPI_Put(a->data, 1, MPI_INT64_T, target, disp, 1, MPI_INT64_T, a->w->win));
}

static void act(Action* a) {
  const Slot* const s = a->slot;
  Random r = random_of(s, a->w->rank + 1000 * (a->time + 1));
  const MPI_Aint disp = disp_of(a->w, s->target, s->offset);
  switch (s->game) {
    case kPut:
    case kGet:
      act_transfer(a, disp, &r);
      break;
    case kCombine:
      act_combine(a, disp, &r);
      break;
    case kTickets:
    case kChain:
      act_fetch(a, disp, &r);
      break;
    case kSwap:
      act_swap(a, disp);
      break;
    case kGrowing:
      act_growing(a, disp, &r);
      break;
    case kFlag:
      act_flag(a, disp);
      break;
    default:
      act_locked(a, disp);
  }
}

/* ---- an epoch ------------------------------------------------------------------------------------------------------
 */

typedef struct {
  Action* actions;
  int n;
  atomic_int next;
} Queue;

static void* work(void* argument) {
  Queue* const q = argument;
  for (int i; (i = atomic_fetch_add(&q->next, 1)) < q->n;) act(&q->actions[i]);
  return NULL;
}

static void add_action(Queue* q, Action a) { q->actions[q->n++] = a; }

/* What this process does to the parts of `target`; -1: of all. Those that wait for others come last. */
static Queue actions_of(const TestWindow* w, const Slot* slots, EpochKind epoch, int target, Random* r) {
  Queue q = {.actions = check_alloc((size_t)w->ranks * kSlots * 2 * sizeof(Action)), .n = 0};
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < w->ranks * kSlots; i++) {
      const Slot* const s = &slots[i];
      if (target >= 0 && s->target != target) continue;
      Action a = {.w = w, .slot = s, .epoch = epoch, .time = pass, .data = NULL, .more = NULL};
      if (pass == 1) {
        if (s->game == kFlag && takes_part(s, w->rank)) add_action(&q, a);
        continue;
      }
      if (s->game == kPut || s->game == kFlag) {
        if (s->writer == w->rank) add_action(&q, a);
      } else if (s->game == kCombine) {
        for (a.time = 0; a.time < times_of(s, w->rank); a.time++) add_action(&q, a);
      } else if (takes_part(s, w->rank) || (s->game == kGrowing && s->writer == w->rank)) {
        add_action(&q, a);
      }
    }
    for (int i = q.n - 1; pass == 0 && i > 0; i--) {
      const int k = random_below(r, i + 1);
      const Action other = q.actions[k];
      q.actions[k] = q.actions[i], q.actions[i] = other;
    }
  }
  atomic_init(&q.next, 0);
  return q;
}

static void run(Queue* q, int n) {
  pthread_t others[16];
  for (int i = 1; i < n; i++) pthread_create(&others[i], NULL, work, q);
  work(q);
  for (int i = 1; i < n; i++) pthread_join(others[i], NULL);
}

/* ---- before and after ----------------------------------------------------------------------------------------------
 */

static void prepare(const TestWindow* w, const Slot* slots) {
  for (int i = 0; i < w->ranks * kSlots; i++) {
    const Slot* const s = &slots[i];
    if (s->target != w->rank) continue;
    char* const at = w->base + s->offset;
    memset(at, s->game == kPut ? 0x55 : 0, (size_t)s->bytes);
    if (s->game == kGet) pattern_fill(at, (size_t)s->bytes, (unsigned)s->seed);
    if (s->game == kCombine)
      for (int k = 0; k < s->n * (s->strided ? 2 : 1); k++) s->op->put(at + (size_t)k * s->op->size, initial(s, k));
  }
}

static void check_combined(const TestWindow* w, const Slot* s) {
  const Case* const c = s->op;
  for (int i = 0; i < s->n; i++) {
    char should[32] = {0}, next[32] = {0};
    c->put(should, initial(s, s->strided ? 2 * i : i));
    for (int r = 0; r < w->ranks; r++)
      for (int k = 0; k < times_of(s, r); k++) {
        c->put(next, given(s, r, i, k));
        c->fold(should, next);
      }
    if (same_value(c, w->base + s->offset + element_at(s, i), should)) continue;
    CHECK(0, "%s: element %d of %d%s at %ld", c->name, i, s->n, s->strided ? ", every second" : "", (long)s->offset);
    return;
  }
}

/* `links`: of all processes, kEach pairs each; of those that did not take part, nothing. */
static void check_links(const TestWindow* w, const Slot* s, const int64_t* links, int64_t left) {
  const int most = w->ranks * kEach;
  int64_t* const after = check_alloc((size_t)(most + 1) * sizeof *after);
  int n = 0;
  for (int i = 0; i <= most; i++) after[i] = -1;
  for (int r = 0; r < w->ranks; r++)
    for (int i = 0; takes_part(s, r) && i < kEach; i++, n++) {
      const int64_t was = links[(r * kEach + i) * 2];
      CHECK(was >= 0 && was <= most && after[was] == -1, "%s: %lld was fetched twice, or never there",
            game_names[s->game], (long long)was);
      if (was >= 0 && was <= most) after[was] = links[(r * kEach + i) * 2 + 1];
    }
  int64_t at = 0, length = 0;
  while (s->game == kChain && length <= most && after[at] >= 0) at = after[at], length++;
  while (s->game == kTickets && length <= most && after[length] >= 0) at = ++length;
  CHECK(length == n && left == at, "%s: %lld of %d, %lld is left", game_names[s->game], (long long)length, n,
        (long long)left);
  free(after);
}

static void check_counted(const TestWindow* w, const Slot* s, int each) {
  int64_t is, should = 0;
  memcpy(&is, w->base + s->offset, sizeof is);
  for (int r = 0; r < w->ranks; r++) should += takes_part(s, r) ? each : 0;
  CHECK(is == should, "%s: %lld, not %lld", game_names[s->game], (long long)is, (long long)should);
}

static void check_put(const TestWindow* w, const Slot* s) {
  const Transfer t = transfer_of(s, s->writer);
  char* const should = check_alloc((size_t)s->bytes);
  memset(should, 0x55, (size_t)s->bytes);
  pattern_in(should, &t.there, t.pattern, 1);
  for (MPI_Aint i = 0; i < s->bytes; i++)
    if (w->base[s->offset + i] != should[i]) {
      CHECK(0, "put by rank %d of %d bytes at %ld: byte %ld", s->writer, t.total, (long)s->offset, (long)i);
      break;
    }
  free(should);
}

/* What a process got: the owner's pattern at the places of the target's runs, in their order. */
static void check_got(const Action* a) {
  const Transfer t = transfer_of(a->slot, a->w->rank);
  int there = 0, in_there = 0;
  for (int i = 0; i < t.here.n; i++)
    for (int b = 0; b < t.here.length[i]; b++) {
      const size_t at = (size_t)(t.there.at[there] + in_there);
      if ((unsigned char)a->data[t.here.at[i] + b] != pattern_byte((unsigned)a->slot->seed, at)) {
        CHECK(0, "get of %d bytes from rank %d at %ld: byte %zu of the slot", t.total, a->slot->target,
              (long)a->slot->offset, at);
        return;
      }
      if (++in_there == t.there.length[there]) there++, in_there = 0;
    }
}

/* The results of all processes for one slot go to its owner. */
static void check_fetched(const TestWindow* w, const Slot* s, const Queue* q) {
  int64_t own[2 * kEach] = {0};
  for (int i = 0; i < q->n; i++)
    if (q->actions[i].slot == s) memcpy(own, q->actions[i].data, sizeof own);
  int64_t* const all = check_alloc((size_t)w->ranks * sizeof own);
  MUST(MPI_Gather(own, 2 * kEach, MPI_INT64_T, all, 2 * kEach, MPI_INT64_T, s->target, w->comm));
  int64_t left;
  memcpy(&left, w->base + s->offset, sizeof left);
  if (w->rank == s->target) check_links(w, s, all, left);
  free(all);
}

static void check_slots(const TestWindow* w, const Slot* slots, const Queue* all, int queues) {
  for (int i = 0; i < w->ranks * kSlots; i++) {
    const Slot* const s = &slots[i];
    if (s->game == kTickets || s->game == kChain) check_fetched(w, s, &all[queues > 1 ? s->target : 0]);
    if (s->target != w->rank) continue;
    if (s->game == kCombine) check_combined(w, s);
    if (s->game == kPut) check_put(w, s);
    if (s->game == kSwap) check_counted(w, s, kEach);
    if (s->game == kLocked) check_counted(w, s, 1);
    if (s->game == kGet)
      CHECK(pattern_differs(w->base + s->offset, (size_t)s->bytes, (unsigned)s->seed) < 0, "what is got has changed");
  }
  for (int k = 0; k < queues; k++)
    for (int i = 0; i < all[k].n; i++)
      if (all[k].actions[i].slot->game == kGet) check_got(&all[k].actions[i]);
}

/* ---- rounds --------------------------------------------------------------------------------------------------------
 */

static int allowed(Game game, EpochKind epoch) {
  if (game == kLocked) return epoch == kLockExclusive;
  if (game == kFlag) return epoch == kLockAll;
  if (game == kSwap || game == kGrowing) return is_passive(epoch);
  return 1;
}

/* One slot of each window may be large, so that whole ranges are combined beside single elements elsewhere. */
static void choose(Slot* s, const TestWindow* w, EpochKind epoch, Random* r, MPI_Aint* at, int large) {
  int ncases;
  const Case* const cases = op_cases(&ncases);
  do s->game = (Game)random_below(r, kGames);
  while (!allowed(s->game, epoch));
  s->seed = random_next(r);
  s->writer = random_below(r, w->ranks);
  s->bytes = large ? kLargeBytes : kSlotBytes;
  const int unit = w->units[s->target], bytewise = s->game == kPut || s->game == kGet || s->game == kCombine;
  /* Anywhere the unit allows; the words of the other games are aligned. */
  s->offset = *at + (unit == 1 && bytewise && random_below(r, 3) == 0 ? random_below(r, 16) : 16);
  s->op = &cases[random_below(r, ncases)];
  s->strided = random_below(r, 3) == 0;
  const int most = (int)(s->bytes / (MPI_Aint)s->op->size / (s->strided ? 2 : 1));
  s->n = random_below(r, 3) ? 1 + random_below(r, 8) : 1 + random_below(r, most);
  *at += s->bytes + 32;
}

static void epoch_of_games(const TestWindow* w, Random* shared, int with_large) {
  Slot* const slots = check_alloc((size_t)w->ranks * kSlots * sizeof *slots);
  const EpochKind epoch = (EpochKind)random_below(shared, kLockUnchecked);
  for (int t = 0; t < w->ranks; t++) {
    MPI_Aint at = 0;
    for (int k = 0; k < kSlots; k++) {
      Slot* const s = &slots[t * kSlots + k];
      *s = (Slot){.target = t, .number = k};
      choose(s, w, epoch, shared, &at, k == 0 && with_large);
    }
  }
  prepare(w, slots);
  Random own = {.state = random_next(shared) + (uint64_t)w->rank};
  const int one_by_one = epoch == kLockShared || epoch == kLockExclusive;
  Queue* const queues = check_alloc((size_t)w->ranks * sizeof *queues);
  const int before = check_failures;
  if (one_by_one) {
    settle_own(w);
    MUST(MPI_Barrier(w->comm));
    for (int i = 0; i < w->ranks; i++) {
      const int target = (w->rank + i) % w->ranks;
      MUST(MPI_Win_lock(epoch == kLockExclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w->win));
      queues[target] = actions_of(w, slots, epoch, target, &own);
      run(&queues[target], threads);
      MUST(MPI_Win_unlock(target, w->win));
    }
    MUST(MPI_Barrier(w->comm));
    settle_own(w);
    MUST(MPI_Barrier(w->comm));
  } else {
    queues[0] = actions_of(w, slots, epoch, -1, &own);
    epoch_begin(w, epoch, 0);
    run(&queues[0], threads);
    epoch_end(w, epoch, 0);
  }
  const int nqueues = one_by_one ? w->ranks : 1;
  check_slots(w, slots, queues, nqueues);
  if (check_failures > before)
    fprintf(stderr, "rma_oracle %llu: rank %d: in an epoch of %s, window %s, units %d..., %d threads\n",
            (unsigned long long)program_seed, check_rank, epoch_kind_name(epoch), window_kind_name(w->kind),
            w->units[0], threads);
  for (int k = 0; k < nqueues; k++) {
    for (int i = 0; i < queues[k].n; i++) free(queues[k].actions[i].data), free(queues[k].actions[i].more);
    free(queues[k].actions);
  }
  free(queues);
  free(slots);
  MUST(MPI_Barrier(w->comm));
}

static void round_of_epochs(MPI_Comm comm, Random* shared) {
  static const int units[] = {1, 1, 2, 4, 8, 16};
  WindowKind kind = (WindowKind)random_below(shared, kWindowKinds);
  if (is_shared(kind) && !all_share_memory(comm)) kind = kAllocated;
  const int with_large = random_below(shared, 4) == 0;
  int rank;
  MUST(MPI_Comm_rank(comm, &rank));
  const int same = random_below(shared, 2), common = units[random_below(shared, 6)];
  Random own = {.state = random_next(shared) + (uint64_t)rank};
  const MPI_Aint size = (kSlots - with_large) * (kSlotBytes + 32) + with_large * (kLargeBytes + 32) + 32;
  MUST(MPI_Info_create(&window_info));
  if (random_below(shared, 2))
    MUST(MPI_Info_set(window_info, "mpi_accumulate_granularity", random_below(shared, 2) ? "8" : "65536"));
  if (same) MUST(MPI_Info_set(window_info, "same_disp_unit", "true"));
  if (random_below(shared, 2)) MUST(MPI_Info_set(window_info, "same_size", "true"));
  if (random_below(shared, 3) == 0) MUST(MPI_Info_set(window_info, "mpi_minimum_memory_alignment", "4096"));
  TestWindow w = window_make(kind, comm, size, same ? common : units[random_below(&own, 6)]);
  const int epochs = 1 + random_below(shared, 4);
  for (int i = 0; i < epochs; i++) epoch_of_games(&w, shared, with_large);
  window_free(&w);
  MUST(MPI_Info_free(&window_info));
  window_info = MPI_INFO_NULL;
}

int main(int argc, char** argv) {
  program_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 10;
  threads = argc > 3 ? atoi(argv[3]) : 1;
  if (threads < 1 || threads > 16) threads = 1;
  int provided;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  if (provided < MPI_THREAD_MULTIPLE && threads > 1) {
    MPI_Finalize();
    return 77;
  }
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  Random shared = {.state = program_seed * 7919};
  for (int i = 0; i < rounds; i++) {
    MPI_Comm comm;
    const int parts = 1 + (random_below(&shared, 3) == 0);
    MUST(
        MPI_Comm_split(MPI_COMM_WORLD, check_rank % parts, random_below(&shared, 2) ? -check_rank : check_rank, &comm));
    Random of_part = {.state = random_next(&shared) + (uint64_t)(check_rank % parts)};
    round_of_epochs(comm, &of_part);
    MUST(MPI_Comm_free(&comm));
    int failed = check_failures, any = 0;
    MUST(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (any) break;
  }
  return check_end();
}
