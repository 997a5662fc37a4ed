/* MPI_Comm_spawn and _spawn_multiple: groups, arguments, info keys, error codes, all that works on a merged
 * communicator, and that nothing is left of 50 in a row. Examples 11.1 and 11.3 of the standard among them. */
#include <errno.h>
#include <unistd.h>

#include "family.h"

static char* program;

static MPI_Comm spawn(const char* what, int processes, MPI_Info info, MPI_Comm comm, int root) {
  MPI_Comm children = MPI_COMM_NULL;
  int codes[64];
  char* arguments[] = {(char*)what, NULL};
  memset(codes, 0x55, sizeof codes);
  MUST(MPI_Comm_spawn(program, arguments, processes, info, root, comm, &children, codes));
  for (int i = 0; i < processes; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
  return children;
}

static void groups_and_disconnect(void) {
  int flag = 0, size = 0, remote = 0;
  MPI_Comm children = spawn("greet", 2, MPI_INFO_NULL, MPI_COMM_WORLD, check_size - 1);
  MUST(MPI_Comm_test_inter(children, &flag));
  MUST(MPI_Comm_size(children, &size));
  MUST(MPI_Comm_remote_size(children, &remote));
  CHECK(flag && size == check_size && remote == 2);
  greet(children);
  MUST(MPI_Comm_disconnect(&children));
  CHECK(children == MPI_COMM_NULL);
}

static void merged(void) {
  MPI_Comm children = spawn("merge", 3, MPI_INFO_NULL, MPI_COMM_WORLD, 0), all;
  MUST(MPI_Intercomm_merge(children, 0, &all));
  int rank, size;
  MUST(MPI_Comm_rank(all, &rank));
  MUST(MPI_Comm_size(all, &size));
  CHECK(rank == check_rank && size == check_size + 3);
  use_everything(all);
  MUST(MPI_Comm_disconnect(&all));
  MUST(MPI_Comm_disconnect(&children));
}

/* Each process alone, all at once; and the communicators are freed, not disconnected. */
static void each_its_own(void) {
  MPI_Comm children = spawn("greet", 1, MPI_INFO_NULL, MPI_COMM_SELF, 0);
  greet(children);
  MUST(MPI_Comm_free(&children));
}

static void several_programs(void) {
  char* commands[] = {program, program};
  char* first[] = {"number", "0", "a b", NULL};
  char* second[] = {"number", "1", "", NULL};
  char** arguments[] = {first, second};
  const int processes[] = {1, 2};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm children;
  MUST(MPI_Comm_spawn_multiple(2, commands, arguments, processes, infos, 0, MPI_COMM_WORLD, &children,
                               MPI_ERRCODES_IGNORE));
  int remote = 0;
  MUST(MPI_Comm_remote_size(children, &remote));
  CHECK_EQ(remote, 3);
  MUST(MPI_Comm_disconnect(&children));
}

static void keys(void) {
  MPI_Info info;
  char machine[256];
  int length;
  MUST(MPI_Get_processor_name(machine, &length));
  MUST(MPI_Info_create(&info));
  char file[] = "/tmp/ashlar-keys-XXXXXX";
  const char words[] = "# reserved keys\nwdir = /tmp\nsoft = 3\n";
  const int made = mkstemp(file);
  CHECK(made >= 0 && write(made, words, sizeof words - 1) == (ssize_t)sizeof words - 1);
  close(made);
  MUST(MPI_Info_set(info, "file", file));
  MUST(MPI_Info_set(info, "host", machine));
  MUST(MPI_Info_set(info, "soft", "1:2,7"));
  MUST(MPI_Info_set(info, "unknown_key", "is passed over"));
  char* arguments[] = {"folder", NULL};
  MPI_Comm children;
  int codes[5], remote = 0;
  MUST(MPI_Comm_spawn(program, arguments, 5, info, 0, MPI_COMM_WORLD, &children, codes));
  MUST(MPI_Comm_remote_size(children, &remote));
  CHECK_EQ(remote, 2);
  unlink(file);
  for (int i = 0; i < 5; i++) CHECK_EQ(codes[i] == MPI_SUCCESS, i < 2);
  MUST(MPI_Comm_disconnect(&children));
  MUST(MPI_Info_free(&info));
}

static void fails(const char* command, int processes, MPI_Info info, int class) {
  MPI_Comm children = MPI_COMM_WORLD;
  int codes[3] = {0, 0, 0};
  const int code = MPI_Comm_spawn(command, MPI_ARGV_NULL, processes, info, 0, MPI_COMM_WORLD, &children, codes);
  CHECK_EQ(class_of(code), class);
  CHECK(children == MPI_COMM_NULL);
  for (int i = 0; i < processes; i++) CHECK_EQ(class_of(codes[i]), class);
}

static void errors(void) {
  MPI_Info info;
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  fails("/nowhere/no-such-program", 2, MPI_INFO_NULL, MPI_ERR_SPAWN);
  fails("/bin/true", 2, MPI_INFO_NULL, MPI_ERR_SPAWN); /* calls no MPI_Init */
  MUST(MPI_Info_create(&info));
  MUST(MPI_Info_set(info, "host", "no-such-host.invalid"));
  fails(program, 1, info, MPI_ERR_SPAWN);
  MUST(MPI_Info_delete(info, "host"));
  MUST(MPI_Info_set(info, "arch", "pdp11"));
  fails(program, 1, info, MPI_ERR_SPAWN);
  MUST(MPI_Info_delete(info, "arch"));
  MUST(MPI_Info_set(info, "soft", "seven"));
  fails(program, 1, info, MPI_ERR_SPAWN);
  MUST(MPI_Info_free(&info));
  MUST(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static int open_descriptors(void) {
  int open = 0;
  for (int fd = 0; fd < 1024; fd++) open += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
  return open;
}

static void nothing_is_left(int times) {
  int before = 0;
  for (int i = 0; i < times; i++) {
    MPI_Comm children = spawn("leave", 1, MPI_INFO_NULL, MPI_COMM_WORLD, 0);
    MUST(MPI_Comm_disconnect(&children));
    if (i == 2) before = open_descriptors();
  }
  /* Those of the last children are given back when the transport looks after its peers the next time. */
  CHECK(open_descriptors() <= before + 4, "%d at first, %d now", before, open_descriptors());
}

static void child(MPI_Comm parent, int argc, char** argv) {
  const char* const what = argv[1];
  MPI_Comm all;
  char name[MPI_MAX_OBJECT_NAME];
  int length, *appnum, flag;
  MUST(MPI_Comm_get_name(parent, name, &length));
  CHECK(strcmp(name, "MPI_COMM_PARENT") == 0, "'%s'", name);
  if (strcmp(what, "greet") == 0) greet(parent);
  if (strcmp(what, "merge") == 0) {
    MUST(MPI_Intercomm_merge(parent, 1, &all));
    use_everything(all);
    MUST(MPI_Comm_disconnect(&all));
  }
  if (strcmp(what, "number") == 0) {
    MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
    CHECK(flag && *appnum == atoi(argv[2]));
    CHECK(argc == 4 && strcmp(argv[3], *appnum == 0 ? "a b" : "") == 0);
    CHECK_EQ(*appnum == 0, check_rank == 0);
  }
  if (strcmp(what, "folder") == 0) {
    char folder[64] = "";
    CHECK(getcwd(folder, sizeof folder) != NULL && strcmp(folder, "/tmp") == 0, "%s", folder);
  }
  if (strcmp(what, "greet") == 0 && check_size == 1)
    MUST(MPI_Comm_free(&parent));
  else
    MUST(MPI_Comm_disconnect(&parent));
  MUST(MPI_Comm_get_parent(&parent));
  CHECK(parent == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  check_start(&argc, &argv);
  program = argv[0];
  MUST(MPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) {
    child(parent, argc, argv);
    return check_end();
  }
  groups_and_disconnect();
  merged();
  each_its_own();
  several_programs();
  keys();
  errors();
  nothing_is_left(argc > 1 ? atoi(argv[1]) : 10);
  int *universe, flag;
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
  CHECK(flag && *universe >= check_size);
  return check_end();
}
