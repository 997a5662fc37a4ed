/* Generalized requests: which callback runs when and how often, alone and among others; what their errors become; and
 * looking at requests without completing them. */
#include "check.h"

typedef struct {
  int queries, frees, cancels, complete_seen, query_code, free_code;
} Operation;

static int query(void* state, MPI_Status* status) {
  Operation* o = state;
  o->queries++;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, o->cancels > 0 && !o->complete_seen);
  status->MPI_SOURCE = 17;
  status->MPI_TAG = 18;
  return o->query_code;
}
static int free_it(void* state) {
  Operation* o = state;
  o->frees++;
  return o->free_code;
}
static int cancel(void* state, int complete) {
  Operation* o = state;
  o->cancels++;
  o->complete_seen = complete;
  return MPI_SUCCESS;
}

static int class_of(int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  return class;
}

static MPI_Request begin(Operation* o) {
  MPI_Request r;
  MUST(MPI_Grequest_start(query, free_it, cancel, o, &r));
  return r;
}

static void one(void) {
  Operation o = {0};
  MPI_Request r = begin(&o);
  MPI_Status s;
  int flag = 1, count = 0;
  MUST(MPI_Test(&r, &flag, &s));
  CHECK(!flag && o.queries == 0);
  MUST(MPI_Request_get_status(r, &flag, &s));
  CHECK(!flag && o.queries == 0);
  MUST(MPI_Grequest_complete(r));
  for (int i = 1; i <= 2; i++) { /* queried as often as it is tested */
    MUST(MPI_Request_get_status(r, &flag, i == 1 ? &s : MPI_STATUS_IGNORE));
    CHECK(flag && o.queries == i && o.frees == 0);
  }
  s.MPI_ERROR = 4711;
  MUST(MPI_Wait(&r, &s));
  CHECK(r == MPI_REQUEST_NULL && o.queries == 3 && o.frees == 1);
  CHECK(s.MPI_SOURCE == 17 && s.MPI_TAG == 18 && s.MPI_ERROR == 4711);
  MUST(MPI_Get_count(&s, MPI_INT, &count));
  CHECK_EQ(count, 3);
}

/* Freed before and after it is complete: the free function runs at the later of the two. */
static void freed(void) {
  Operation a = {0}, b = {0};
  MPI_Request r = begin(&a), copy = r;
  MUST(MPI_Request_free(&r));
  CHECK(r == MPI_REQUEST_NULL && a.frees == 0);
  MUST(MPI_Grequest_complete(copy));
  CHECK(a.frees == 1 && a.queries == 0);
  r = begin(&b);
  MUST(MPI_Grequest_complete(r));
  CHECK(b.frees == 0);
  MUST(MPI_Request_free(&r));
  CHECK(b.frees == 1);
}

static void cancelled(void) {
  Operation o = {0}, late = {0};
  MPI_Request r = begin(&o);
  MPI_Status s;
  int flag = 0;
  MUST(MPI_Cancel(&r));
  CHECK(o.cancels == 1 && !o.complete_seen);
  MUST(MPI_Grequest_complete(r));
  MUST(MPI_Wait(&r, &s));
  MUST(MPI_Test_cancelled(&s, &flag));
  CHECK(flag);
  r = begin(&late);
  MUST(MPI_Grequest_complete(r));
  MUST(MPI_Cancel(&r));
  CHECK(late.cancels == 1 && late.complete_seen);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK(late.frees == 1);
}

static void among_others(void) {
  Operation o[3] = {{0}};
  int in = 0, out = 9, index, flag, outcount, indices[4];
  MPI_Request r[4];
  MPI_Status s[4];
  for (int i = 0; i < 3; i++) r[i] = begin(&o[i]);
  MUST(MPI_Irecv(&in, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &r[3]));
  MUST(MPI_Send(&out, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD));
  MUST(MPI_Waitany(4, r, &index, &s[0]));
  CHECK_EQ(index, 3);
  MUST(MPI_Grequest_complete(r[1]));
  MUST(MPI_Testsome(4, r, &outcount, indices, s));
  CHECK(outcount == 1 && indices[0] == 1 && o[1].frees == 1);
  MUST(MPI_Request_get_status_any(4, r, &index, &flag, &s[0]));
  CHECK(!flag && index == MPI_UNDEFINED);
  MUST(MPI_Grequest_complete(r[2]));
  MUST(MPI_Request_get_status_any(4, r, &index, &flag, &s[0]));
  CHECK(flag && index == 2 && s[0].MPI_TAG == 18 && o[2].frees == 0);
  MUST(MPI_Request_get_status_some(4, r, &outcount, indices, s));
  CHECK(outcount == 1 && indices[0] == 2);
  MUST(MPI_Request_get_status_all(4, r, &flag, s));
  CHECK(!flag);
  MUST(MPI_Grequest_complete(r[0]));
  MUST(MPI_Request_get_status_all(4, r, &flag, s));
  CHECK(flag && s[0].MPI_TAG == 18 && s[3].MPI_TAG == MPI_ANY_TAG);
  MUST(MPI_Waitall(4, r, s));
  for (int i = 0; i < 3; i++) CHECK_EQ(o[i].frees, 1);
}

/* Callbacks that fail: the free function's code comes last, and so counts. */
static void failing(void) {
  int class, code, index, flag;
  MUST(MPI_Add_error_class(&class));
  MUST(MPI_Add_error_code(class, &code));
  Operation o = {.query_code = MPI_ERR_OTHER}, both = {.query_code = MPI_ERR_OTHER, .free_code = code};
  MPI_Request r[2] = {begin(&o), MPI_REQUEST_NULL};
  MPI_Status s[2];
  MUST(MPI_Grequest_complete(r[0]));
  CHECK_EQ(class_of(MPI_Request_get_status(r[0], &flag, s)), MPI_ERR_OTHER);
  CHECK_EQ(class_of(MPI_Wait(r, s)), MPI_ERR_OTHER);
  CHECK_EQ(o.frees, 1);
  r[0] = begin(&both);
  MUST(MPI_Grequest_complete(r[0]));
  CHECK_EQ(class_of(MPI_Waitany(2, r, &index, s)), class);
  r[0] = begin(&both);
  MUST(MPI_Grequest_complete(r[0]));
  CHECK_EQ(class_of(MPI_Waitall(2, r, s)), MPI_ERR_IN_STATUS);
  CHECK_EQ(class_of(s[0].MPI_ERROR), class);
  CHECK_EQ(s[1].MPI_ERROR, MPI_SUCCESS);
}

static void errors(void) {
  Operation o = {0};
  MPI_Request r = MPI_REQUEST_NULL;
  CHECK_EQ(class_of(MPI_Grequest_complete(r)), MPI_ERR_REQUEST);
  int in;
  MUST(MPI_Irecv(&in, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &r));
  CHECK_EQ(class_of(MPI_Grequest_complete(r)), MPI_ERR_REQUEST);
  MUST(MPI_Cancel(&r));
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
  CHECK_EQ(class_of(MPI_Grequest_start(NULL, free_it, cancel, NULL, &r)), MPI_ERR_ARG);
  r = begin(&o);
  CHECK_EQ(class_of(MPI_Start(&r)), MPI_ERR_REQUEST);
  MUST(MPI_Grequest_complete(r));
  CHECK_EQ(class_of(MPI_Grequest_complete(r)), MPI_ERR_REQUEST);
  MUST(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

/* Null and inactive requests are complete, with an empty status. */
static void looking(void) {
  MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status s[3];
  int flag = 0, index = 0, outcount = 0, indices[3], in;
  MUST(MPI_Recv_init(&in, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &r[1]));
  memset(s, 0x55, sizeof s);
  MUST(MPI_Request_get_status(r[1], &flag, s));
  CHECK(flag && s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && s->MPI_ERROR == MPI_SUCCESS);
  MUST(MPI_Request_get_status_all(3, r, &flag, s));
  CHECK(flag && s[2].MPI_SOURCE == MPI_ANY_SOURCE);
  MUST(MPI_Request_get_status_any(3, r, &index, &flag, s));
  CHECK(flag && index == MPI_UNDEFINED);
  MUST(MPI_Request_get_status_some(3, r, &outcount, indices, s));
  CHECK_EQ(outcount, MPI_UNDEFINED);
  MUST(MPI_Start(&r[1]));
  MUST(MPI_Request_get_status_some(3, r, &outcount, indices, s));
  CHECK_EQ(outcount, 0);
  MUST(MPI_Cancel(&r[1]));
  MUST(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
  MUST(MPI_Request_free(&r[1]));
  int value = 0;
  MUST(MPI_Status_set_source(s, 5));
  MUST(MPI_Status_set_tag(s, 6));
  MUST(MPI_Status_set_error(s, MPI_ERR_TAG));
  CHECK(s->MPI_SOURCE == 5 && s->MPI_TAG == 6 && s->MPI_ERROR == MPI_ERR_TAG);
  MUST(MPI_Status_get_source(s, &value));
  CHECK_EQ(value, 5);
  MUST(MPI_Status_get_tag(s, &value));
  CHECK_EQ(value, 6);
  MUST(MPI_Status_get_error(s, &value));
  CHECK_EQ(value, MPI_ERR_TAG);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  one();
  freed();
  cancelled();
  among_others();
  failing();
  errors();
  looking();
  return check_end();
}
