/* MPI_Put and MPI_Get and their request-based forms: any layout at both ends, in windows and epochs of every kind. The
 * oracle is a list of byte offsets: byte i of the data of the origin lies where byte i of the target's type does. */
#include "rma.h"

enum { kBytes = 4096, kUnits = 3 };
static const int units[kUnits] = {1, 4, 8};

/* ---- layouts: a type, and where its bytes lie ----------------------------------------------------------------------
 */

enum { kMostBytes = 256 };
typedef struct {
  MPI_Datatype type;
  const char* name;
  int count;           /* items that are transferred */
  int n;               /* bytes of data in all of them */
  int at[kMostBytes];  /* where each lies, from the address that is given */
  int lowest, highest; /* the first byte, and behind the last */
} Layout;

static void add_bytes(Layout* l, int at, int n) {
  for (int i = 0; i < n; i++) l->at[l->n++] = at + i;
}

/* Every layout has 120 bytes of data, ints, so that any two fit together. */
enum { kLayouts = 9, kData = 120 };

static Layout layout_make(int which) {
  Layout l = {.count = 1, .n = 0};
  MPI_Datatype step;
  switch (which) {
    case 0:
      l.name = "MPI_INT", l.type = MPI_INT, l.count = 30;
      add_bytes(&l, 0, kData);
      break;
    case 1:
      l.name = "contiguous";
      MUST(MPI_Type_contiguous(10, MPI_INT, &l.type));
      l.count = 3;
      add_bytes(&l, 0, kData);
      break;
    case 2:
      l.name = "vector";
      MUST(MPI_Type_vector(10, 3, 5, MPI_INT, &l.type));
      for (int i = 0; i < 10; i++) add_bytes(&l, i * 20, 12);
      break;
    case 3:
      l.name = "indexed";
      MUST(MPI_Type_indexed(4, (int[]){7, 0, 13, 10}, (int[]){30, 3, 5, 50}, MPI_INT, &l.type));
      add_bytes(&l, 120, 28), add_bytes(&l, 20, 52), add_bytes(&l, 200, 40);
      break;
    case 4:
      l.name = "struct";
      MUST(MPI_Type_create_struct(3, (int[]){4, 6, 5}, (MPI_Aint[]){8, 100, 40},
                                  (MPI_Datatype[]){MPI_INT, MPI_INT, MPI_INT}, &l.type));
      l.count = 2; /* its extent is 116 */
      for (int i = 0; i < 2; i++)
        add_bytes(&l, 116 * i + 8, 16), add_bytes(&l, 116 * i + 100, 24), add_bytes(&l, 116 * i + 40, 20);
      break;
    case 5:
      l.name = "subarray";
      MUST(MPI_Type_create_subarray(2, (int[]){9, 8}, (int[]){6, 5}, (int[]){2, 1}, MPI_ORDER_C, MPI_INT, &l.type));
      for (int i = 0; i < 6; i++) add_bytes(&l, ((2 + i) * 8 + 1) * 4, 20);
      break;
    case 6:
      l.name = "resized to overlap";
      MUST(MPI_Type_vector(10, 1, 3, MPI_INT, &step));
      MUST(MPI_Type_create_resized(step, 0, 4, &l.type)); /* columns of a matrix of three */
      MUST(MPI_Type_free(&step));
      l.count = 3;
      for (int c = 0; c < 3; c++)
        for (int i = 0; i < 10; i++) add_bytes(&l, c * 4 + i * 12, 4);
      break;
    case 7:
      l.name = "before its address";
      MUST(MPI_Type_create_hindexed(2, (int[]){20, 10}, (MPI_Aint[]){-200, 16}, MPI_INT, &l.type));
      add_bytes(&l, -200, 80), add_bytes(&l, 16, 40);
      break;
    default:
      l.name = "backwards";
      MUST(MPI_Type_create_hvector(15, 2, -12, MPI_INT, &l.type));
      for (int i = 0; i < 15; i++) add_bytes(&l, -12 * i, 8);
  }
  if (l.type != MPI_INT) MUST(MPI_Type_commit(&l.type));
  l.lowest = l.highest = l.at[0];
  for (int i = 0; i < l.n; i++) {
    if (l.at[i] < l.lowest) l.lowest = l.at[i];
    if (l.at[i] >= l.highest) l.highest = l.at[i] + 1;
  }
  CHECK_EQ(l.n, kData);
  return l;
}

/* The operation has begun, and so its type may go. */
static void layout_free(Layout* l) {
  if (l->type != MPI_INT) MUST(MPI_Type_free(&l->type));
}

/* A displacement so that the layout lies inside the window, which a unit of 8 divides. */
static int room_before(const Layout* l) { return l->lowest < 0 ? (-l->lowest + 7) / 8 * 8 : 0; }

/* ---- one operation to the right neighbour and what it must have done -----------------------------------------------
 */

typedef struct {
  const TestWindow* w;
  EpochKind epoch;
  int request_based, through_bottom;
} How;

static void name_of(char* text, size_t room, const char* call, How how, const Layout* from, const Layout* to) {
  snprintf(text, room, "%s%s of %s, target %s, window %s, %s%s", how.request_based ? "R-form of " : "", call,
           from->name, to->name, window_kind_name(how.w->kind), epoch_kind_name(how.epoch),
           how.through_bottom ? ", origin MPI_BOTTOM" : "");
}

/* The origin's type relative to MPI_BOTTOM. */
static MPI_Datatype absolute(const Layout* l, char* address) {
  MPI_Aint at;
  MPI_Datatype type;
  MUST(MPI_Get_address(address, &at));
  MUST(MPI_Type_create_hindexed(1, &l->count, &at, l->type, &type));
  MUST(MPI_Type_commit(&type));
  return type;
}

static void start(int put, How how, char* address, Layout* own, int target, MPI_Aint disp, Layout* there) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype type = how.through_bottom ? absolute(own, address) : own->type;
  void* const buffer = how.through_bottom ? MPI_BOTTOM : address;
  const int count = how.through_bottom ? 1 : own->count;
  const MPI_Win win = how.w->win;
  if (how.request_based && put)
    MUST(MPI_Rput(buffer, count, type, target, disp, there->count, there->type, win, &request));
  else if (how.request_based)
    MUST(MPI_Rget(buffer, count, type, target, disp, there->count, there->type, win, &request));
  else if (put)
    MUST(MPI_Put(buffer, count, type, target, disp, there->count, there->type, win));
  else
    MUST(MPI_Get(buffer, count, type, target, disp, there->count, there->type, win));
  if (how.through_bottom) MUST(MPI_Type_free(&type));
  layout_free(own);
  layout_free(there);
  if (how.request_based) {
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
  }
}

static void put_one(How how, int from, int to, int offset) {
  const TestWindow* const w = how.w;
  Layout own = layout_make(from), there = layout_make(to);
  const int target = (w->rank + 1) % w->ranks, source = (w->rank + w->ranks - 1) % w->ranks;
  const int at = offset + room_before(&there);
  char origin[1024], what[256];
  name_of(what, sizeof what, "put", how, &own, &there);
  pattern_fill(origin, sizeof origin, (unsigned)w->rank + 7);
  memset(w->base, 0x55, kBytes);
  epoch_begin(w, how.epoch, target);
  Layout given = own, given_there = there;
  start(1, how, origin + 400, &given, target, disp_of(w, target, at), &given_there);
  epoch_end(w, how.epoch, target);
  static unsigned char should[kBytes];
  memset(should, 0x55, sizeof should);
  for (int i = 0; i < kData; i++)
    should[at + there.at[i]] = pattern_byte((unsigned)source + 7, (size_t)(400 + own.at[i]));
  int wrong = -1;
  for (int i = 0; i < kBytes && wrong < 0; i++)
    if ((unsigned char)w->base[i] != should[i]) wrong = i;
  CHECK(wrong < 0, "%s: byte %d of the window", what, wrong);
  CHECK(pattern_differs(origin, sizeof origin, (unsigned)w->rank + 7) < 0, "%s: the origin has changed", what);
  MUST(MPI_Barrier(w->comm)); /* before the next one stores in its window */
}

static void get_one(How how, int from, int to, int offset) {
  const TestWindow* const w = how.w;
  Layout own = layout_make(from), there = layout_make(to);
  const int target = (w->rank + 1) % w->ranks;
  const int at = offset + room_before(&there);
  unsigned char origin[1024], should[1024];
  char what[256];
  name_of(what, sizeof what, "get", how, &own, &there);
  pattern_fill(w->base, kBytes, (unsigned)w->rank + 3);
  memset(origin, 0x55, sizeof origin);
  memset(should, 0x55, sizeof should);
  for (int i = 0; i < kData; i++)
    should[400 + own.at[i]] = pattern_byte((unsigned)target + 3, (size_t)(at + there.at[i]));
  epoch_begin(w, how.epoch, target);
  Layout given = own, given_there = there;
  start(0, how, (char*)origin + 400, &given, target, disp_of(w, target, at), &given_there);
  if (how.request_based) CHECK(memcmp(origin, should, sizeof should) == 0, "%s: after its request", what);
  epoch_end(w, how.epoch, target);
  int wrong = -1;
  for (int i = 0; i < 1024 && wrong < 0; i++)
    if (origin[i] != should[i]) wrong = i;
  CHECK(wrong < 0, "%s: byte %d of the origin", what, wrong);
  CHECK(pattern_differs(w->base, kBytes, (unsigned)w->rank + 3) < 0, "%s: the window has changed", what);
  MUST(MPI_Barrier(w->comm));
}

/* Every layout with every other, in turns through the kinds of epochs; every kind of epoch has all of them once. */
static void layouts(const TestWindow* w) {
  int turn = 0;
  for (int from = 0; from < kLayouts; from++)
    for (int to = 0; to < kLayouts; to++) {
      const EpochKind epoch = (EpochKind)(turn++ % kEpochKinds);
      How how = {
          .w = w, .epoch = epoch, .request_based = is_passive(epoch) && turn % 2, .through_bottom = turn % 3 == 0};
      put_one(how, from, to, 8 * (turn % 4));
      get_one(how, from, to, 8 * (turn % 5));
    }
}

/* ---- nothing to do, and to oneself ---------------------------------------------------------------------------------
 */

static void nothing(const TestWindow* w) {
  MPI_Datatype empty;
  MUST(MPI_Type_contiguous(0, MPI_INT, &empty));
  MUST(MPI_Type_commit(&empty));
  const int next = (w->rank + 1) % w->ranks;
  int guard = 4711;
  memset(w->base, 0x11, kBytes);
  for (EpochKind e = (EpochKind)0; e < kEpochKinds; e++) {
    epoch_begin(w, e, next);
    MUST(MPI_Put(NULL, 0, MPI_INT, next, disp_of(w, next, 0), 0, MPI_INT, w->win));
    MUST(MPI_Get(NULL, 0, MPI_INT, next, disp_of(w, next, 0), 0, MPI_INT, w->win));
    MUST(MPI_Put(&guard, 3, empty, next, disp_of(w, next, 0), 5, empty, w->win));
    MUST(MPI_Get(&guard, 3, empty, next, disp_of(w, next, 0), 0, MPI_BYTE, w->win));
    MUST(MPI_Put(NULL, 7, MPI_INT, MPI_PROC_NULL, 1000000, 7, MPI_INT, w->win));
    MUST(MPI_Get(NULL, 7, MPI_INT, MPI_PROC_NULL, 1 << 30, 7, MPI_INT, w->win));
    if (is_passive(e)) {
      MPI_Request r[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      MUST(MPI_Rput(NULL, 7, MPI_INT, MPI_PROC_NULL, 0, 7, MPI_INT, w->win, &r[0]));
      MUST(MPI_Rget(NULL, 7, MPI_INT, MPI_PROC_NULL, 0, 7, MPI_INT, w->win, &r[1]));
      MUST(MPI_Rput(NULL, 0, MPI_INT, next, disp_of(w, next, 0), 0, MPI_INT, w->win, &r[2]));
      MUST(MPI_Rget(&guard, 1, empty, next, disp_of(w, next, 0), 1, empty, w->win, &r[3]));
      MUST(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    }
    epoch_end(w, e, next);
  }
  MUST(MPI_Type_free(&empty));
  CHECK_EQ(guard, 4711);
  for (int i = 0; i < kBytes; i++)
    if (w->base[i] != 0x11) {
      CHECK(0, "byte %d was written to by operations without data", i);
      break;
    }
  MUST(MPI_Barrier(w->comm));
}

/* To oneself, in every kind of epoch; and put and get of the same epoch to different places of all processes. */
static void to_all_and_self(const TestWindow* w) {
  for (EpochKind e = (EpochKind)0; e < kEpochKinds; e++) {
    for (int i = 0; i < kBytes; i++) w->base[i] = (char)(i < kBytes / 2 ? 0 : w->rank + 1);
    const int alone = e == kLockShared || e == kLockExclusive || e == kLockUnchecked;
    epoch_begin(w, e, w->rank);
    const char mine[2] = {(char)(w->rank + 10), (char)(w->rank + 20)};
    char got[64] = {0};
    for (int r = alone ? w->rank : 0; r < (alone ? w->rank + 1 : w->ranks); r++) {
      MUST(MPI_Put(mine, 1, MPI_CHAR, r, disp_of(w, r, 8 * w->rank), 1, MPI_CHAR, w->win));
      MUST(MPI_Get(&got[r], 1, MPI_CHAR, r, disp_of(w, r, kBytes - 8), 1, MPI_CHAR, w->win));
    }
    epoch_end(w, e, w->rank);
    for (int r = 0; r < w->ranks; r++) {
      if (alone && r != w->rank) continue;
      CHECK_EQ(got[r], r + 1);
      CHECK(w->base[8 * r] == (char)(r + 10), "put by rank %d, %s", r, epoch_kind_name(e));
    }
    MUST(MPI_Barrier(w->comm));
  }
}

/* Gets of many places of several processes in one epoch do not mix; requests mix with those of messages. */
static void many_requests(const TestWindow* w) {
  enum { kMany = 60 };
  for (int i = 0; i < kBytes / 4; i++) ((int*)w->base)[i] = w->rank * 10000 + i;
  epoch_begin(w, kLockAll, 0);
  MPI_Request r[2 * kMany + 3];
  int got[kMany], in = -1, out = w->rank, put[kMany], token = -1;
  const int left = (w->rank + w->ranks - 1) % w->ranks, right = (w->rank + 1) % w->ranks;
  int n = 0;
  MUST(MPI_Irecv(&in, 1, MPI_INT, left, 7, w->comm, &r[n++]));
  for (int i = 0; i < kMany; i++) {
    const int target = (w->rank + i) % w->ranks, word = (i * 7) % 400;
    MUST(MPI_Rget(&got[i], 1, MPI_INT, target, disp_of(w, target, 8 * word), 1, MPI_INT, w->win, &r[n++]));
    put[i] = w->rank * 1000 + i;
    const int place = 3200 + 0 * word;
    if (i < 8) /* to the right neighbour alone: 8 ints at byte 3200 */
      MUST(MPI_Rput(&put[i], 1, MPI_INT, right, disp_of(w, right, place + 8 * i), 1, MPI_INT, w->win, &r[n++]));
  }
  r[n++] = MPI_REQUEST_NULL;
  MUST(MPI_Isend(&out, 1, MPI_INT, right, 7, w->comm, &r[n++]));
  MPI_Status statuses[2 * kMany + 3];
  int done = 0;
  while (!done) MUST(MPI_Testall(n, r, &done, statuses));
  for (int i = 0; i < n; i++) CHECK(r[i] == MPI_REQUEST_NULL);
  CHECK_EQ(in, left);
  for (int i = 0; i < kMany; i++) CHECK_EQ(got[i], (w->rank + i) % w->ranks * 10000 + (i * 7) % 400 * 2);
  MUST(MPI_Win_flush(right, w->win));
  /* After the flush the data is there: a message says so. */
  MUST(MPI_Sendrecv(&out, 1, MPI_INT, right, 8, &token, 1, MPI_INT, left, 8, w->comm, MPI_STATUS_IGNORE));
  MUST(MPI_Win_sync(w->win));
  for (int i = 0; i < 8; i++) CHECK_EQ(((int*)w->base)[800 + 2 * i], left * 1000 + i);
  epoch_end(w, kLockAll, 0);

  /* Waitany and Waitsome find them too. */
  epoch_begin(w, kLockShared, right);
  MPI_Request some[4];
  int seen = 0, value[4], indices[4], outcount;
  for (int i = 0; i < 4; i++)
    MUST(MPI_Rget(&value[i], 1, MPI_INT, right, disp_of(w, right, 8 * i), 1, MPI_INT, w->win, &some[i]));
  int which;
  MUST(MPI_Waitany(4, some, &which, MPI_STATUS_IGNORE));
  CHECK(which >= 0 && which < 4);
  for (seen = 1; seen < 4; seen += outcount) {
    MUST(MPI_Waitsome(4, some, &outcount, indices, MPI_STATUSES_IGNORE));
    CHECK(outcount > 0, "%d", outcount);
    if (outcount <= 0) break;
  }
  for (int i = 0; i < 4; i++) CHECK_EQ(value[i], right * 10000 + 2 * i);
  epoch_end(w, kLockShared, right);
}

/* Hundreds of short pieces near to each other, far from each other and backwards, with a long one among them: got, and
 * got by an accumulate. */
static void uneven_pieces(TestWindow* w, char* origin) {
  enum { kPieces = 600, kLong = 20000 };
  const int right = (w->rank + 1) % w->ranks;
  int length[kPieces + 1], at[kPieces + 1], n = 0, bytes = 0;
  for (int i = 0; i < 200; i++) length[n] = 5, at[n++] = 100 + i * 16;
  length[n] = kLong, at[n++] = 100000;
  for (int i = 0; i < 200; i++) length[n] = 8, at[n++] = 90000 - i * 24;
  for (int i = 0; i < 200; i++) length[n] = 1 + i, at[n++] = 130000 + i * 4000;
  for (int i = 0; i < n; i++) bytes += length[i];
  MPI_Datatype pieces;
  MUST(MPI_Type_indexed(n, length, at, MPI_UNSIGNED_CHAR, &pieces));
  MUST(MPI_Type_commit(&pieces));
  pattern_fill(w->base, 1 << 20, 31u + (unsigned)w->rank);
  MUST(MPI_Barrier(w->comm));
  for (int turn = 0; turn < 2; turn++) {
    memset(origin, 0, (size_t)bytes + 1);
    epoch_begin(w, kLockShared, right);
    if (turn == 0)
      MUST(MPI_Get(origin, bytes, MPI_UNSIGNED_CHAR, right, disp_of(w, right, 0), 1, pieces, w->win));
    else
      MUST(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, origin, bytes, MPI_UNSIGNED_CHAR, right, disp_of(w, right, 0),
                              1, pieces, MPI_NO_OP, w->win));
    epoch_end(w, kLockShared, right);
    for (int i = 0, to = 0; i < n; i++)
      for (int j = 0; j < length[i]; j++, to++) {
        if ((unsigned char)origin[to] == pattern_byte(31u + (unsigned)right, (size_t)(at[i] + j))) continue;
        CHECK(0, "piece %d, byte %d of uneven pieces", i, j);
        return;
      }
    CHECK(origin[bytes] == 0, "the byte behind the data");
  }
  MUST(MPI_Type_free(&pieces));
  MUST(MPI_Barrier(w->comm));
}

/* Calls with large counts, of any size up to some megabytes, at odd addresses. */
static void sizes(MPI_Comm comm, WindowKind kind) {
  enum { kMost = 3 << 20 };
  TestWindow w = window_make(kind, comm, kMost + 64, 1);
  char* const origin = check_alloc(kMost + 64);
  const int right = (w.rank + 1) % w.ranks, left = (w.rank + w.ranks - 1) % w.ranks;
  int turn = 0;
  for (MPI_Count n = 1; n <= kMost; n = n * 5 + 1, turn++) {
    const EpochKind e = (EpochKind)(turn % kEpochKinds);
    pattern_fill(origin + 3, (size_t)n, (unsigned)(w.rank + turn));
    epoch_begin(&w, e, right);
    MUST(MPI_Put_c(origin + 3, n, MPI_BYTE, right, disp_of(&w, right, 5), n, MPI_BYTE, w.win));
    epoch_end(&w, e, right);
    CHECK_PATTERN(w.base + 5, n, left + turn);
    memset(origin, 0, kMost);
    MUST(MPI_Barrier(comm));
    epoch_begin(&w, e, right);
    MUST(MPI_Get_c(origin + 1, n, MPI_BYTE, right, disp_of(&w, right, 5), n, MPI_BYTE, w.win));
    epoch_end(&w, e, right);
    CHECK_PATTERN(origin + 1, n, w.rank + turn);
    CHECK(origin[0] == 0 && origin[n + 1] == 0, "a byte beside the data, %lld bytes", (long long)n);
  }
  /* A vector of 1 MiB against bytes. */
  MPI_Datatype rows;
  MUST(MPI_Type_vector(2048, 256, 512, MPI_BYTE, &rows));
  MUST(MPI_Type_commit(&rows));
  pattern_fill(origin, 1 << 20, 99u + (unsigned)w.rank);
  memset(w.base, 0, (size_t)w.size);
  epoch_begin(&w, kFence, 0);
  MUST(MPI_Put_c(origin, 1 << 19, MPI_BYTE, right, disp_of(&w, right, 0), 1, rows, w.win));
  MUST(MPI_Type_free(&rows));
  epoch_end(&w, kFence, 0);
  for (int row = 0; row < 2048; row++)
    for (int i = 0; i < 512; i++) {
      const unsigned char should = i < 256 ? pattern_byte(99u + (unsigned)left, (size_t)(row * 256 + i)) : 0;
      if ((unsigned char)w.base[row * 512 + i] == should) continue;
      CHECK(0, "row %d, byte %d of a vector put by rank %d", row, i, left);
      row = 2048;
      break;
    }
  /* Thousands of pieces at both ends, of different sizes. */
  MPI_Datatype threes, fives;
  MUST(MPI_Type_vector(20000, 3, 7, MPI_BYTE, &threes));
  MUST(MPI_Type_vector(12000, 5, 11, MPI_BYTE, &fives));
  MUST(MPI_Type_commit(&threes));
  MUST(MPI_Type_commit(&fives));
  pattern_fill(origin, 140000, 5u + (unsigned)w.rank);
  memset(w.base, 0, 140000);
  epoch_begin(&w, kLockShared, right);
  MUST(MPI_Put(origin, 1, threes, right, disp_of(&w, right, 0), 1, fives, w.win));
  epoch_end(&w, kLockShared, right);
  for (int i = 0; i < 60000; i++) {
    const unsigned char should = pattern_byte(5u + (unsigned)left, (size_t)(i / 3 * 7 + i % 3));
    if ((unsigned char)w.base[i / 5 * 11 + i % 5] == should && w.base[i / 5 * 11 + 5] == 0) continue;
    CHECK(0, "byte %d of many pieces, put", i);
    break;
  }
  epoch_begin(&w, kPscw, right);
  memset(origin, 0, 140000);
  MUST(MPI_Get(origin, 1, threes, right, disp_of(&w, right, 0), 1, fives, w.win));
  epoch_end(&w, kPscw, right);
  MUST(MPI_Type_free(&threes));
  MUST(MPI_Type_free(&fives));
  for (int i = 0; i < 60000; i++) {
    const unsigned char should = pattern_byte(5u + (unsigned)w.rank, (size_t)(i / 3 * 7 + i % 3));
    if ((unsigned char)origin[i / 3 * 7 + i % 3] == should && origin[i / 3 * 7 + 4] == 0) continue;
    CHECK(0, "byte %d of many pieces, got", i);
    break;
  }
  uneven_pieces(&w, origin);
  free(origin);
  window_free(&w);
}

/* The same of the calls that give back what was there, and of those with requests. */
static void other_sizes(MPI_Comm comm, WindowKind kind) {
  enum { kMost = 1 << 20 };
  TestWindow w = window_make(kind, comm, kMost + 64, 1);
  char* const origin = check_alloc(kMost + 64);
  char* const result = check_alloc(kMost + 64);
  const int right = (w.rank + 1) % w.ranks, left = (w.rank + w.ranks - 1) % w.ranks;
  const MPI_Aint at = disp_of(&w, right, 5);
  int turn = 0;
  for (MPI_Count n = 1; n <= kMost; n = n * 7 + 1, turn++) {
    const EpochKind e = turn % 2 ? kLockShared : kLockAll;
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    pattern_fill(w.base + 5, (size_t)n, (unsigned)(w.rank + turn));
    pattern_fill(origin + 3, (size_t)n, (unsigned)(50 + w.rank + turn));
    memset(result, 0, (size_t)n + 2);
    epoch_begin(&w, e, right);
    if (turn % 3 == 0)
      MUST(MPI_Get_accumulate_c(origin + 3, n, MPI_BYTE, result + 1, n, MPI_BYTE, right, at, n, MPI_BYTE, MPI_REPLACE,
                                w.win));
    else
      MUST(MPI_Rget_accumulate_c(origin + 3, n, MPI_BYTE, result + 1, n, MPI_BYTE, right, at, n, MPI_BYTE, MPI_REPLACE,
                                 w.win, &request[0]));
    MUST(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    epoch_end(&w, e, right);
    CHECK_PATTERN(result + 1, n, right + turn);
    CHECK(result[0] == 0 && result[n + 1] == 0, "a byte beside the data, %lld bytes", (long long)n);
    CHECK_PATTERN(w.base + 5, n, 50 + left + turn);
    for (int accumulates = 0; accumulates < 2; accumulates++) {
      const int seed = 100 + 50 * accumulates + turn;
      pattern_fill(origin + 3, (size_t)n, (unsigned)(seed + w.rank));
      epoch_begin(&w, e, right);
      if (accumulates)
        MUST(MPI_Raccumulate_c(origin + 3, n, MPI_BYTE, right, at, n, MPI_BYTE, MPI_REPLACE, w.win, &request[0]));
      else
        MUST(MPI_Rput_c(origin + 3, n, MPI_BYTE, right, at, n, MPI_BYTE, w.win, &request[0]));
      MUST(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
      MUST(MPI_Win_flush(right, w.win));
      memset(result, 0, (size_t)n + 2);
      MUST(MPI_Rget_c(result + 1, n, MPI_BYTE, right, at, n, MPI_BYTE, w.win, &request[1]));
      MUST(MPI_Wait(&request[1], MPI_STATUS_IGNORE));
      CHECK_PATTERN(result + 1, n, seed + w.rank);
      epoch_end(&w, e, right);
      CHECK_PATTERN(w.base + 5, n, seed + left);
    }
  }
  free(origin);
  free(result);
  window_free(&w);
}

/* In one's own window, with a window of one process. */
static void alone(void) {
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_SELF) {
    TestWindow w = window_make(kind, MPI_COMM_SELF, kBytes, 4);
    nothing(&w);
    to_all_and_self(&w);
    put_one((How){.w = &w, .epoch = kFence}, 2, 5, 16);
    get_one((How){.w = &w, .epoch = kLockExclusive, .request_based = 1}, 8, 4, 16);
    window_free(&w);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  int turn = check_size;
  FOR_EACH_WINDOW_KIND(kind, MPI_COMM_WORLD) {
    TestWindow w = window_make(kind, MPI_COMM_WORLD, kBytes, units[turn++ % kUnits]);
    layouts(&w);
    nothing(&w);
    to_all_and_self(&w);
    many_requests(&w);
    window_free(&w);
    sizes(MPI_COMM_WORLD, kind);
    other_sizes(MPI_COMM_WORLD, kind);
  }
  alone();
  return check_end();
}
