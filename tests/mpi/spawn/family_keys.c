/* Reserved info keys that change how children begin: path, mpi_initial_errhandler, mpi_memory_alloc_kinds. */
#include <libgen.h>

#include "family.h"

static MPI_Info info_of(const char* key, const char* value) {
  MPI_Info info;
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, key, value));
  return info;
}

static void spawn_and_greet(const char* command, const char* what, MPI_Info info) {
  char* arguments[] = {(char*)what, NULL};
  MPI_Comm children = MPI_COMM_NULL;
  MUST(MPI_Comm_spawn(command, arguments, 2, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
  greet(children);
  MUST(MPI_Comm_disconnect(&children));
  MUST(MPI_Info_free(&info));
}

/* A list of folders; the program is in the last. */
static void path(const char* program) {
  char folder[4096], name[4096], list[4200];
  snprintf(folder, sizeof folder, "%s", program);
  snprintf(name, sizeof name, "%s", program);
  snprintf(list, sizeof list, "/nowhere:/tmp:%s", dirname(folder));
  spawn_and_greet(basename(name), "greet", info_of("path", list));
  MPI_Comm children = MPI_COMM_WORLD;
  MPI_Info info = info_of("path", "/nowhere:/tmp");
  CHECK_EQ(class_of(MPI_Comm_spawn(basename(name), MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &children,
                                   MPI_ERRCODES_IGNORE)),
           MPI_ERR_SPAWN);
  CHECK(children == MPI_COMM_NULL);
  MUST(MPI_Info_free(&info));
}

static void initial_errhandler(const char* program) {
  spawn_and_greet(program, "returns", info_of("mpi_initial_errhandler", "mpi_errors_return"));
  spawn_and_greet(program, "fatal", info_of("soft", "2"));
  MPI_Info info = info_of("mpi_initial_errhandler", "no_such_handler");
  MPI_Comm children = MPI_COMM_WORLD;
  CHECK_EQ(class_of(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE)),
           MPI_ERR_SPAWN);
  CHECK(children == MPI_COMM_NULL);
  MUST(MPI_Info_free(&info));
}

static void memory_alloc_kinds(const char* program) {
  spawn_and_greet(program, "kinds", info_of("mpi_memory_alloc_kinds", "system,mpi:alloc_mem,unheard_of"));
}

static void child(const char* what, MPI_Comm parent) {
  MPI_Errhandler handler;
  if (strcmp(what, "returns") == 0 || strcmp(what, "fatal") == 0) {
    MUST(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    CHECK_EQ(handler == MPI_ERRORS_RETURN, strcmp(what, "returns") == 0);
    CHECK_EQ(handler == MPI_ERRORS_ARE_FATAL, strcmp(what, "fatal") == 0);
  }
  if (strcmp(what, "kinds") == 0) {
    MPI_Info used;
    char kinds[MPI_MAX_INFO_VAL] = "";
    int length = sizeof kinds, flag = 0;
    MUST(MPI_Comm_get_info(MPI_COMM_WORLD, &used));
    MUST(MPI_Info_get_string(used, "mpi_memory_alloc_kinds", &length, kinds, &flag));
    CHECK(flag && strstr(kinds, "mpi:alloc_mem") != NULL && strstr(kinds, "unheard_of") == NULL, "%s", kinds);
    MUST(MPI_Info_free(&used));
  }
  greet(parent);
  MUST(MPI_Comm_disconnect(&parent));
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MUST(MPI_Init(&argc, &argv)); /* not check_start(): it sets the error handlers that are looked at */
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  MUST(MPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) {
    child(argv[1], parent);
    return check_end();
  }
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  path(argv[0]);
  initial_errhandler(argv[0]);
  memory_alloc_kinds(argv[0]);
  return check_end();
}
