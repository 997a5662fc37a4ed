/* Sessions: opened, asked, used through process sets and groups, several at once, beside the world model or without it,
 * opened again after the last one was closed. The argument says in which company: "alone", "beside", "after". */
#include "check.h"

static int handler_calls = 0, handler_code = 0;
static void on_error(MPI_Session* session, int* code, ...) {
  (void)session;
  handler_calls++;
  handler_code = *code;
}

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static MPI_Session opened(const char* level) {
  MPI_Session session;
  MPI_Info info = MPI_INFO_NULL;
  if (level) {
    MUST(MPI_Info_create(&info));
    MUST(MPI_Info_set(info, "thread_level", level));
  }
  MUST(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
  if (level) MUST(MPI_Info_free(&info));
  return session;
}

static void info_of(MPI_Session session, const char* level) {
  MPI_Info info;
  char value[64] = "";
  int length = sizeof value, flag;
  MUST(MPI_Session_get_info(session, &info));
  MUST(MPI_Info_get_string(info, "thread_level", &length, value, &flag));
  CHECK(flag && strcmp(value, level) == 0, "'%s'", value);
  MUST(MPI_Info_free(&info));
}

static MPI_Group set(MPI_Session session, const char* name) {
  MPI_Group group;
  MUST(MPI_Group_from_session_pset(session, name, &group));
  return group;
}

static void process_sets(MPI_Session session, int* size, int* rank) {
  int n = 0, world_seen = 0, self_seen = 0;
  MUST(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
  CHECK(n >= 2);
  for (int i = 0; i < n; i++) {
    int length = 0, again, group_size, flag, value_length = 16;
    MUST(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
    CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
    char name[MPI_MAX_PSET_NAME_LEN] = "", cut[5] = "....", value[16];
    again = length;
    MUST(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &again, name));
    CHECK(again == length && (int)strlen(name) == length - 1);
    again = 4;
    MUST(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &again, cut));
    CHECK(again == length && strlen(cut) == 3 && strncmp(cut, name, 3) == 0 && cut[4] == '\0');
    world_seen += strcmp(name, "mpi://WORLD") == 0;
    self_seen += strcmp(name, "mpi://SELF") == 0;
    MPI_Info info;
    MUST(MPI_Session_get_pset_info(session, name, &info));
    MUST(MPI_Info_get_string(info, "mpi_size", &value_length, value, &flag));
    MPI_Group group = set(session, name);
    MUST(MPI_Group_size(group, &group_size));
    CHECK(flag && atoi(value) == group_size);
    MUST(MPI_Group_free(&group));
    MUST(MPI_Info_free(&info));
  }
  CHECK(world_seen == 1 && self_seen == 1);
  MPI_Group world = set(session, "mpi://WORLD");
  MUST(MPI_Group_size(world, size));
  MUST(MPI_Group_rank(world, rank));
  MUST(MPI_Group_free(&world));
  MPI_Group group;
  MPI_Info info;
  int length = 0;
  CHECK_EQ(class_of(MPI_Group_from_session_pset(session, "mpi://nowhere", &group)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Session_get_pset_info(session, "no set", &info)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, NULL)), MPI_ERR_ARG);
}

static int sum_over(MPI_Comm comm, int value) {
  int sum = -1;
  MUST(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum;
}

/* The whole world, and the ranks of one parity, at the same time under different tags. */
static void communicators(MPI_Session session, int size, int rank) {
  MPI_Group world = set(session, "mpi://WORLD"), parity;
  MPI_Comm all, half, none, twin;
  int flag, *tag_ub, relation;
  MUST(MPI_Comm_create_from_group(world, "org.ashlar.test.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all));
  CHECK_EQ(sum_over(all, rank), size * (size - 1) / 2);
  MUST(MPI_Comm_get_attr(all, MPI_TAG_UB, &tag_ub, &flag));
  CHECK(flag && *tag_ub >= 32767);
  /* The other predefined attributes belong to the world model. */
  MUST(MPI_Comm_get_attr(all, MPI_UNIVERSE_SIZE, &tag_ub, &flag));
  CHECK_EQ(flag, 0);
  int ranges[1][3] = {{rank % 2, size - 1 - (size - 1 - rank % 2) % 2, 2}};
  MUST(MPI_Group_range_incl(world, 1, ranges, &parity));
  MUST(MPI_Comm_create_from_group(parity, "org.ashlar.test.half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &half));
  int expected = 0;
  for (int r = rank % 2; r < size; r += 2) expected += r;
  CHECK_EQ(sum_over(half, rank), expected);
  MUST(MPI_Comm_dup(half, &twin));
  MUST(MPI_Comm_compare(half, twin, &relation));
  CHECK_EQ(relation, MPI_CONGRUENT);
  MUST(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none));
  CHECK(none == MPI_COMM_NULL);
  if (size > 1) {
    MPI_Group others;
    MPI_Comm inter, merged;
    int remote, leader = 0;
    ranges[0][0] = 1 - rank % 2;
    ranges[0][1] = size - 1 - (size - 1 - (1 - rank % 2)) % 2;
    MUST(MPI_Group_range_incl(world, 1, ranges, &others));
    const int leads = rank == rank % 2;
    MUST(MPI_Intercomm_create_from_groups(parity, leader, leads ? others : MPI_GROUP_NULL, leads ? 0 : -5,
                                          "org.ashlar.test.inter", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    MUST(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQ(remote, rank % 2 ? (size + 1) / 2 : size / 2);
    MUST(MPI_Intercomm_merge(inter, rank % 2, &merged));
    CHECK_EQ(sum_over(merged, rank), size * (size - 1) / 2);
    MUST(MPI_Comm_free(&merged));
    MUST(MPI_Comm_free(&inter));
    MUST(MPI_Group_free(&others));
  }
  MPI_Comm* made[] = {&all, &half, &twin};
  for (int i = 0; i < 3; i++) MUST(MPI_Comm_free(made[i]));
  MUST(MPI_Group_free(&world));
  MUST(MPI_Group_free(&parity));
}

static void errors(MPI_Session session, MPI_Session other) {
  handler_calls = 0;
  MPI_Errhandler handler, found;
  MPI_Group group;
  MUST(MPI_Session_create_errhandler(on_error, &handler));
  MUST(MPI_Session_set_errhandler(session, handler));
  MUST(MPI_Session_get_errhandler(session, &found));
  CHECK(found == handler);
  MUST(MPI_Errhandler_free(&found));
  CHECK_EQ(class_of(MPI_Group_from_session_pset(session, "no set", &group)), MPI_ERR_ARG);
  CHECK(handler_calls == 1 && class_of(handler_code) == MPI_ERR_ARG, "%d %d", handler_calls, handler_code);
  /* What happens in one session is nothing to another. */
  CHECK_EQ(class_of(MPI_Group_from_session_pset(other, "no set", &group)), MPI_ERR_ARG);
  CHECK_EQ(handler_calls, 1);
  MUST(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK(handler_calls == 2 && handler_code == MPI_ERR_OTHER);
  MUST(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
  MUST(MPI_Errhandler_free(&handler));
  CHECK(handler == MPI_ERRHANDLER_NULL);
}

/* Kinds of memory: a session gets what it asks for and the library knows, and so do its communicators. */
static void memory_kinds(void) {
  MPI_Session session;
  MPI_Info info, told;
  MPI_Comm comm, twin;
  char value[128] = "";
  int flag, length = sizeof value;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_memory_alloc_kinds", "system,gpu:device,mpi:alloc_mem"));
  MUST(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
  MUST(MPI_Info_free(&info));
  MUST(MPI_Session_get_info(session, &told));
  MUST(MPI_Info_get_string(told, "mpi_memory_alloc_kinds", &length, value, &flag));
  CHECK(flag && strcmp(value, "system,mpi:alloc_mem") == 0, "'%s'", value);
  MUST(MPI_Info_free(&told));
  MPI_Group world = set(session, "mpi://WORLD");
  MUST(MPI_Comm_create_from_group(world, "kinds", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MUST(MPI_Comm_dup(comm, &twin));
  MUST(MPI_Comm_get_info(twin, &told));
  length = sizeof value;
  MUST(MPI_Info_get_string(told, "mpi_memory_alloc_kinds", &length, value, &flag));
  CHECK(flag && strcmp(value, "system,mpi:alloc_mem") == 0, "'%s'", value);
  MUST(MPI_Info_free(&told));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_Comm_free(&twin));
  MUST(MPI_Group_free(&world));
  MUST(MPI_Session_finalize(&session));
}

static void life(void) {
  MPI_Session one = opened(NULL), two = opened("MPI_THREAD_SERIALIZED");
  int size, rank, flag;
  info_of(one, "MPI_THREAD_SERIALIZED"); /* what is in force, for all: the second one asked for more */
  info_of(two, "MPI_THREAD_SERIALIZED");
  process_sets(one, &size, &rank);
  check_size = size;
  check_rank = rank;
  communicators(one, size, rank);
  communicators(two, size, rank);
  errors(one, two);
  memory_kinds();
  MUST(MPI_Session_finalize(&one));
  CHECK(one == MPI_SESSION_NULL);
  communicators(two, size, rank);
  MUST(MPI_Session_finalize(&two));
  MUST(MPI_Finalized(&flag));
}

int main(int argc, char** argv) {
  const char* company = argc > 1 ? argv[1] : "alone";
  int flag;
  MUST(MPI_Initialized(&flag));
  CHECK(!flag);
  if (strcmp(company, "beside") == 0) {
    MPI_Session before = opened(NULL);
    check_start(&argc, &argv);
    life();
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_Session_finalize(&before));
    MPI_Session across = opened(NULL);
    CHECK_EQ(check_end(), 0);
    int size, rank;
    process_sets(across, &size, &rank);
    communicators(across, size, rank);
    MUST(MPI_Session_finalize(&across));
  } else if (strcmp(company, "after") == 0) {
    check_start(&argc, &argv);
    CHECK_EQ(check_end(), 0);
    life();
  } else {
    for (int k = 0; k < 3; k++) life();
    MUST(MPI_Initialized(&flag));
    CHECK(!flag);
  }
  return check_failures != 0;
}
