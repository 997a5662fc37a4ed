/* Every kind of wrong argument gives the class the standard names and a sentence with the facts: the call, the
 * argument, the value. `error_classes --classes` looks at the classes only. */
#include "check.h"

static int texts = 1;

/* `words`: what the text has to contain, separated by blanks. */
static void check_bad(int line, const char* call, int code, int should, const char* words) {
  char text[MPI_MAX_ERROR_STRING], list[256], should_text[MPI_MAX_ERROR_STRING];
  int length, is = 0;
  MPI_Error_class(code, &is);
  MPI_Error_string(code, text, &length);
  MPI_Error_string(should, should_text, &length);
  if (is != should) {
    check_failed(__FILE__, line, NULL, "%s gives class %d (%s), not %d (%s)", call, is, text, should, should_text);
    return;
  }
  snprintf(list, sizeof list, "%s", words);
  for (char* word = strtok(list, " "); texts && word; word = strtok(NULL, " "))
    if (!strstr(text, word)) check_failed(__FILE__, line, NULL, "%s: \"%s\" does not say \"%s\"", call, text, word);
}

#define BAD(mpi_class, words, call) check_bad(__LINE__, #call, (call), (mpi_class), (words))

static int value = 1, other = 2;
static MPI_Status status;
static MPI_Request request;

static void point_to_point(void) {
  const MPI_Comm w = MPI_COMM_WORLD;
  int flag;
  BAD(MPI_ERR_RANK, "MPI_Send dest 4711", MPI_Send(&value, 1, MPI_INT, 4711, 0, w));
  BAD(MPI_ERR_RANK, "MPI_Send dest -7", MPI_Send(&value, 1, MPI_INT, -7, 0, w));
  BAD(MPI_ERR_RANK, "MPI_Isend dest", MPI_Isend(&value, 1, MPI_INT, check_size, 0, w, &request));
  BAD(MPI_ERR_RANK, "MPI_Ssend dest", MPI_Ssend(&value, 1, MPI_INT, check_size, 0, w));
  BAD(MPI_ERR_RANK, "MPI_Send dest", MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, w));
  BAD(MPI_ERR_RANK, "MPI_Recv source 4711", MPI_Recv(&value, 1, MPI_INT, 4711, 0, w, &status));
  BAD(MPI_ERR_RANK, "MPI_Irecv source", MPI_Irecv(&value, 1, MPI_INT, -9, 0, w, &request));
  BAD(MPI_ERR_RANK, "MPI_Probe source", MPI_Probe(check_size, 0, w, &status));
  BAD(MPI_ERR_RANK, "MPI_Iprobe source", MPI_Iprobe(check_size, 0, w, &flag, &status));
  BAD(MPI_ERR_RANK, "MPI_Sendrecv source",
      MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 999, 0, w, &status));
  BAD(MPI_ERR_TAG, "MPI_Send tag -5", MPI_Send(&value, 1, MPI_INT, 0, -5, w));
  BAD(MPI_ERR_TAG, "MPI_Send tag", MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, w));
  BAD(MPI_ERR_TAG, "MPI_Recv tag -99", MPI_Recv(&value, 1, MPI_INT, 0, -99, w, &status));
  BAD(MPI_ERR_COUNT, "MPI_Send count -1", MPI_Send(&value, -1, MPI_INT, 0, 0, w));
  BAD(MPI_ERR_COUNT, "MPI_Recv count -3", MPI_Recv(&value, -3, MPI_INT, 0, 0, w, &status));
  BAD(MPI_ERR_TYPE, "MPI_Send datatype MPI_DATATYPE_NULL", MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, w));
  BAD(MPI_ERR_COMM, "MPI_Send comm MPI_COMM_NULL", MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  BAD(MPI_ERR_COMM, "MPI_Comm_rank comm", MPI_Comm_rank(MPI_COMM_NULL, &value));
  BAD(MPI_ERR_BUFFER, "MPI_Send buf", MPI_Send(NULL, 1, MPI_INT, 0, 0, w));
  BAD(MPI_ERR_BUFFER, "MPI_Recv buf", MPI_Recv(NULL, 1, MPI_INT, 0, 0, w, &status));
  /* Nothing to send needs no buffer; without a destination no count needs to be right. */
  MUST(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, w));
  MUST(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, w));
}

static void datatypes(void) {
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Datatype t, u;
  MUST(MPI_Type_contiguous(2, MPI_INT, &t));
  BAD(MPI_ERR_TYPE, "MPI_Send datatype commit", MPI_Send(&value, 1, t, 0, 0, w)); /* not committed */
  MUST(MPI_Type_free(&t));
  BAD(MPI_ERR_TYPE, "MPI_Type_free", MPI_Type_free(&t));
  t = MPI_INT;
  BAD(MPI_ERR_TYPE, "MPI_Type_free MPI_INT", MPI_Type_free(&t));
  BAD(MPI_ERR_COUNT, "MPI_Type_contiguous count -1", MPI_Type_contiguous(-1, MPI_INT, &t));
  BAD(MPI_ERR_TYPE, "MPI_Type_contiguous oldtype", MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t));
  BAD(MPI_ERR_COUNT, "MPI_Type_vector count", MPI_Type_vector(-2, 1, 1, MPI_INT, &t));
  BAD(MPI_ERR_TYPE, "MPI_Type_size", MPI_Type_size(MPI_DATATYPE_NULL, &value));
  const int bad[2] = {1, -4}, places[2] = {0, 1};
  BAD(MPI_ERR_COUNT, "MPI_Type_indexed blocklength -4", MPI_Type_indexed(2, bad, places, MPI_INT, &t));
  if (texts) { /* handles that point nowhere; some libraries crash */
    MUST(MPI_Type_contiguous(2, MPI_INT, &t));
    u = t;
    MUST(MPI_Type_free(&t));
    BAD(MPI_ERR_TYPE, "MPI_Send datatype", MPI_Send(&value, 1, u, 0, 0, w));
    BAD(MPI_ERR_TYPE, "MPI_Send datatype", MPI_Send(&value, 1, (MPI_Datatype)(uintptr_t)0x5a5a5a50, 0, 0, w));
    BAD(MPI_ERR_TYPE, "MPI_Send datatype", MPI_Send(&value, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, 0, w));
  }
}

static void collectives(void) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const int n = check_size;
  int* many = calloc((size_t)n * 4 + 4, sizeof *many);
  BAD(MPI_ERR_ROOT, "MPI_Bcast root 4711", MPI_Bcast(&value, 1, MPI_INT, 4711, w));
  BAD(MPI_ERR_ROOT, "MPI_Bcast root -1", MPI_Bcast(&value, 1, MPI_INT, -1, w));
  BAD(MPI_ERR_ROOT, "MPI_Reduce root", MPI_Reduce(&value, &other, 1, MPI_INT, MPI_SUM, n, w));
  BAD(MPI_ERR_ROOT, "MPI_Gather root", MPI_Gather(&value, 1, MPI_INT, many, 1, MPI_INT, n + 3, w));
  BAD(MPI_ERR_ROOT, "MPI_Iscatter root", MPI_Iscatter(many, 1, MPI_INT, &value, 1, MPI_INT, -2, w, &request));
  BAD(MPI_ERR_COUNT, "MPI_Bcast count -1", MPI_Bcast(&value, -1, MPI_INT, 0, w));
  BAD(MPI_ERR_COUNT, "MPI_Allreduce count", MPI_Allreduce(&value, &other, -8, MPI_INT, MPI_SUM, w));
  BAD(MPI_ERR_COUNT, "MPI_Allgather sendcount", MPI_Allgather(&value, -1, MPI_INT, many, 1, MPI_INT, w));
  BAD(MPI_ERR_COUNT, "MPI_Allgather recvcount", MPI_Allgather(&value, 1, MPI_INT, many, -1, MPI_INT, w));
  BAD(MPI_ERR_TYPE, "MPI_Bcast datatype", MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, w));
  BAD(MPI_ERR_TYPE, "MPI_Alltoall recvtype", MPI_Alltoall(many, 1, MPI_INT, many + n, 1, MPI_DATATYPE_NULL, w));
  BAD(MPI_ERR_OP, "MPI_Allreduce op MPI_OP_NULL", MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_OP_NULL, w));
  BAD(MPI_ERR_OP, "MPI_BAND MPI_DOUBLE", MPI_Allreduce(many, many + 2, 1, MPI_DOUBLE, MPI_BAND, w));
  BAD(MPI_ERR_OP, "MPI_MAXLOC MPI_INT", MPI_Iallreduce(&value, &other, 1, MPI_INT, MPI_MAXLOC, w, &request));
  BAD(MPI_ERR_COMM, "MPI_Barrier comm", MPI_Barrier(MPI_COMM_NULL));
  BAD(MPI_ERR_COMM, "MPI_Ibarrier comm", MPI_Ibarrier(MPI_COMM_NULL, &request));
  BAD(MPI_ERR_BUFFER, "MPI_Bcast buffer", MPI_Bcast(NULL, 1, MPI_INT, 0, w));
  BAD(MPI_ERR_BUFFER, "MPI_Allreduce sendbuf", MPI_Allreduce(NULL, &other, 1, MPI_INT, MPI_SUM, w));
  BAD(MPI_ERR_BUFFER, "MPI_Bcast MPI_IN_PLACE", MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, w));
  BAD(MPI_ERR_BUFFER, "MPI_Allreduce recvbuf MPI_IN_PLACE",
      MPI_Allreduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, w));
  many[n - 1] = -6;
  BAD(MPI_ERR_COUNT, "MPI_Allgatherv recvcounts -6",
      MPI_Allgatherv(&value, 1, MPI_INT, many + n, many, many + 2 * n, MPI_INT, w));
  free(many);
}

static void objects(void) {
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Comm comm = MPI_COMM_NULL, copy;
  MPI_Group group = MPI_GROUP_NULL, world;
  MPI_Request r;
  int flag;
  BAD(MPI_ERR_COMM, "MPI_Comm_free", MPI_Comm_free(&comm));
  comm = MPI_COMM_WORLD;
  BAD(MPI_ERR_COMM, "MPI_Comm_free MPI_COMM_WORLD", MPI_Comm_free(&comm));
  BAD(MPI_ERR_COMM, "MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_NULL, &comm));
  BAD(MPI_ERR_ARG, "MPI_Comm_split color -4", MPI_Comm_split(w, -4, 0, &comm));
  BAD(MPI_ERR_GROUP, "MPI_Comm_create group", MPI_Comm_create(w, MPI_GROUP_NULL, &comm));
  BAD(MPI_ERR_GROUP, "MPI_Group_size", MPI_Group_size(group, &value));
  BAD(MPI_ERR_GROUP, "MPI_Group_free", MPI_Group_free(&group));
  MUST(MPI_Comm_group(w, &world));
  const int outside = check_size, twice[2] = {0, 0};
  BAD(MPI_ERR_RANK, "MPI_Group_incl ranks", MPI_Group_incl(world, 1, &outside, &group));
  BAD(MPI_ERR_RANK, "MPI_Group_incl ranks", MPI_Group_incl(world, 2, twice, &group));
  MUST(MPI_Group_free(&world));
  BAD(MPI_ERR_OP, "MPI_Op_free", MPI_Op_free(&(MPI_Op){MPI_OP_NULL}));
  BAD(MPI_ERR_OP, "MPI_Op_free MPI_SUM", MPI_Op_free(&(MPI_Op){MPI_SUM}));
  BAD(MPI_ERR_KEYVAL, "MPI_Comm_set_attr", MPI_Comm_set_attr(w, MPI_KEYVAL_INVALID, &value));
  BAD(MPI_ERR_REQUEST, "MPI_Request_free", MPI_Request_free(&(MPI_Request){MPI_REQUEST_NULL}));
  BAD(MPI_ERR_ARG, "MPI_Error_class", MPI_Error_class(-12345, &value));
  if (!texts) return;
  MUST(MPI_Comm_dup(w, &comm));
  copy = comm;
  MUST(MPI_Comm_free(&comm));
  BAD(MPI_ERR_COMM, "MPI_Comm_size comm", MPI_Comm_size(copy, &value));
  BAD(MPI_ERR_COMM, "MPI_Send comm", MPI_Send(&value, 1, MPI_INT, 0, 0, copy));
  BAD(MPI_ERR_COMM, "MPI_Comm_size comm", MPI_Comm_size((MPI_Comm)(uintptr_t)0x7a7a7a70, &value));
  BAD(MPI_ERR_COMM, "MPI_Comm_size comm", MPI_Comm_size((MPI_Comm)MPI_INT, &value));
  BAD(MPI_ERR_COMM, "MPI_Comm_size comm", MPI_Comm_size((MPI_Comm)(uintptr_t)0xfff, &value));
  r = (MPI_Request)(uintptr_t)0x6b6b6b60;
  BAD(MPI_ERR_REQUEST, "MPI_Wait request", MPI_Wait(&r, &status));
  BAD(MPI_ERR_REQUEST, "MPI_Test request", MPI_Test(&r, &flag, &status));
  BAD(MPI_ERR_REQUEST, "MPI_Waitall", MPI_Waitall(1, &r, &status));
}

/* A wrong call has no effect: afterwards everything still works. */
static void still_working(void) {
  int sum = 0;
  MUST(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, check_size * (check_size - 1) / 2);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  texts = !(argc > 1 && strcmp(argv[1], "--classes") == 0);
  point_to_point();
  datatypes();
  collectives();
  objects();
  still_working();
  return check_end();
}
