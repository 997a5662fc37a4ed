/* What communicators, error handlers, datatypes and pools tell tools. The argument "limit": p2p.request_limit is 64. */
#include "hear.h"

static void communicators(void) {
  Hear made, freed, named;
  hear_begin(&made, "comm.made");
  hear_begin(&freed, "comm.freed");
  hear_begin(&named, "comm.named");
  Pvar alive = pvar_begin("comm.alive", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar count = pvar_begin("comm.made", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar gone = pvar_begin("comm.freed", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar names = pvar_begin("comm.named", MPI_T_PVAR_CLASS_COUNTER, NULL);
  const Value before = pvar_value(&alive, 0);
  MPI_Comm half, later, *both[] = {&half, &later};
  MPI_Request request;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half));
  MUST(MPI_Comm_idup(MPI_COMM_WORLD, &later, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(made.count, 2);
  CHECK_EQ(pvar_value(&count, 0), 2);
  CHECK_EQ(pvar_value(&alive, 0), before + 2);
  for (int i = 0; i < 2; ++i) {
    int rank = -1, size = -1;
    MUST(MPI_Comm_rank(*both[i], &rank));
    MUST(MPI_Comm_size(*both[i], &size));
    Pvar context = pvar_begin("comm.context", MPI_T_PVAR_CLASS_SIZE, both[i]);
    CHECK_EQ(made.of[i][0], (long long)pvar_value(&context, 0));
    CHECK_EQ(made.of[i][1], rank);
    CHECK_EQ(made.of[i][2], size);
    CHECK_EQ(made.of[i][3], 0);
    pvar_end(&context);
  }
  MUST(MPI_Comm_set_name(half, "half"));
  CHECK_EQ(named.count, 1);
  CHECK_EQ(named.of[0][0], made.of[0][0]);
  CHECK_EQ(named.of[0][1], 4);
  CHECK_EQ(pvar_value(&names, 0), 1);
  MUST(MPI_Barrier(half));
  MUST(MPI_Comm_free(&half));
  MUST(MPI_Comm_free(&later));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(freed.count, 2);
  CHECK_EQ(freed.of[0][0], made.of[0][0]);
  CHECK_EQ(freed.of[0][1], made.of[0][2]);
  CHECK_EQ(freed.of[0][2], 1);
  CHECK_EQ(freed.of[1][0], made.of[1][0]);
  CHECK_EQ(pvar_value(&gone, 0), 2);
  CHECK_EQ(pvar_value(&alive, 0), before);
  hear_end(&made), hear_end(&freed), hear_end(&named);
  pvar_end(&alive), pvar_end(&count), pvar_end(&gone), pvar_end(&names);
}

static int called;
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++called;
}

static void errors(void) {
  Hear hear;
  MPI_Errhandler handler, before;
  int data = 0, class = 0;
  hear_begin(&hear, "object.handler_called");
  Pvar all = pvar_begin("object.errors", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar returned = pvar_begin("object.errors_returned", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar functions = pvar_begin("object.errors_called", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MUST(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  const int code = MPI_Send(&data, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD);
  MUST(MPI_Error_class(code, &class));
  CHECK_EQ(class, MPI_ERR_RANK);
  MUST(MPI_Comm_create_errhandler(on_error, &handler));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
  CHECK(MPI_Send(&data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "a negative count");
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, before));
  MUST(MPI_Errhandler_free(&handler));
  MUST(MPI_Errhandler_free(&before));
  CHECK_EQ(called, 1);
  CHECK_EQ(hear.count, 2);
  CHECK(strcmp(hear_word(&hear, hear.of[0][0]), "returns the error code") == 0, "%lld", hear.of[0][0]);
  CHECK_EQ(hear.of[0][1], MPI_ERR_RANK);
  CHECK_EQ(hear.of[0][2], 1);
  CHECK_EQ(hear.of[0][3], 0);
  CHECK(strcmp(hear_word(&hear, hear.of[1][0]), "calls the program's function") == 0, "%lld", hear.of[1][0]);
  CHECK_EQ(hear.of[1][1], MPI_ERR_COUNT);
  CHECK_EQ(pvar_value(&all, 0), 2);
  CHECK_EQ(pvar_value(&returned, 0), 1);
  CHECK_EQ(pvar_value(&functions, 0), 1);
  hear_end(&hear);
  pvar_end(&all), pvar_end(&returned), pvar_end(&functions);
}

static void datatypes(void) {
  Pvar alive = pvar_begin("datatype.alive", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar committed = pvar_begin("datatype.committed", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar freed = pvar_begin("datatype.freed", MPI_T_PVAR_CLASS_COUNTER, NULL);
  const Value before = pvar_value(&alive, 0);
  MPI_Datatype type;
  MUST(MPI_Type_vector(3, 1, 2, MPI_INT, &type));
  MUST(MPI_Type_commit(&type));
  CHECK_EQ(pvar_value(&alive, 0), before + 1);
  CHECK_EQ(pvar_value(&committed, 0), 1);
  MUST(MPI_Type_free(&type));
  CHECK_EQ(pvar_value(&alive, 0), before);
  CHECK_EQ(pvar_value(&freed, 0), 1);
  pvar_end(&alive), pvar_end(&committed), pvar_end(&freed);
}

/* Receives are posted until there are no more requests. */
static void pools(int limit) {
  Hear grown, met;
  enum { kMost = 1000 };
  static MPI_Request requests[kMost];
  static int data[kMost];
  int posted = 0, code = MPI_SUCCESS, class = MPI_SUCCESS;
  hear_begin(&grown, "base.pool_grown");
  hear_begin(&met, "base.pool_limit_met");
  Pvar storage = pvar_begin("p2p.receives_storage", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  for (; posted < kMost && code == MPI_SUCCESS; posted += code == MPI_SUCCESS)
    code = MPI_Irecv(&data[posted], 1, MPI_INT, 0, posted, MPI_COMM_SELF, &requests[posted]);
  Value largest = 0;
  for (int i = 0; i < grown.count; ++i) {
    if (strcmp(hear_word(&grown, grown.of[i][0]), "p2p.receives") != 0) continue;
    CHECK((Value)grown.of[i][1] > largest, "%lld after %llu", grown.of[i][1], largest);
    largest = (Value)grown.of[i][1];
    if (limit != 0) CHECK_EQ(grown.of[i][2], limit);
  }
  CHECK_EQ(largest, pvar_value(&storage, 0));
  if (limit == 0) {
    CHECK_EQ(posted, kMost);
    CHECK_EQ(met.count, 0);
  } else {
    MUST(MPI_Error_class(code, &class));
    CHECK_EQ(class, MPI_ERR_NO_MEM);
    CHECK(posted > 0 && posted <= limit, "%d", posted);
    CHECK_EQ(met.count, 1);
    CHECK(strcmp(hear_word(&met, met.of[0][0]), "p2p.receives") == 0, "%s", hear_word(&met, met.of[0][0]));
    CHECK_EQ(met.of[0][1], limit);
  }
  for (int i = 0; i < posted; ++i) {
    MUST(MPI_Cancel(&requests[i]));
    MUST(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  }
  hear_end(&grown), hear_end(&met);
  pvar_end(&storage);
}

int main(int argc, char** argv) {
  const int limit = argc > 1 && strcmp(argv[1], "limit") == 0 ? 64 : 0;
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  check_start(&argc, &argv);
  pools(limit);
  if (limit == 0) {
    communicators();
    errors();
    datatypes();
  }
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
