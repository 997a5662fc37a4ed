/* Indices (MPI-5.0, 15.3.6.2, 15.3.7.2, 15.3.8.3, 15.3.9): what one has meant it means for as long as the process
 * lives, while lists grow with components that are opened, files, windows and sessions, shrink never, and the stamp of
 * the categories moves whenever one of them did. */
#include "check.h"

enum { kKinds = 4, kMost = 4096, kName = 160 };

typedef struct {
  const char* what;
  int (*number)(int* number);
  int (*name)(int index, char* name, int* length, int* class);
  int (*find)(const char* name, int class, int* index);
  int known, class_of[kMost];
  char name_of[kMost][kName];
} Kind;

static int cvar_name(int index, char* name, int* length, int* class) {
  *class = 0;
  return MPI_T_cvar_get_info(index, name, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}
static int cvar_find(const char* name, int class, int* index) {
  (void)class;
  return MPI_T_cvar_get_index(name, index);
}
static int pvar_name(int index, char* name, int* length, int* class) {
  return MPI_T_pvar_get_info(index, name, length, NULL, class, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}
static int event_name(int index, char* name, int* length, int* class) {
  *class = 0;
  return MPI_T_event_get_info(index, name, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}
static int event_find(const char* name, int class, int* index) {
  (void)class;
  return MPI_T_event_get_index(name, index);
}
static int category_name(int index, char* name, int* length, int* class) {
  *class = 0;
  return MPI_T_category_get_info(index, name, length, NULL, NULL, NULL, NULL, NULL);
}
static int category_find(const char* name, int class, int* index) {
  (void)class;
  return MPI_T_category_get_index(name, index);
}

static Kind kinds[kKinds] = {
    {.what = "cvar", .number = MPI_T_cvar_get_num, .name = cvar_name, .find = cvar_find},
    {.what = "pvar", .number = MPI_T_pvar_get_num, .name = pvar_name, .find = MPI_T_pvar_get_index},
    {.what = "event", .number = MPI_T_event_get_num, .name = event_name, .find = event_find},
    {.what = "category", .number = MPI_T_category_get_num, .name = category_name, .find = category_find}};

static void look_at(Kind* kind, const char* when) {
  int number = 0;
  CHECK_EQ(kind->number(&number), MPI_SUCCESS);
  CHECK(number >= kind->known, "%s: %d of %d %s remain", when, number, kind->known, kind->what);
  CHECK(number <= kMost, "%s: %d", kind->what, number);
  for (int i = 0; i < number && i < kMost; ++i) {
    char name[kName];
    int length = sizeof name, class = -1, found = -1;
    CHECK_EQ(kind->name(i, name, &length, &class), MPI_SUCCESS);
    if (i < kind->known) {
      CHECK(strcmp(name, kind->name_of[i]) == 0 && class == kind->class_of[i], "%s: %s %d was %s and is %s", when,
            kind->what, i, kind->name_of[i], name);
    } else {
      strcpy(kind->name_of[i], name);
      kind->class_of[i] = class;
    }
    CHECK_EQ(kind->find(name, class, &found), MPI_SUCCESS);
    CHECK(found == i, "%s: %s %s is number %d and %d", when, kind->what, name, i, found);
  }
  kind->known = number;
}

static int stamp = -1, sizes_known = 0;
static int sizes[kMost][3];

/* The numbers of what the categories hold move only with their stamp, and only upwards. */
static void look_at_categories(const char* when) {
  int number = 0, now = -1, moved = 0;
  CHECK_EQ(MPI_T_category_changed(&now), MPI_SUCCESS);
  CHECK_EQ(MPI_T_category_get_num(&number), MPI_SUCCESS);
  moved = number != sizes_known;
  for (int i = 0; i < number && i < kMost; ++i) {
    int held[3] = {0, 0, 0}, name_length = 0, text_length = 0;
    CHECK_EQ(MPI_T_category_get_info(i, NULL, &name_length, NULL, &text_length, &held[0], &held[1], &held[2]),
             MPI_SUCCESS);
    for (int k = 0; k < 3; ++k) {
      if (i < sizes_known) {
        CHECK(held[k] >= sizes[i][k], "%s: category %d held %d and holds %d", when, i, sizes[i][k], held[k]);
        moved |= held[k] != sizes[i][k];
      }
      sizes[i][k] = held[k];
    }
  }
  sizes_known = number;
  CHECK(now >= stamp, "%s: the stamp was %d and is %d", when, stamp, now);
  if (moved) CHECK(now > stamp, "%s: a category has changed, and the stamp %d has not", when, stamp);
  stamp = now;
}

static void look(const char* when) {
  for (int k = 0; k < kKinds; ++k) look_at(&kinds[k], when);
  look_at_categories(when);
}

static void session(void) {
  MPI_Session mine;
  MPI_Group group;
  MPI_Comm comm;
  MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &mine));
  MUST(MPI_Group_from_session_pset(mine, "mpi://SELF", &group));
  MUST(MPI_Comm_create_from_group(group, "tools_growth", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MUST(MPI_Group_free(&group));
  look("in a session");
  MUST(MPI_Comm_disconnect(&comm));
  MUST(MPI_Session_finalize(&mine));
  look("after a session");
}

static void work(void) {
  MPI_Win window;
  MPI_File file;
  void* memory;
  int one = 1, sum = 0;
  MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  look("after a collective");
  MUST(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
  look("with a window");
  MUST(MPI_Win_free(&window));
  MUST(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  look("with a file");
  MUST(MPI_File_close(&file));
  look("without window and file");
}

int main(int argc, char** argv) {
  int provided = 0, before = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  look("at first");
  before = kinds[1].known;
  session();
  check_start(&argc, &argv);
  look("after MPI_Init");
  CHECK(kinds[1].known > before, "%d variables for performance before and after the start", before);
  work();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  look("when the tools interface has begun again");
  const int status = check_end();
  look("after MPI_Finalize"); /* closed components stay listed */
  session();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return status != 0 || check_failures != 0;
}
