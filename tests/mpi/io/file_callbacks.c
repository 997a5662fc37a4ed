/* Data representations of the program (MPI-5.0, 14.5.3): what their functions are called with, in every kind of access;
 * that a failure of one is an error of the call, on all ranks of a collective one; the view that a file begins with;
 * and files of a communicator that a session has made. */
#include "io.h"

static const char* name;

typedef struct {
  int reads, writes, extents, fails;
  long long entries;
} State;
static State state;

/* In the file an int has 6 bytes, the first two of which say that it is one; a double has 8. */
static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* given) {
  int combiner = 0, integers, addresses, types;
  State* const s = given;
  s->extents++;
  MUST(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
  CHECK(combiner == MPI_COMBINER_NAMED, "the extent function is asked for a derived datatype");
  *extent = type == MPI_INT ? 6 : 8;
  return MPI_SUCCESS;
}

/* Entry `at` of items of an int and two doubles, or of ints. */
static void* entry_of(void* memory, MPI_Datatype type, MPI_Offset at, int* is_int) {
  int size = 0;
  MUST(MPI_Type_size(type, &size));
  *is_int = size % 20 != 0 || at % 3 == 0;
  if (size % 20 != 0) return (char*)memory + 4 * at;
  return (char*)memory + at / 3 * 24 + (at % 3 == 0 ? 0 : at % 3 * 8);
}

static int convert(void* memory, MPI_Datatype type, int count, char* file, MPI_Offset position, State* s, int writes) {
  (writes ? &s->writes : &s->reads)[0]++;
  CHECK(count > 0 && position >= 0);
  s->entries += count;
  if (s->fails) return s->fails;
  for (int i = 0; i < count; i++) {
    int is_int;
    char* const entry = entry_of(memory, type, position + i, &is_int);
    char* const data = is_int ? file + 2 : file;
    if (is_int && writes) memcpy(file, "in", 2);
    if (is_int && !writes) CHECK(memcmp(file, "in", 2) == 0);
    writes ? memcpy(data, entry, is_int ? 4 : 8) : memcpy(entry, data, is_int ? 4 : 8);
    file += is_int ? 6 : 8;
  }
  return MPI_SUCCESS;
}
static int on_read(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* given) {
  return convert(memory, type, count, file, position, given, 0);
}
static int on_write(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* given) {
  return convert(memory, type, count, file, position, given, 1);
}
static int on_read_c(void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* given) {
  return convert(memory, type, (int)count, file, position, given, 0);
}
static int on_write_c(void* memory, MPI_Datatype type, MPI_Count count, void* file, MPI_Offset position, void* given) {
  return convert(memory, type, (int)count, file, position, given, 1);
}

typedef struct {
  int number;
  double values[2];
} Item;

static MPI_Datatype item_type(void) {
  MPI_Datatype type;
  const int lengths[2] = {1, 2};
  const MPI_Aint at[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MUST(MPI_Type_create_struct(2, lengths, at, types, &type));
  MUST(MPI_Type_commit(&type));
  return type;
}

static void transfer(MPI_File file, int form, int writes, void* data, int count, MPI_Datatype type,
                     MPI_Status* status) {
  MPI_Request request;
  const MPI_Offset at = (MPI_Offset)check_rank * count;
  if (form == 0)
    MUST(writes ? MPI_File_write_at(file, at, data, count, type, status)
                : MPI_File_read_at(file, at, data, count, type, status));
  if (form == 1)
    MUST(writes ? MPI_File_write_at_all(file, at, data, count, type, status)
                : MPI_File_read_at_all(file, at, data, count, type, status));
  if (form == 2) {
    MUST(writes ? MPI_File_iwrite_at(file, at, data, count, type, &request)
                : MPI_File_iread_at(file, at, data, count, type, &request));
    MUST(MPI_Wait(&request, status));
  }
  if (form == 3) {
    MUST(writes ? MPI_File_iwrite_at_all(file, at, data, count, type, &request)
                : MPI_File_iread_at_all(file, at, data, count, type, &request));
    MUST(MPI_Wait(&request, status));
  }
  if (form == 4) {
    MUST(writes ? MPI_File_write_at_all_begin(file, at, data, count, type)
                : MPI_File_read_at_all_begin(file, at, data, count, type));
    MUST(writes ? MPI_File_write_at_all_end(file, data, status) : MPI_File_read_at_all_end(file, data, status));
  }
  if (form == 5) {
    MUST(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    MUST(writes ? MPI_File_write_ordered(file, data, count, type, status)
                : MPI_File_read_ordered(file, data, count, type, status));
  }
}

static void items(const char* datarep) {
  enum { kItems = 700 };
  MPI_Datatype item = item_type();
  MPI_Status status;
  Item *out = check_alloc(kItems * sizeof *out), *in = check_alloc(kItems * sizeof *in);
  memset(out, 0, kItems * sizeof *out);
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MUST(MPI_File_set_view(file, 0, item, item, datarep, MPI_INFO_NULL));
  for (int form = 0; form < 6; form++) {
    for (int i = 0; i < kItems; i++)
      out[i] = (Item){.number = form + i * 3 + check_rank, .values = {i / 4.0, check_rank + form}};
    state.entries = 0;
    transfer(file, form, 1, out, kItems, item, &status);
    CHECK(moved(&status) == kItems * 20, "%s, form %d: %lld bytes", datarep, form, moved(&status));
    CHECK_EQ(state.entries, 3 * kItems);
    file_settle(file);
    memset(in, 0, kItems * sizeof *in);
    transfer(file, form, 0, in, kItems, item, &status);
    CHECK(moved(&status) == kItems * 20, "%s, form %d: %lld bytes", datarep, form, moved(&status));
    CHECK(memcmp(in, out, kItems * sizeof *in) == 0, "%s, form %d: other items", datarep, form);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  MUST(MPI_File_close(&file));
  MUST(MPI_Type_free(&item));
  free(out);
  free(in);
}

/* A failure is MPI_ERR_CONVERSION, on all where one fails in a collective access; and the next access works. */
static void failures(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Status status;
  MPI_Request request;
  int data[4] = {1, 2, 3, check_rank};
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "six", MPI_INFO_NULL));
  MUST(MPI_File_write_at_all(file, 4 * check_rank, data, 4, MPI_INT, &status));
  state.fails = MPI_ERR_OTHER;
  CHECK_CLASS(MPI_File_write_at(file, 0, data, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
  CHECK_CLASS(MPI_File_read_at(file, 0, data, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
  int code = MPI_File_iread_at(file, 0, data, 1, MPI_INT, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
  CHECK_EQ(class_of(code), MPI_ERR_CONVERSION);
  state.fails = check_rank == check_size - 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
  CHECK_CLASS(MPI_File_write_at_all(file, 4 * check_rank, data, 4, MPI_INT, &status), MPI_ERR_CONVERSION);
  CHECK_CLASS(MPI_File_read_at_all(file, 4 * check_rank, data, 4, MPI_INT, &status), MPI_ERR_CONVERSION);
  state.fails = MPI_SUCCESS;
  MUST(MPI_File_read_at_all(file, 4 * check_rank, data, 4, MPI_INT, &status));
  CHECK(data[0] == 1 && data[3] == check_rank);
  MUST(MPI_File_close(&file));
  char long_name[MPI_MAX_DATAREP_STRING + 1];
  memset(long_name, 'r', sizeof long_name);
  long_name[MPI_MAX_DATAREP_STRING] = '\0';
  CHECK_CLASS(MPI_Register_datarep(long_name, on_read, on_write, extent_of, &state), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Register_datarep("external32", on_read, on_write, extent_of, &state), MPI_ERR_DUP_DATAREP);
}

static void first_view(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Offset disp = -1;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING];
  MUST(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
  CHECK(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(datarep, "native") == 0);
  MUST(MPI_File_close(&file));
}

static void of_a_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_File file;
  MPI_Status status;
  int value = 10 + check_rank, back = -1;
  MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  MUST(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  MUST(MPI_Comm_create_from_group(group, "files", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MUST(MPI_Group_free(&group));
  MUST(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  MUST(MPI_Comm_free(&comm));
  MUST(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  MUST(MPI_File_read_at_all(file, 4 * check_rank, &back, 1, MPI_INT, &status));
  CHECK_EQ(back, value);
  MUST(MPI_File_close(&file));
  MUST(MPI_Session_finalize(&session));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  name = file_name("callbacks");
  MUST(MPI_Register_datarep("six", on_read, on_write, extent_of, &state));
  MUST(MPI_Register_datarep_c("six, large", on_read_c, on_write_c, extent_of, &state));
  items("six");
  items("six, large");
  CHECK(state.extents > 0 && state.reads > 0 && state.writes > 0);
  failures();
  first_view();
  of_a_session();
  return check_end();
}
