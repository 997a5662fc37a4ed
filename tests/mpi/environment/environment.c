/* What holds before init, between, and after; clocks, names, versions, predefined attributes, memory.
 * Arguments: how to initialise (init, null, thread, kinds), then two that have to arrive as they are. */
#include <time.h>
#include <unistd.h>

#include "check.h"

static void anytime(void) {
  int version = 0, subversion = -1, length = 0, mpi_class = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING > MPI_MAX_ERROR_STRING ? MPI_MAX_LIBRARY_VERSION_STRING
                                                                  : MPI_MAX_ERROR_STRING];
  CHECK_EQ(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
  CHECK_EQ(version, MPI_VERSION);
  CHECK_EQ(subversion, MPI_SUBVERSION);
  CHECK_EQ(MPI_Get_library_version(text, &length), MPI_SUCCESS);
  CHECK(length > 0 && strlen(text) == (size_t)length, "library version '%s'", text);
  CHECK_EQ(MPI_Error_class(MPI_ERR_TAG, &mpi_class), MPI_SUCCESS);
  CHECK_EQ(mpi_class, MPI_ERR_TAG);
  CHECK_EQ(MPI_Error_string(MPI_ERR_TAG, text, &length), MPI_SUCCESS);
  CHECK(length > 0 && strlen(text) == (size_t)length, "error string '%s'", text);
}

static void state(int initialized, int finalized) {
  int flag = -1;
  CHECK_EQ(MPI_Initialized(&flag), MPI_SUCCESS);
  CHECK_EQ(!!flag, initialized);
  CHECK_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
  CHECK_EQ(!!flag, finalized);
}

static void clocks(void) {
  const double tick = MPI_Wtick();
  CHECK(tick > 0 && tick <= 1e-6, "MPI_Wtick is %g", tick);
  double last = MPI_Wtime();
  for (int i = 0; i < 100000; i++) {
    const double t = MPI_Wtime();
    if (t < last) {
      CHECK(0, "MPI_Wtime went back by %g s", last - t);
      break;
    }
    last = t;
  }
  const double start = MPI_Wtime();
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  const double slept = MPI_Wtime() - start;
  CHECK(slept >= 0.0199 && slept < 5, "a sleep of 20 ms took %g s", slept);
}

static void names(void) {
  char name[MPI_MAX_PROCESSOR_NAME], host[256];
  int length = -1;
  MUST(MPI_Get_processor_name(name, &length));
  CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME && strlen(name) == (size_t)length, "'%s', %d", name, length);
  gethostname(host, sizeof host);
  CHECK(strncmp(name, host, strcspn(host, ".")) == 0, "'%s' on host '%s'", name, host);
}

static void predefined_attributes(void) {
  int *value = NULL, there = 0;
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &there));
  CHECK(there && *value >= 32767);
  int largest = there ? *value : 0, of_all = 0;
  MUST(MPI_Allreduce(&largest, &of_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  CHECK_EQ(of_all, largest);
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &there));
  CHECK(!there || *value == 0 || *value == 1);
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &there));
  CHECK(!there || *value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < check_size));
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &there));
  CHECK(!there || *value >= check_size);
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &there));
  CHECK(there && *value >= MPI_ERR_LASTCODE);
}

static void threads(int asked) {
  int provided = -1, main_thread = 0;
  MUST(MPI_Query_thread(&provided));
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "%d", provided);
  CHECK(asked < 0 || provided == asked);
  MUST(MPI_Is_thread_main(&main_thread));
  CHECK(main_thread);
}

static void memory(void) {
  char* p = NULL;
  MUST(MPI_Alloc_mem(100000, MPI_INFO_NULL, &p));
  CHECK(p != NULL && (uintptr_t)p % 16 == 0);
  memset(p, 1, 100000);
  MUST(MPI_Free_mem(p));
  /* Neither twice, nor what is not the beginning of what was given. */
  int mpi_class = 0;
  MPI_Errhandler before;
  MUST(MPI_Comm_get_errhandler(MPI_COMM_SELF, &before));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  MPI_Error_class(MPI_Free_mem(p), &mpi_class);
  CHECK_EQ(mpi_class, MPI_ERR_BASE);
  MPI_Error_class(MPI_Free_mem(&mpi_class), &mpi_class);
  CHECK_EQ(mpi_class, MPI_ERR_BASE);
  MUST(MPI_Alloc_mem(100, MPI_INFO_NULL, &p));
  MPI_Error_class(MPI_Free_mem((char*)p + 8), &mpi_class);
  CHECK_EQ(mpi_class, MPI_ERR_BASE);
  MUST(MPI_Free_mem(p));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_SELF, before));
}

static void value_is(MPI_Info info, const char* wanted) {
  char value[128] = "";
  int flag, length = sizeof value;
  MUST(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &flag));
  CHECK(wanted ? flag && strcmp(value, wanted) == 0 : !flag, "'%s'", value);
}

/* What mpiexec was asked for, and what of it there is. */
static void memory_kinds(int asked) {
  MPI_Info info;
  value_is(MPI_INFO_ENV, asked ? "mpi:alloc_mem,gpu" : NULL);
  MUST(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
  value_is(info, asked ? "mpi:alloc_mem,system" : "mpi,system");
  MUST(MPI_Info_free(&info));
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "init";
  int asked = -1;
  anytime();
  state(0, 0);
  if (strcmp(way, "null") == 0) {
    CHECK_EQ(MPI_Init(NULL, NULL), MPI_SUCCESS);
  } else if (strcmp(way, "thread") == 0) {
    CHECK_EQ(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &asked), MPI_SUCCESS);
    CHECK(asked >= MPI_THREAD_SINGLE);
  } else {
    CHECK_EQ(MPI_Init(&argc, &argv), MPI_SUCCESS);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  CHECK(argc == 4 && strcmp(argv[2], "two words") == 0 && strcmp(argv[3], "--size=3") == 0, "arguments changed");
  anytime();
  state(1, 0);
  clocks();
  names();
  predefined_attributes();
  threads(asked);
  memory();
  memory_kinds(strcmp(way, "kinds") == 0);
  CHECK(MPI_Init(NULL, NULL) != MPI_SUCCESS, "a second MPI_Init is an error");
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  const int result = check_end();
  state(1, 1);
  anytime();
  return result || check_failures != 0;
}
