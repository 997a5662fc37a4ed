/* The end, and what is there before and after: attributes of MPI_COMM_SELF are deleted first, the last one set first,
 * with the library still in full use; some calls work before the beginning and after the end. */
#include "check.h"

static int order[4], deleted = 0;

static int when_deleted(MPI_Comm comm, int key, void* value, void* state) {
  int finalized = -1, sum = 0, one = 1;
  (void)key, (void)state;
  CHECK(comm == MPI_COMM_SELF);
  order[deleted++] = (int)(intptr_t)value;
  MUST(MPI_Finalized(&finalized));
  CHECK_EQ(finalized, 0);
  MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, check_size);
  return MPI_SUCCESS;
}

static void any_time(void) {
  int version, subversion, length, flag, result, n;
  char text[MPI_MAX_LIBRARY_VERSION_STRING], string[MPI_MAX_ERROR_STRING], value[16];
  MPI_Info info, copy;
  MPI_Errhandler handler;
  CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS && version == MPI_VERSION &&
        subversion == MPI_SUBVERSION);
  CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS && (int)strlen(text) == length && length > 0);
  CHECK(MPI_Initialized(&flag) == MPI_SUCCESS);
  CHECK(MPI_Finalized(&flag) == MPI_SUCCESS);
  CHECK(MPI_Error_class(MPI_ERR_TAG, &result) == MPI_SUCCESS && result == MPI_ERR_TAG);
  CHECK(MPI_Error_string(MPI_ERR_TAG, string, &length) == MPI_SUCCESS && (int)strlen(string) == length);
  CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
  CHECK(MPI_Info_set(info, "key", "value") == MPI_SUCCESS);
  CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
  length = sizeof value;
  CHECK(MPI_Info_get_string(copy, "key", &length, value, &flag) == MPI_SUCCESS && flag && !strcmp(value, "value"));
  CHECK(MPI_Info_get_nkeys(copy, &n) == MPI_SUCCESS && n == 1);
  CHECK(MPI_Info_delete(copy, "key") == MPI_SUCCESS);
  CHECK(MPI_Info_free(&info) == MPI_SUCCESS && info == MPI_INFO_NULL);
  CHECK(MPI_Info_free(&copy) == MPI_SUCCESS);
  CHECK(MPI_Session_create_errhandler((MPI_Session_errhandler_function*)any_time, &handler) == MPI_SUCCESS);
  CHECK(MPI_Errhandler_free(&handler) == MPI_SUCCESS && handler == MPI_ERRHANDLER_NULL);
  CHECK(MPI_Info_create_env(0, NULL, &info) == MPI_SUCCESS);
  CHECK(MPI_Info_get_nkeys(info, &n) == MPI_SUCCESS);
  CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
  const int yes = 1, no = 0;
  int got_yes = 7, got_no = 7;
  CHECK(MPI_Abi_get_version(&version, &subversion) == MPI_SUCCESS && version == MPI_ABI_VERSION);
  CHECK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &flag) == MPI_SUCCESS);
  if (!flag) CHECK(MPI_Abi_set_fortran_booleans(4, (void*)&yes, (void*)&no) == MPI_SUCCESS);
  CHECK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &flag) == MPI_SUCCESS && flag && got_yes == 1 &&
        got_no == 0);
  const double before = MPI_Wtime();
  CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0);
}

int main(int argc, char** argv) {
  int keys[3], provided, level, flag;
  any_time();
  CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS);
  CHECK(provided >= MPI_THREAD_FUNNELED);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  MUST(MPI_Query_thread(&level));
  CHECK_EQ(level, provided);
  int length = MPI_MAX_INFO_VAL;
  static char value[MPI_MAX_INFO_VAL];
  MUST(MPI_Info_get_string(MPI_INFO_ENV, "command", &length, value, &flag));
  CHECK(flag && strstr(value, "finalize"), "'%s'", value);
  length = MPI_MAX_INFO_VAL;
  MUST(MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &length, value, &flag));
  CHECK(flag && atoi(value) == check_size, "'%s'", value);
  CHECK(MPI_Info_set(MPI_INFO_ENV, "command", "other") != MPI_SUCCESS);
  MUST(MPI_Is_thread_main(&flag));
  CHECK_EQ(flag, 1);
  CHECK(MPI_Init(&argc, &argv) != MPI_SUCCESS);
  for (int k = 0; k < 3; k++) {
    MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, when_deleted, &keys[k], NULL));
    MUST(MPI_Comm_set_attr(MPI_COMM_SELF, keys[k], (void*)(intptr_t)(k + 1)));
    if (k != 1) continue;
    MUST(MPI_Comm_set_attr(MPI_COMM_SELF, keys[1], (void*)(intptr_t)9)); /* deletes the old value now */
    CHECK(deleted == 1 && order[0] == 2);
  }
  deleted = 0;
  any_time();
  for (int k = 0; k < 3; k++) MUST(MPI_Comm_free_keyval(&(int){keys[k]})); /* in use until the attributes are gone */
  CHECK(MPI_Finalize() == MPI_SUCCESS);
  CHECK(deleted == 3 && order[0] == 3 && order[1] == 9 && order[2] == 1, "%d: %d %d %d", deleted, order[0], order[1],
        order[2]);
  CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag);
  CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
  any_time();
  return check_failures != 0;
}
