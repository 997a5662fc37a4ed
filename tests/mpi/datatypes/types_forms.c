/* Every constructor in its two forms: int and MPI_Aint, and MPI_Count. The two make the same datatype, and each is
 * decoded to what it was made of, by the calls of its own form, in the places that the standard names; the decoded call
 * makes it again. */
#include "check.h"

enum { kMost = 8, kRoom = 1 << 15, kBytes = 4096 };

typedef struct {
  int combiner;
  /* The call: scalars, then arrays of `count`. */
  MPI_Count count, length, stride, lb, extent;
  MPI_Count lengths[kMost], places[kMost];
  MPI_Datatype types[kMost];
  /* Arrays of `dims`. */
  int size, rank, dims, order, kinds[kMost], arguments[kMost], grid[kMost];
  MPI_Count sizes[kMost], sub[kMost], starts[kMost];
} Call;

static Random dice;
static int roll(int below) { return random_below(&dice, below); }

static int to_ints(const MPI_Count* from, int n, int* to) {
  for (int i = 0; i < n; i++) to[i] = (int)from[i];
  return n;
}
static void to_addresses(const MPI_Count* from, int n, MPI_Aint* to) {
  for (int i = 0; i < n; i++) to[i] = (MPI_Aint)from[i];
}

static MPI_Datatype make_small(const Call* c) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype old = c->types[0];
  const int n = (int)c->count, length = (int)c->length;
  int lengths[kMost], places[kMost], sizes[kMost], sub[kMost], starts[kMost];
  MPI_Aint bytes[kMost];
  to_ints(c->lengths, kMost, lengths);
  to_ints(c->places, kMost, places);
  to_addresses(c->places, kMost, bytes);
  to_ints(c->sizes, kMost, sizes);
  to_ints(c->sub, kMost, sub);
  to_ints(c->starts, kMost, starts);
  switch (c->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      MUST(MPI_Type_contiguous(n, old, &type));
      break;
    case MPI_COMBINER_VECTOR:
      MUST(MPI_Type_vector(n, length, (int)c->stride, old, &type));
      break;
    case MPI_COMBINER_HVECTOR:
      MUST(MPI_Type_create_hvector(n, length, (MPI_Aint)c->stride, old, &type));
      break;
    case MPI_COMBINER_INDEXED:
      MUST(MPI_Type_indexed(n, lengths, places, old, &type));
      break;
    case MPI_COMBINER_HINDEXED:
      MUST(MPI_Type_create_hindexed(n, lengths, bytes, old, &type));
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      MUST(MPI_Type_create_indexed_block(n, length, places, old, &type));
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      MUST(MPI_Type_create_hindexed_block(n, length, bytes, old, &type));
      break;
    case MPI_COMBINER_STRUCT:
      MUST(MPI_Type_create_struct(n, lengths, bytes, c->types, &type));
      break;
    case MPI_COMBINER_SUBARRAY:
      MUST(MPI_Type_create_subarray(c->dims, sizes, sub, starts, c->order, old, &type));
      break;
    case MPI_COMBINER_DARRAY:
      MUST(MPI_Type_create_darray(c->size, c->rank, c->dims, sizes, c->kinds, c->arguments, c->grid, c->order, old,
                                  &type));
      break;
    case MPI_COMBINER_RESIZED:
      MUST(MPI_Type_create_resized(old, (MPI_Aint)c->lb, (MPI_Aint)c->extent, &type));
      break;
    default:
      CHECK(0, "combiner %d", c->combiner);
  }
  return type;
}

static MPI_Datatype make_large(const Call* c) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype old = c->types[0];
  switch (c->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      MUST(MPI_Type_contiguous_c(c->count, old, &type));
      break;
    case MPI_COMBINER_VECTOR:
      MUST(MPI_Type_vector_c(c->count, c->length, c->stride, old, &type));
      break;
    case MPI_COMBINER_HVECTOR:
      MUST(MPI_Type_create_hvector_c(c->count, c->length, c->stride, old, &type));
      break;
    case MPI_COMBINER_INDEXED:
      MUST(MPI_Type_indexed_c(c->count, c->lengths, c->places, old, &type));
      break;
    case MPI_COMBINER_HINDEXED:
      MUST(MPI_Type_create_hindexed_c(c->count, c->lengths, c->places, old, &type));
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      MUST(MPI_Type_create_indexed_block_c(c->count, c->length, c->places, old, &type));
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      MUST(MPI_Type_create_hindexed_block_c(c->count, c->length, c->places, old, &type));
      break;
    case MPI_COMBINER_STRUCT:
      MUST(MPI_Type_create_struct_c(c->count, c->lengths, c->places, c->types, &type));
      break;
    case MPI_COMBINER_SUBARRAY:
      MUST(MPI_Type_create_subarray_c(c->dims, c->sizes, c->sub, c->starts, c->order, old, &type));
      break;
    case MPI_COMBINER_DARRAY:
      MUST(MPI_Type_create_darray_c(c->size, c->rank, c->dims, c->sizes, c->kinds, c->arguments, c->grid, c->order, old,
                                    &type));
      break;
    case MPI_COMBINER_RESIZED:
      MUST(MPI_Type_create_resized_c(old, c->lb, c->extent, &type));
      break;
    default:
      CHECK(0, "combiner %d", c->combiner);
  }
  return type;
}

/* What a call is decoded to. `ints` are those of either form; `numbers` are ints or addresses in the small form (as
 * `is_address` says) and counts in the large one; the order within each kind is the standard's. */
typedef struct {
  int ints, numbers, types;
  int in_front;  /* ints that stand before the numbers which the small form gives as ints; the others follow them */
  int addresses; /* of the numbers, the last so many are addresses in the small form */
  int value[4 * kMost];
  MPI_Count number[3 * kMost];
} Wanted;

static void put(Wanted* w, MPI_Count number) { w->number[w->numbers++] = number; }
static void put_all(Wanted* w, const MPI_Count* numbers, int n) {
  for (int i = 0; i < n; i++) put(w, numbers[i]);
}
static void put_ints(Wanted* w, const int* values, int n) {
  for (int i = 0; i < n; i++) w->value[w->ints++] = values[i];
}

static Wanted wanted(const Call* c) {
  Wanted w;
  memset(&w, 0, sizeof w);
  w.types = 1;
  const int n = (int)c->count;
  switch (c->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      put(&w, c->count);
      break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      put(&w, c->count);
      put(&w, c->length);
      put(&w, c->stride);
      w.addresses = c->combiner == MPI_COMBINER_HVECTOR;
      break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      put(&w, c->count);
      put_all(&w, c->lengths, n);
      put_all(&w, c->places, n);
      w.addresses = c->combiner == MPI_COMBINER_INDEXED ? 0 : n;
      if (c->combiner == MPI_COMBINER_STRUCT) w.types = n;
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      put(&w, c->count);
      put(&w, c->length);
      put_all(&w, c->places, n);
      w.addresses = c->combiner == MPI_COMBINER_INDEXED_BLOCK ? 0 : n;
      break;
    case MPI_COMBINER_SUBARRAY:
      put_ints(&w, &c->dims, 1);
      w.in_front = 1;
      put_all(&w, c->sizes, c->dims);
      put_all(&w, c->sub, c->dims);
      put_all(&w, c->starts, c->dims);
      put_ints(&w, &c->order, 1);
      break;
    case MPI_COMBINER_DARRAY:
      put_ints(&w, &c->size, 1);
      put_ints(&w, &c->rank, 1);
      put_ints(&w, &c->dims, 1);
      w.in_front = 3;
      put_all(&w, c->sizes, c->dims);
      put_ints(&w, c->kinds, c->dims);
      put_ints(&w, c->arguments, c->dims);
      put_ints(&w, c->grid, c->dims);
      put_ints(&w, &c->order, 1);
      break;
    default:
      put(&w, c->lb);
      put(&w, c->extent);
      w.addresses = 2;
  }
  return w;
}

static void decoded_small(const Call* c, MPI_Datatype type) {
  const Wanted w = wanted(c);
  int ints, addresses, types, combiner, value[8 * kMost];
  MPI_Aint address[8 * kMost];
  MPI_Datatype part[kMost];
  MUST(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
  CHECK(combiner == c->combiner && ints == w.ints + w.numbers - w.addresses && addresses == w.addresses &&
            types == w.types,
        "combiner %d: %d %d %d", combiner, ints, addresses, types);
  MUST(MPI_Type_get_contents(type, ints, addresses, types, value, address, part));
  int k = 0, number = 0;
  for (int i = 0; i < w.in_front; i++, k++) CHECK_EQ(value[k], w.value[i]);
  for (; number < w.numbers - w.addresses; number++, k++) CHECK_EQ(value[k], w.number[number]);
  for (int i = w.in_front; i < w.ints; i++, k++) CHECK_EQ(value[k], w.value[i]);
  for (int i = 0; number < w.numbers; number++, i++) CHECK_EQ(address[i], w.number[number]);
  for (int i = 0; i < types; i++) CHECK(part[i] == c->types[i], "part %d of combiner %d", i, combiner);

  /* The large calls decode it as well, into the places of the small form. */
  MPI_Count n_ints, n_addresses, n_counts, n_types, count[1];
  MUST(MPI_Type_get_envelope_c(type, &n_ints, &n_addresses, &n_counts, &n_types, &combiner));
  CHECK(n_ints == ints && n_addresses == addresses && n_counts == 0 && n_types == types, "combiner %d", combiner);
  int again[8 * kMost];
  MUST(MPI_Type_get_contents_c(type, n_ints, n_addresses, 0, n_types, again, address, count, part));
  for (int i = 0; i < ints; i++) CHECK_EQ(again[i], value[i]);
}

static void decoded_large(const Call* c, MPI_Datatype type) {
  const Wanted w = wanted(c);
  int combiner, value[8 * kMost];
  MPI_Aint address[1];
  MPI_Datatype part[kMost];
  MPI_Count ints, addresses, counts, types, number[8 * kMost];
  MUST(MPI_Type_get_envelope_c(type, &ints, &addresses, &counts, &types, &combiner));
  CHECK(combiner == c->combiner && ints == w.ints && addresses == 0 && counts == w.numbers && types == w.types,
        "combiner %d: %lld %lld %lld %lld", combiner, (long long)ints, (long long)addresses, (long long)counts,
        (long long)types);
  MUST(MPI_Type_get_contents_c(type, ints, 0, counts, types, value, address, number, part));
  for (int i = 0; i < w.ints; i++) CHECK_EQ(value[i], w.value[i]);
  for (int i = 0; i < w.numbers; i++) CHECK_EQ(number[i], w.number[i]);
  for (int i = 0; i < w.types; i++) CHECK(part[i] == c->types[i], "part %d of combiner %d", i, combiner);
  int small[4], class_of;
  MUST(MPI_Error_class(MPI_Type_get_envelope(type, &small[0], &small[1], &small[2], &small[3]), &class_of));
  CHECK(class_of == MPI_ERR_TYPE, "the small form cannot tell it: class %d", class_of);
}

/* Equal in all that can be asked, and in where their bytes lie. */
static void expect_same(MPI_Datatype a, MPI_Datatype b, int combiner) {
  const MPI_Datatype both[2] = {a, b};
  static unsigned char memory[2][kRoom], numbers[kBytes];
  MPI_Count size[2], lb[2], extent[2], true_lb[2], true_extent[2];
  for (int i = 0; i < kBytes; i++) numbers[i] = (unsigned char)(1 + i % 251);
  for (int i = 0; i < 2; i++) {
    int bytes;
    MPI_Aint low, is, true_low, true_is;
    MUST(MPI_Type_size_c(both[i], &size[i]));
    MUST(MPI_Type_get_extent_c(both[i], &lb[i], &extent[i]));
    MUST(MPI_Type_get_true_extent_c(both[i], &true_lb[i], &true_extent[i]));
    MUST(MPI_Type_size(both[i], &bytes));
    MUST(MPI_Type_get_extent(both[i], &low, &is));
    MUST(MPI_Type_get_true_extent(both[i], &true_low, &true_is));
    CHECK(bytes == size[i] && low == lb[i] && is == extent[i] && true_low == true_lb[i] && true_is == true_extent[i],
          "combiner %d: the two forms of asking", combiner);
    CHECK(bytes <= kBytes && true_low >= -kRoom / 2 && true_low + true_is <= kRoom / 2, "combiner %d", combiner);
    memset(memory[i], 0, kRoom);
    MUST(MPI_Sendrecv(numbers, bytes, MPI_BYTE, 0, 0, memory[i] + kRoom / 2, 1, both[i], 0, 0, MPI_COMM_SELF,
                      MPI_STATUS_IGNORE));
  }
  CHECK(size[0] == size[1] && lb[0] == lb[1] && extent[0] == extent[1] && true_lb[0] == true_lb[1] &&
            true_extent[0] == true_extent[1],
        "combiner %d: %lld %lld %lld against %lld %lld %lld", combiner, (long long)size[0], (long long)lb[0],
        (long long)extent[0], (long long)size[1], (long long)lb[1], (long long)extent[1]);
  CHECK(memcmp(memory[0], memory[1], kRoom) == 0, "combiner %d: the places of the bytes", combiner);
}

static Call draw(int combiner) {
  static const MPI_Datatype kTypes[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT, MPI_LONG_DOUBLE};
  Call c;
  memset(&c, 0, sizeof c);
  c.combiner = combiner;
  c.count = roll(6);
  c.length = roll(5);
  c.stride = roll(2) ? 64 + 16 * roll(3) : -(64 + 16 * roll(3));
  if (combiner == MPI_COMBINER_VECTOR) c.stride /= 16;
  for (int i = 0; i < kMost; i++) {
    c.lengths[i] = roll(4);
    c.places[i] = (combiner == MPI_COMBINER_INDEXED || combiner == MPI_COMBINER_INDEXED_BLOCK ? 1 : 16) * (8 * i - 16);
    c.types[i] = kTypes[roll(6)];
  }
  c.lb = 8 * (roll(5) - 2);
  c.extent = 8 * roll(6);
  c.dims = 1 + roll(3);
  c.order = roll(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  c.size = 1;
  for (int d = 0; d < c.dims; d++) {
    c.sizes[d] = 2 + roll(6);
    c.sub[d] = 1 + roll((int)c.sizes[d]);
    c.starts[d] = roll((int)(c.sizes[d] - c.sub[d]) + 1);
    static const int kKinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    c.kinds[d] = kKinds[roll(3)];
    c.grid[d] = c.kinds[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + roll(3);
    c.arguments[d] = c.kinds[d] == MPI_DISTRIBUTE_CYCLIC && roll(2) ? 1 + roll(3) : MPI_DISTRIBUTE_DFLT_DARG;
    c.size *= c.grid[d];
  }
  c.rank = roll(c.size);
  return c;
}

int main(int argc, char** argv) {
  static const int kCombiners[] = {MPI_COMBINER_CONTIGUOUS,     MPI_COMBINER_VECTOR,   MPI_COMBINER_HVECTOR,
                                   MPI_COMBINER_INDEXED,        MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK,
                                   MPI_COMBINER_STRUCT,         MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY,
                                   MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_RESIZED};
  check_start(&argc, &argv);
  for (unsigned seed = 0; seed < 200; seed++) {
    for (size_t k = 0; k < sizeof kCombiners / sizeof *kCombiners; k++) {
      dice = (Random){seed * 31 + k + 1};
      const Call c = draw(kCombiners[k]);
      MPI_Datatype small = make_small(&c), large = make_large(&c), copy;
      decoded_small(&c, small);
      decoded_large(&c, large);
      MUST(MPI_Type_commit(&small));
      MUST(MPI_Type_commit(&large));
      expect_same(small, large, c.combiner);
      MUST(MPI_Type_dup(large, &copy));
      expect_same(large, copy, c.combiner);
      MPI_Count ints, addresses, counts, types;
      int combiner;
      MUST(MPI_Type_get_envelope_c(copy, &ints, &addresses, &counts, &types, &combiner));
      CHECK(combiner == MPI_COMBINER_DUP && ints == 0 && addresses == 0 && counts == 0 && types == 1, "%d", combiner);
      MUST(MPI_Type_free(&small));
      MUST(MPI_Type_free(&large));
      MUST(MPI_Type_free(&copy));
    }
  }
  return check_end();
}
