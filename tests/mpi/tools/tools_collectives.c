/* What collectives tell tools: each one's begin and end with its algorithm and who chose it, and how many there were.
 * The argument "forced": coll.bcast.algorithm is set to binomial. */
#include "hear.h"

enum { kItems = 100, kTimes = 4 };
enum { kCollective, kAlgorithm, kContext, kNumber, kBytes, kRoot, kForm, kChosenBy };
enum { kError = 4 };

static Hear begins, ends;

/* The event of a collective on `context` after the first `from`, with its end. */
static int find(const char* collective, Value context, int from) {
  for (int i = from; i < begins.count; ++i) {
    if (begins.of[i][kContext] != (long long)context) continue;
    if (strcmp(hear_word(&begins, begins.of[i][kCollective]), collective) != 0) continue;
    int ended = 0;
    for (int j = 0; j < ends.count; ++j) {
      if (ends.of[j][kContext] != (long long)context || ends.of[j][kNumber] != begins.of[i][kNumber]) continue;
      CHECK_EQ(ends.of[j][kCollective], begins.of[i][kCollective]);
      CHECK_EQ(ends.of[j][kAlgorithm], begins.of[i][kAlgorithm]);
      CHECK_EQ(ends.of[j][kError], MPI_SUCCESS);
      ++ended;
    }
    CHECK(ended >= 1, "%s has no end", collective);
    return i;
  }
  CHECK(0, "no %s among %d", collective, begins.count);
  return 0;
}

int main(int argc, char** argv) {
  const int forced = argc > 1 && strcmp(argv[1], "forced") == 0;
  int provided = 0, data[kItems] = {0}, sums[kItems];
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  check_start(&argc, &argv);
  MPI_Comm comm;
  MPI_Request request;
  MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  Pvar number = pvar_begin("comm.context", MPI_T_PVAR_CLASS_SIZE, &comm);
  Pvar on_comm = pvar_begin("comm.collectives", MPI_T_PVAR_CLASS_COUNTER, &comm);
  Pvar blocking = pvar_begin("coll.blocking", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar nonblocking = pvar_begin("coll.nonblocking", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar starts = pvar_begin("coll.starts", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar bytes = pvar_begin("coll.bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  Pvar requests = pvar_begin("coll.requests", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar in_flight = pvar_begin("coll.in_flight", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const Value context = pvar_value(&number, 0);
  hear_begin(&begins, "coll.begin");
  hear_begin(&ends, "coll.end");

  MUST(MPI_Bcast(data, kItems, MPI_INT, 1, comm));
  MUST(MPI_Iallreduce(data, sums, kItems, MPI_INT, MPI_SUM, comm, &request));
  CHECK_EQ(pvar_value(&requests, 0), 1);
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MUST(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
  for (int i = 0; i < kTimes; ++i) {
    MUST(MPI_Start(&request));
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  MUST(MPI_Request_free(&request));
  CHECK_EQ(pvar_value(&blocking, 0), 1);
  CHECK_EQ(pvar_value(&nonblocking, 0), 1);
  CHECK_EQ(pvar_value(&starts, 0), kTimes);
  CHECK_EQ(pvar_value(&on_comm, 0), 3);
  CHECK_EQ(pvar_value(&bytes, 0), 2 * kItems * sizeof(int));
  CHECK_EQ(pvar_value(&requests, 0), 0);
  CHECK_EQ(pvar_value(&in_flight, 0), 0);

  CHECK_EQ(begins.count, 2 + kTimes);
  CHECK_EQ(ends.count, 2 + kTimes);
  const long long* const bcast = begins.of[find("bcast", context, 0)];
  CHECK_EQ(bcast[kBytes], kItems * sizeof(int));
  CHECK_EQ(bcast[kRoot], 1);
  CHECK_EQ(bcast[kForm], 0);
  CHECK_EQ(bcast[kChosenBy], forced ? 3 : 0);
  const char* const algorithm = hear_word(&begins, bcast[kAlgorithm]);
  CHECK(strcmp(algorithm, "another") != 0, "%s", algorithm);
  if (forced) CHECK(strcmp(algorithm, "binomial") == 0, "%s", algorithm);
  const long long* const allreduce = begins.of[find("allreduce", context, 1)];
  CHECK_EQ(allreduce[kForm], 1);
  CHECK_EQ(allreduce[kNumber], bcast[kNumber] + 1);
  const long long* const barrier = begins.of[find("barrier", context, 2)];
  CHECK_EQ(barrier[kForm], 2);
  CHECK_EQ(barrier[kBytes], 0);

  hear_end(&begins), hear_end(&ends);
  pvar_end(&number), pvar_end(&on_comm), pvar_end(&blocking), pvar_end(&nonblocking), pvar_end(&starts);
  pvar_end(&bytes), pvar_end(&requests), pvar_end(&in_flight);
  MUST(MPI_Comm_free(&comm));
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
