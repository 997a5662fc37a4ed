/* Process sets of the launcher, as sessions see them. Arguments: NAME=FIRST-LAST for each set that has to be there,
 * beside the standard's own. */
#include "check.h"

static MPI_Session session;

static int has_set(const char* wanted) {
  int n = 0, found = 0;
  MUST(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
  for (int i = 0; i < n; i++) {
    char name[MPI_MAX_PSET_NAME_LEN];
    int length = sizeof name;
    MUST(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
    found += strcmp(name, wanted) == 0;
  }
  return found;
}

static void check_set(const char* argument) {
  char name[MPI_MAX_PSET_NAME_LEN], value[16];
  const char* equals = strrchr(argument, '=');
  int first, last, size, rank, flag, length = sizeof value;
  snprintf(name, sizeof name, "%.*s", (int)(equals - argument), argument);
  CHECK(sscanf(equals + 1, "%d-%d", &first, &last) == 2);
  CHECK(has_set(name) == 1, "%s", name);
  MPI_Group group, world;
  MPI_Info info;
  MUST(MPI_Group_from_session_pset(session, name, &group));
  MUST(MPI_Group_size(group, &size));
  CHECK_EQ(size, last - first + 1);
  MUST(MPI_Session_get_pset_info(session, name, &info));
  MUST(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
  CHECK(flag && atoi(value) == size);
  MUST(MPI_Info_free(&info));
  MUST(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  for (int r = 0; r < size; r++) {
    int there;
    MUST(MPI_Group_translate_ranks(group, 1, &r, world, &there));
    CHECK_EQ(there, first + r);
  }
  MUST(MPI_Group_rank(group, &rank));
  CHECK_EQ(rank, check_rank >= first && check_rank <= last ? check_rank - first : MPI_UNDEFINED);
  if (rank != MPI_UNDEFINED) {
    MPI_Comm comm;
    int sum = 0, one = 1;
    MUST(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size);
    MUST(MPI_Comm_free(&comm));
  }
  /* And a split by the set's name. */
  MPI_Comm all, part;
  MUST(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all));
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "mpi_pset_name", name));
  MUST(MPI_Comm_split_type(all, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part));
  CHECK_EQ(part != MPI_COMM_NULL, rank != MPI_UNDEFINED);
  if (part != MPI_COMM_NULL) {
    MPI_Info used;
    int part_size;
    char told[MPI_MAX_PSET_NAME_LEN] = "";
    MUST(MPI_Comm_size(part, &part_size));
    CHECK_EQ(part_size, size);
    MUST(MPI_Comm_get_info(part, &used));
    length = sizeof told;
    MUST(MPI_Info_get_string(used, "mpi_pset_name", &length, told, &flag));
    CHECK(flag && strcmp(told, name) == 0, "'%s'", told);
    MUST(MPI_Info_free(&used));
    MUST(MPI_Comm_free(&part));
  }
  MUST(MPI_Info_free(&info));
  MUST(MPI_Comm_free(&all));
  MUST(MPI_Group_free(&world));
  MUST(MPI_Group_free(&group));
}

int main(int argc, char** argv) {
  MPI_Group world;
  MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  MUST(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  MUST(MPI_Group_size(world, &check_size));
  MUST(MPI_Group_rank(world, &check_rank));
  MUST(MPI_Group_free(&world));
  CHECK(has_set("mpi://WORLD") == 1 && has_set("mpi://SELF") == 1 && has_set("nobody") == 0);
  for (int i = 1; i < argc; i++) check_set(argv[i]);
  MUST(MPI_Session_finalize(&session));
  return check_failures != 0;
}
