/* Run with check.sessions: a call that is given objects of two sessions, or of a session and the world model, is
 * refused and names both; what belongs together, and the empty group, is taken. Without it, argument "off": all are
 * taken. */
#include "check.h"

static int wanted = MPI_ERR_ARG;

static void refused(int code, const char* part) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, mpi_class = 0;
  MUST(MPI_Error_class(code, &mpi_class));
  CHECK_EQ(mpi_class, wanted);
  if (wanted == MPI_SUCCESS) return;
  MUST(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, part) != NULL, "'%s' in '%s'", part, text);
}

int main(int argc, char** argv) {
  MPI_Session session[2];
  MPI_Group of[2], world, both;
  MPI_Comm comm[2], made;
  int result, zero = 0, there;
  check_start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "off") == 0) wanted = MPI_SUCCESS;
  for (int i = 0; i < 2; i++) {
    MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session[i]));
    MUST(MPI_Group_from_session_pset(session[i], "mpi://WORLD", &of[i]));
    MUST(MPI_Comm_create_from_group(of[i], "mixed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm[i]));
  }
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));

  both = world;
  refused(MPI_Group_union(of[0], of[1], &both), "group1 comes from session 1 and argument group2 from session 2");
  if (wanted != MPI_SUCCESS) CHECK(both == MPI_GROUP_NULL);
  if (both != MPI_GROUP_NULL) MUST(MPI_Group_free(&both));
  refused(MPI_Group_compare(of[1], world, &result),
          "group1 comes from session 2 and argument group2 from the world model");
  refused(MPI_Group_translate_ranks(world, 1, &zero, of[0], &there), "group1 comes from the world model");
  refused(MPI_Comm_compare(MPI_COMM_WORLD, comm[0], &result), "comm2 from session 1");
  refused(MPI_Comm_create_group(comm[0], world, 3, &made), "comm comes from session 1");
  if (wanted == MPI_SUCCESS) MUST(MPI_Comm_free(&made));

  /* What belongs together. */
  MUST(MPI_Group_union(of[0], MPI_GROUP_EMPTY, &both));
  MUST(MPI_Group_compare(of[0], both, &result));
  CHECK_EQ(result, MPI_IDENT);
  MUST(MPI_Group_free(&both));
  MUST(MPI_Comm_group(comm[1], &both));
  MUST(MPI_Comm_create(comm[1], both, &made));
  MUST(MPI_Comm_compare(comm[1], made, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  MUST(MPI_Comm_free(&made));
  MUST(MPI_Group_free(&both));

  MUST(MPI_Group_free(&world));
  for (int i = 0; i < 2; i++) {
    MUST(MPI_Comm_free(&comm[i]));
    MUST(MPI_Group_free(&of[i]));
    MUST(MPI_Session_finalize(&session[i]));
  }
  return check_end();
}
