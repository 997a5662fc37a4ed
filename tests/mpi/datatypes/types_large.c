/* Counts, displacements and sizes beyond 2^31 in little memory: address space that is never touched, items without
 * data, and the answers of the small forms where theirs do not fit. */
#include <sys/mman.h>

#include "check.h"

static const MPI_Count kHuge = (MPI_Count)3 << 31; /* more than an int holds */

static MPI_Datatype committed(MPI_Datatype type) {
  MUST(MPI_Type_commit(&type));
  return type;
}

static void expect_class(int code, int class_wanted, const char* what) {
  int class_of = 0;
  MUST(MPI_Error_class(code, &class_of));
  CHECK(class_of == class_wanted, "%s: class %d, not %d", what, class_of, class_wanted);
}

/* The small forms say so when a number does not fit. */
static void answers(void) {
  MPI_Datatype type;
  int size, count;
  MPI_Count large, lb, extent;
  MUST(MPI_Type_contiguous_c(kHuge, MPI_DOUBLE, &type));
  MUST(MPI_Type_size(type, &size));
  CHECK_EQ(size, MPI_UNDEFINED);
  MUST(MPI_Type_size_x(type, &large));
  CHECK_EQ(large, 8 * kHuge);
  MUST(MPI_Type_size_c(type, &large));
  CHECK_EQ(large, 8 * kHuge);
  MUST(MPI_Type_get_extent_x(type, &lb, &extent));
  CHECK(lb == 0 && extent == 8 * kHuge, " ");
  MUST(MPI_Type_get_extent_c(type, &lb, &extent));
  CHECK(lb == 0 && extent == 8 * kHuge, " ");
  MUST(MPI_Type_get_true_extent_x(type, &lb, &extent));
  CHECK(lb == 0 && extent == 8 * kHuge, " ");
  MUST(MPI_Type_get_true_extent_c(type, &lb, &extent));
  CHECK(lb == 0 && extent == 8 * kHuge, " ");
  MUST(MPI_Pack_size_c(2, committed(type), MPI_COMM_SELF, &large));
  CHECK(large >= 16 * kHuge, " ");

  /* Made by a large call: decoded by the large call. */
  int integers, addresses, datatypes, combiner;
  expect_class(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner), MPI_ERR_TYPE, "envelope");
  MPI_Count n_integers, n_addresses, n_counts, n_types, number;
  MUST(MPI_Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts, &n_types, &combiner));
  CHECK(combiner == MPI_COMBINER_CONTIGUOUS && n_integers == 0 && n_addresses == 0 && n_counts == 1 && n_types == 1,
        " ");
  MPI_Datatype inner;
  expect_class(MPI_Type_get_contents(type, 1, 0, 1, &size, NULL, &inner), MPI_ERR_TYPE, "contents");
  MUST(MPI_Type_get_contents_c(type, 0, 0, 1, 1, NULL, NULL, &number, &inner));
  CHECK(number == kHuge && inner == MPI_DOUBLE, " ");

  MPI_Status status;
  MUST(MPI_Status_set_elements_c(&status, type, kHuge * 2));
  MUST(MPI_Get_elements(&status, type, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  MUST(MPI_Get_elements_x(&status, type, &large));
  CHECK_EQ(large, kHuge * 2);
  MUST(MPI_Get_count(&status, type, &count));
  CHECK_EQ(count, 2);
  MUST(MPI_Get_count(&status, MPI_DOUBLE, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  MUST(MPI_Get_count_c(&status, MPI_DOUBLE, &large));
  CHECK_EQ(large, kHuge * 2);
  MUST(MPI_Type_free(&type));

  /* A small type decodes by either call. */
  MUST(MPI_Type_vector(3, 2, 5, MPI_INT, &type));
  MUST(MPI_Type_get_envelope_c(type, &n_integers, &n_addresses, &n_counts, &n_types, &combiner));
  CHECK(combiner == MPI_COMBINER_VECTOR && n_integers == 3 && n_addresses == 0 && n_counts == 0 && n_types == 1, " ");
  MUST(MPI_Type_free(&type));
}

/* A few bytes far apart: what travels is small. */
static void far_apart(void) {
  const size_t span = (size_t)1 << 36;
  char* memory = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return; /* no such address space here */
  const MPI_Count far = (MPI_Count)5 << 32;
  double in[12];

  const MPI_Count places[3] = {far, 0, 3 * far / 8 * 8};
  const MPI_Count lengths[3] = {2, 1, 1};
  MPI_Datatype scattered, strided, face;
  MUST(MPI_Type_create_hindexed_c(3, lengths, places, MPI_DOUBLE, &scattered));
  scattered = committed(scattered);
  *(double*)(memory + far) = 1;
  *(double*)(memory + far + 8) = 2;
  *(double*)memory = 3;
  *(double*)(memory + places[2]) = 4;
  MUST(MPI_Sendrecv(memory, 1, scattered, 0, 0, in, 4, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < 4; i++) CHECK(in[i] == i + 1, "%d", i);

  MUST(MPI_Type_vector_c(12, 1, ((MPI_Count)1 << 29) + 1, MPI_DOUBLE, &strided));
  strided = committed(strided);
  const MPI_Count step = 8 * (((MPI_Count)1 << 29) + 1);
  for (int i = 0; i < 12; i++) *(double*)(memory + i * step) = 10 + i;
  MUST(MPI_Sendrecv(memory, 1, strided, 0, 0, in, 12, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < 12; i++) CHECK(in[i] == 10 + i, "%d", i);

  /* A corner of an array of 2^33 elements. */
  const MPI_Count sizes[3] = {1 << 11, 1 << 11, 1 << 11}, sub[3] = {2, 2, 3}, starts[3] = {2046, 2046, 2045};
  MUST(MPI_Type_create_subarray_c(3, sizes, sub, starts, MPI_ORDER_C, MPI_DOUBLE, &face));
  face = committed(face);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 3; k++)
        ((double*)memory)[(((size_t)2046 + (size_t)i) * 2048 + 2046 + (size_t)j) * 2048 + 2045 + (size_t)k] =
            i * 6 + j * 3 + k;
  MUST(MPI_Sendrecv(memory, 1, face, 0, 0, in, 12, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  for (int i = 0; i < 12; i++) CHECK(in[i] == i, "%d", i);
  MUST(MPI_Type_free(&scattered));
  MUST(MPI_Type_free(&strided));
  MUST(MPI_Type_free(&face));
  munmap(memory, span);
}

/* Back into places far apart, and packed behind 2^31 bytes of other things. */
static void far_into(void) {
  const size_t span = (size_t)1 << 36, room = (size_t)6 << 30;
  char* memory = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return; /* no such address space here */
  char* packed = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const MPI_Count step = ((MPI_Count)3 << 30) + 8, at = (MPI_Count)5 << 30;
  enum { kItems = 12 };
  double out[kItems], in[kItems];
  for (int i = 0; i < kItems; i++) out[i] = 1.5 * i;
  MPI_Datatype far, item, backwards;
  MPI_Status status;
  MPI_Count count;
  MUST(MPI_Type_create_hvector_c(kItems, 1, step, MPI_DOUBLE, &far));
  far = committed(far);
  MUST(MPI_Type_create_resized_c(MPI_DOUBLE, 0, step, &item)); /* the same as that many items */
  item = committed(item);
  MUST(MPI_Type_create_hvector_c(kItems, 1, -step, MPI_DOUBLE, &backwards));
  backwards = committed(backwards);
  MUST(MPI_Sendrecv(out, kItems, MPI_DOUBLE, 0, 0, memory, 1, far, 0, 0, MPI_COMM_SELF, &status));
  MUST(MPI_Get_count_c(&status, far, &count));
  CHECK_EQ(count, 1);
  for (int i = 0; i < kItems; i++) CHECK(*(double*)(memory + i * step) == out[i], "%d", i);
  MUST(MPI_Sendrecv(memory, kItems, item, 0, 0, memory + (kItems - 1) * step + 8, 1, backwards, 0, 0, MPI_COMM_SELF,
                    &status));
  for (int i = 0; i < kItems; i++) CHECK(*(double*)(memory + (kItems - 1 - i) * step + 8) == out[i], "%d", i);

  /* Part of an item: seven of the twelve. */
  MUST(MPI_Sendrecv(out, 7, MPI_DOUBLE, 0, 0, memory, 1, far, 0, 0, MPI_COMM_SELF, &status));
  MUST(MPI_Get_count_c(&status, far, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  MUST(MPI_Get_elements_c(&status, far, &count));
  CHECK_EQ(count, 7);

  if (packed != MAP_FAILED) {
    MPI_Count position = at;
    MUST(MPI_Pack_c(memory, kItems, item, packed, (MPI_Count)room, &position, MPI_COMM_SELF));
    CHECK_EQ(position, at + (MPI_Count)sizeof out);
    CHECK(memcmp(packed + at, out, sizeof out) == 0, "packed far behind");
    position = at + 8;
    MUST(MPI_Unpack_c(packed, (MPI_Count)room, &position, in, kItems - 1, MPI_DOUBLE, MPI_COMM_SELF));
    CHECK(position == at + (MPI_Count)sizeof out && memcmp(in, out + 1, sizeof out - 8) == 0, "unpacked");
    position = at;
    MUST(MPI_Pack_external_c("external32", memory, 1, far, packed, (MPI_Count)room, &position));
    CHECK_EQ(position, at + (MPI_Count)sizeof out);
    position = at;
    memset(in, 0, sizeof in);
    MUST(MPI_Unpack_external_c("external32", packed, (MPI_Count)room, &position, in, kItems, MPI_DOUBLE));
    CHECK(memcmp(in, out, sizeof out) == 0, "external");
    munmap(packed, room);
  }
  MUST(MPI_Type_free(&far));
  MUST(MPI_Type_free(&item));
  MUST(MPI_Type_free(&backwards));
  munmap(memory, span);
}

/* More than 2^31 items of nothing, and of a type that has data but no length. */
static void many_items(void) {
  MPI_Datatype nothing;
  MPI_Status status;
  MPI_Count count = -1;
  char byte = 'x';
  MUST(MPI_Type_contiguous(0, MPI_INT, &nothing));
  nothing = committed(nothing);
  MUST(MPI_Sendrecv_c(&byte, kHuge, nothing, 0, 0, &byte, kHuge, nothing, 0, 0, MPI_COMM_SELF, &status));
  MUST(MPI_Get_count_c(&status, nothing, &count));
  CHECK_EQ(count, 0);
  MUST(MPI_Type_free(&nothing));

  /* 2^32 + 8 elements, all the same byte of memory; the receiver takes the first ones and gets an error for the rest.
   */
  MPI_Datatype same;
  char in[4096];
  MUST(MPI_Type_create_hvector_c(((MPI_Count)1 << 32) + 8, 1, 0, MPI_CHAR, &same));
  same = committed(same);
  MUST(MPI_Type_size_c(same, &count));
  CHECK_EQ(count, ((MPI_Count)1 << 32) + 8);
  MPI_Request request;
  MUST(MPI_Isend(&byte, 1, same, 0, 0, MPI_COMM_SELF, &request));
  expect_class(MPI_Recv(in, sizeof in, MPI_CHAR, 0, 0, MPI_COMM_SELF, &status), MPI_ERR_TRUNCATE, "truncated");
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (size_t i = 0; i < sizeof in; i++) CHECK(in[i] == 'x', "%zu", i);
  MUST(MPI_Type_free(&same));

  /* Sizes that 64 bits cannot count. */
  MPI_Datatype type;
  expect_class(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_DOUBLE, &type), MPI_ERR_ARG, "too large");
  expect_class(MPI_Type_vector_c((MPI_Count)1 << 40, 1, (MPI_Count)1 << 40, MPI_INT, &type), MPI_ERR_ARG, "too far");
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  answers();
  far_apart();
  far_into();
  many_items();
  return check_end();
}
