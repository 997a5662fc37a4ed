/* Performance variables (MPI-5.0, 15.3.7): what is said of each holds, sessions do not see each other, counters count
 * and marks mark, and what was counted is there after MPI_Finalize. */
#include "check.h"

enum { kMessages = 20, kBytes = 100 };
typedef unsigned long long Value;

static int find(const char* name, int class) {
  int index = -1;
  CHECK_EQ(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
  return index;
}

static MPI_T_pvar_handle handle_of(MPI_T_pvar_session session, const char* name, int class, void* object) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int count = 0;
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, find(name, class), object, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1);
  return handle;
}

static Value read_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  Value value = ~0ull;
  CHECK_EQ(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
  return value;
}

/* The standard's rules for classes (15.3.7): datatypes, and what may be written. */
static void what_is_said(void) {
  static const int kMost = 4096;
  int number = 0;
  unsigned seen = 0;
  char(*names)[128] = check_alloc((size_t)kMost * sizeof *names);
  int* classes = check_alloc((size_t)kMost * sizeof *classes);
  CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_SUCCESS);
  CHECK(number < kMost, "%d", number);
  for (int i = 0; i < number; ++i) {
    char text[1024], again[128];
    int name_length = 128, text_length = sizeof text, verbosity = 0, class = 0, bind = 0, readonly = -1;
    int continuous = -1, atomic = -1, index = -1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum words = MPI_T_ENUM_NULL;
    CHECK_EQ(MPI_T_pvar_get_info(i, names[i], &name_length, &verbosity, &class, &type, &words, text, &text_length,
                                 &bind, &readonly, &continuous, &atomic),
             MPI_SUCCESS);
    classes[i] = class;
    const char* name = names[i];
    CHECK_EQ(name_length, strlen(name) + 1);
    CHECK(name_length > 1 && name_length < 100, "%s: tools have 100 characters", name);
    CHECK_EQ(text_length, strlen(text) + 1);
    CHECK(text_length > 10, "%s says '%s'", name, text);
    CHECK(strstr(name, "lane0") == NULL && strstr(name, "lane1") == NULL, "%s", name);
    CHECK(class >= MPI_T_PVAR_CLASS_STATE && class <= MPI_T_PVAR_CLASS_TIMER, "%s has class %d", name, class);
    CHECK(type == (class == MPI_T_PVAR_CLASS_STATE        ? MPI_INT
                   : class == MPI_T_PVAR_CLASS_PERCENTAGE ? MPI_DOUBLE
                                                          : MPI_UNSIGNED_LONG_LONG),
          "%s", name);
    CHECK((words != MPI_T_ENUM_NULL) == (class == MPI_T_PVAR_CLASS_STATE), "%s", name);
    CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM, "%s", name);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%s", name);
    CHECK((readonly | continuous | atomic) <= 1 && (readonly & continuous & atomic) >= 0, "%s", name);
    CHECK(!atomic || !readonly, "%s can be reset", name);
    CHECK_EQ(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
    CHECK_EQ(index, i);
    for (int j = 0; j < i; ++j) CHECK(strcmp(names[j], name) != 0 || classes[j] != class, "%s is there twice", name);
    /* Strings: a smaller buffer gets as much as fits, and the length of all. */
    int little = 4;
    CHECK_EQ(MPI_T_pvar_get_info(i, again, &little, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_SUCCESS);
    CHECK_EQ(little, name_length);
    seen |= 1u << (class - MPI_T_PVAR_CLASS_STATE);
    CHECK(strlen(again) == 3 && strncmp(again, name, 3) == 0, "%s", again);
    int only_length = 0;
    MPI_T_pvar_get_info(i, NULL, &only_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK_EQ(only_length, name_length);
    strcpy(again, "untouched");
    MPI_T_pvar_get_info(i, again, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(strcmp(again, "untouched") == 0, "without a length nothing is given");
  }
  CHECK(seen == 0x1ff, "of the nine classes but GENERIC there are %#x", seen);
  free(names);
  free(classes);
}

/* `kMessages` that no receive has asked for, on rank 0 from itself or its neighbour. */
static void send_unexpected(MPI_Comm comm) {
  static char data[kMessages][kBytes];
  MPI_Request requests[kMessages];
  if (check_rank == check_size - 1)
    for (int i = 0; i < kMessages; ++i) MUST(MPI_Isend(data[i], kBytes, MPI_CHAR, 0, i, comm, &requests[i]));
  if (check_rank == 0) {
    int there = 0;
    while (!there) MUST(MPI_Iprobe(MPI_ANY_SOURCE, kMessages - 1, comm, &there, MPI_STATUS_IGNORE));
  }
  if (check_rank == check_size - 1) MUST(MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE));
}

static void receive_all(MPI_Comm comm) {
  char data[kBytes];
  if (check_rank == 0)
    for (int i = 0; i < kMessages; ++i)
      MUST(MPI_Recv(data, kBytes, MPI_CHAR, MPI_ANY_SOURCE, i, comm, MPI_STATUS_IGNORE));
}

/* The word of the state. */
static void stage_is(MPI_T_pvar_session session, const char* wanted) {
  int index, value = -1, length = 64;
  char word[64] = "", text[8];
  MPI_T_enum words;
  MPI_T_pvar_handle stage = handle_of(session, "runtime.stage", MPI_T_PVAR_CLASS_STATE, NULL);
  CHECK_EQ(MPI_T_pvar_get_index("runtime.stage", MPI_T_PVAR_CLASS_STATE, &index), MPI_SUCCESS);
  MPI_T_pvar_get_info(index, text, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL, NULL, NULL);
  CHECK_EQ(MPI_T_pvar_read(session, stage, &value), MPI_SUCCESS);
  CHECK_EQ(MPI_T_enum_get_item(words, value, &value, word, &length), MPI_SUCCESS);
  CHECK(strcmp(word, wanted) == 0, "the stage is '%s', not '%s'", word, wanted);
  CHECK_EQ(MPI_T_pvar_handle_free(session, &stage), MPI_SUCCESS);
}

/* A share, and the least of a level: of the memory that MPI_Alloc_mem gives. */
static void shares(void) {
  enum { kMiB = 1 << 20 };
  void *small, *large;
  double before = -1, during = -1, after = -1;
  MPI_T_pvar_session session;
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  MPI_T_pvar_handle share = handle_of(session, "memory.heap_share", MPI_T_PVAR_CLASS_PERCENTAGE, NULL);
  MPI_T_pvar_handle least = handle_of(session, "memory.heap_least_free", MPI_T_PVAR_CLASS_LOWWATERMARK, NULL);
  MPI_T_pvar_handle limit = handle_of(session, "memory.heap_limit", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MUST(MPI_Alloc_mem(4096, MPI_INFO_NULL, &small));
  CHECK_EQ(MPI_T_pvar_read(session, share, &before), MPI_SUCCESS);
  const Value least_before = read_of(session, least), most = read_of(session, limit);
  MUST(MPI_Alloc_mem(64 * kMiB, MPI_INFO_NULL, &large));
  CHECK_EQ(MPI_T_pvar_read(session, share, &during), MPI_SUCCESS);
  MUST(MPI_Free_mem(large));
  CHECK_EQ(MPI_T_pvar_read(session, share, &after), MPI_SUCCESS);
  CHECK(most > 64 * kMiB, "%llu", most);
  CHECK(before > 0 && before < during && during <= 1 && after < during, "%g %g %g", before, during, after);
  CHECK((during - before) * (double)most > 63.0 * kMiB, "%g of %llu", during - before, most);
  CHECK(least_before <= most && read_of(session, least) + 63 * kMiB < most, "%llu", read_of(session, least));
  MUST(MPI_Free_mem(small));
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
}

static void counting(void) {
  MPI_T_pvar_session one, two;
  MPI_Comm comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_EQ(MPI_T_pvar_session_create(&one), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_create(&two), MPI_SUCCESS);
  MPI_T_pvar_handle total = handle_of(one, "p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle other = handle_of(two, "p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle level = handle_of(one, "p2p.unexpected", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle mark = handle_of(one, "p2p.unexpected_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  MPI_T_pvar_handle late = handle_of(two, "p2p.unexpected_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  MPI_T_pvar_handle here = handle_of(one, "comm.unexpected", MPI_T_PVAR_CLASS_LEVEL, &comm);
  MPI_T_pvar_handle bytes = handle_of(one, "comm.unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, &comm);
  MPI_T_pvar_handle there = handle_of(one, "comm.unexpected", MPI_T_PVAR_CLASS_LEVEL, &world);
  const int at_rank_0 = check_rank == 0;

  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(read_of(one, total), 0);
  CHECK_EQ(MPI_T_pvar_start(one, total), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_start(one, mark), MPI_SUCCESS);
  const Value before = read_of(one, level), peak_before = read_of(one, mark);
  CHECK(peak_before >= before, "a mark is not below its level");
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  send_unexpected(comm);
  if (at_rank_0) {
    CHECK_EQ(read_of(one, here), kMessages);
    CHECK_EQ(read_of(one, there), 0);
    CHECK(read_of(one, bytes) >= kMessages * kBytes, "%llu", read_of(one, bytes));
    CHECK(read_of(one, level) >= kMessages, "%llu", read_of(one, level));
    CHECK(read_of(one, total) >= kMessages, "%llu", read_of(one, total));
    CHECK(read_of(one, mark) >= kMessages, "%llu", read_of(one, mark));
    CHECK_EQ(read_of(two, other), 0); /* not started */
  }
  /* The other session starts now: what came before is not its own. */
  CHECK_EQ(MPI_T_pvar_start(two, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  receive_all(comm);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  if (at_rank_0) {
    CHECK_EQ(read_of(one, here), 0);
    CHECK(read_of(two, other) < kMessages, "%llu", read_of(two, other));
    CHECK(read_of(one, mark) >= kMessages, "the mark stays");
    CHECK(read_of(two, late) >= kMessages, "the level when it started");
    /* A reset in one session is not seen in the other. */
    CHECK_EQ(MPI_T_pvar_reset(two, late), MPI_SUCCESS);
    CHECK(read_of(two, late) < kMessages, "%llu", read_of(two, late));
    CHECK(read_of(one, mark) >= kMessages, "%llu", read_of(one, mark));
  }
  Value value = 0, after = 0;
  CHECK_EQ(MPI_T_pvar_readreset(one, total, &value), MPI_SUCCESS);
  if (at_rank_0) CHECK(value >= kMessages, "%llu", value);
  after = read_of(one, total);
  CHECK_EQ(after, 0);
  const Value five = 5;
  CHECK_EQ(MPI_T_pvar_write(one, total, &five), MPI_SUCCESS);
  CHECK_EQ(read_of(one, total), 5);
  /* A stopped counter keeps its value, and goes on from it. */
  CHECK_EQ(MPI_T_pvar_stop(one, total), MPI_SUCCESS);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  send_unexpected(comm);
  receive_all(comm);
  CHECK_EQ(read_of(one, total), 5);
  CHECK_EQ(MPI_T_pvar_start(one, total), MPI_SUCCESS);
  CHECK_EQ(read_of(one, total), 5);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  send_unexpected(comm);
  receive_all(comm);
  if (at_rank_0) CHECK(read_of(one, total) >= 5 + kMessages, "%llu", read_of(one, total));
  CHECK_EQ(MPI_T_pvar_reset(one, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CHECK_EQ(read_of(one, total), 0);
  /* What a handle is bound to may go away before it. */
  MUST(MPI_Comm_free(&comm));
  CHECK_EQ(MPI_T_pvar_read(one, here, &value), MPI_T_ERR_INVALID_HANDLE);
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_EQ(MPI_T_pvar_read(one, here, &value), MPI_T_ERR_INVALID_HANDLE);
  MUST(MPI_Comm_free(&comm));
  CHECK_EQ(MPI_T_pvar_session_free(&one), MPI_SUCCESS);
  CHECK_EQ(MPI_T_pvar_session_free(&two), MPI_SUCCESS);
}

/* Requests are in use from the call that starts them to the one that completes them, however soon the message leaves.
 */
static void requests_in_use(void) {
  enum { kRequests = 12, kRounds = 3 };
  MPI_T_pvar_session session;
  MPI_Request requests[2 * kRequests];
  int out[kRequests] = {0}, in[kRequests];
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  MPI_T_pvar_handle sends = handle_of(session, "p2p.sends", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle receives = handle_of(session, "p2p.receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(read_of(session, sends), 0);
    CHECK_EQ(read_of(session, receives), 0);
    for (int i = 0; i < kRequests; ++i) {
      MUST(MPI_Irecv(&in[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &requests[i]));
      MUST(MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[kRequests + i]));
    }
    CHECK_EQ(read_of(session, sends), kRequests);
    CHECK_EQ(read_of(session, receives), kRequests);
    MUST(MPI_Waitall(2 * kRequests, requests, MPI_STATUSES_IGNORE));
  }
  CHECK_EQ(read_of(session, sends), 0);
  CHECK_EQ(read_of(session, receives), 0);
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
}

int main(int argc, char** argv) {
  int provided = 0, before = 0, during = 0, after = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  what_is_said();
  CHECK_EQ(MPI_T_pvar_get_num(&before), MPI_SUCCESS);
  MPI_T_pvar_session session;
  CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  MPI_T_pvar_handle total = handle_of(session, "p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER, NULL);
  CHECK_EQ(MPI_T_pvar_start(session, total), MPI_SUCCESS);
  stage_is(session, "MPI_Init has not returned");
  check_start(&argc, &argv);
  stage_is(session, "in use");
  what_is_said();
  requests_in_use();
  shares();
  counting();
  CHECK_EQ(MPI_T_pvar_get_num(&during), MPI_SUCCESS);
  CHECK(during > before, "components bring theirs");
  const Value counted = read_of(session, total);
  if (check_rank == 0) CHECK(counted >= 3 * kMessages, "%llu", counted);
  const int failed = check_end();
  stage_is(session, "finalized");
  what_is_said();
  CHECK_EQ(MPI_T_pvar_get_num(&after), MPI_SUCCESS);
  CHECK_EQ(after, during);
  CHECK(read_of(session, total) >= counted, "what was counted stays");
  CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
