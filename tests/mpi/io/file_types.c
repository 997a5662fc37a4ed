/* Datatypes in files and in memory: random nests of constructors in views against the plain list of their bytes, arrays
 * dealt out block by block, buffers by absolute addresses, and every predefined datatype in "external32" against
 * MPI_Pack_external.
 *
 *   file_types SEED ROUNDS */
#include "io.h"

enum { kMostBytes = 3000, kRegion = 1 << 17 };

static const char* name;
static Random dice;
static int roll(int below) { return random_below(&dice, below); }

/* A datatype with the offsets of its bytes in order, and its bounds. */
typedef struct {
  MPI_Datatype type;
  int depth, n, lb, ub;
  int at[kMostBytes];
} Map;

static void append(Map* m, const Map* inner, int shift) {
  if (m->n == 0 || inner->lb + shift < m->lb) m->lb = inner->lb + shift;
  if (m->n == 0 || inner->ub + shift > m->ub) m->ub = inner->ub + shift;
  for (int i = 0; i < inner->n; i++) m->at[m->n++] = inner->at[i] + shift;
}

/* From the first byte of `m` to the last one: copies that are as far from each other have none in common. */
static int span(const Map* m) {
  int first = m->at[0], end = first + 1;
  for (int i = 0; i < m->n; i++) {
    if (m->at[i] < first) first = m->at[i];
    if (m->at[i] + 1 > end) end = m->at[i] + 1;
  }
  return end - first;
}

/* Where byte `k` of items one after the other lies. */
static int place_of(const Map* m, int k) { return m->at[k % m->n] + k / m->n * (m->ub - m->lb); }

/* A constructor around `inner`. In a file places rise and lie behind each other; in memory they may also fall. */
static void wrap(Map* m, const Map* inner, int in_file) {
  const int extent = inner->ub - inner->lb, step = extent > 0 && span(inner) <= extent ? 1 : span(inner) / extent + 1;
  int blocks = 1 + roll(3), length = step > 1 ? 1 : 1 + roll(3);
  if (inner->n * blocks * length > kMostBytes) blocks = length = 1;
  *m = (Map){.depth = inner->depth + 1};
  switch (roll(6)) {
    case 0:
      MUST(MPI_Type_contiguous(length, inner->type, &m->type));
      for (int i = 0; i < length; i++) append(m, inner, i * extent);
      return;
    case 1: {
      int stride = (length + roll(3)) * step;
      if (!in_file && roll(3) == 0) stride = -stride;
      MUST(MPI_Type_vector(blocks, length, stride, inner->type, &m->type));
      for (int b = 0; b < blocks; b++)
        for (int i = 0; i < length; i++) append(m, inner, (b * stride + i) * extent);
      return;
    }
    case 2: {
      int places[3], place = roll(3);
      for (int b = 0; b < blocks; b++, place += (length + roll(3)) * step) places[b] = place;
      MUST(MPI_Type_create_indexed_block(blocks, length, places, inner->type, &m->type));
      for (int b = 0; b < blocks; b++)
        for (int i = 0; i < length; i++) append(m, inner, (places[b] + i) * extent);
      return;
    }
    case 3: {
      int lengths[3];
      MPI_Aint places[3], place = roll(2) * inner->n;
      MPI_Datatype types[3];
      for (int b = 0; b < blocks; b++) {
        lengths[b] = roll(length + 1);
        places[b] = place;
        types[b] = inner->type;
        place += lengths[b] * extent + span(inner) + roll(2) * inner->n;
      }
      lengths[0] = 1;
      MUST(MPI_Type_create_struct(blocks, lengths, places, types, &m->type));
      for (int b = 0; b < blocks; b++)
        for (int i = 0; i < lengths[b]; i++) append(m, inner, (int)places[b] + i * extent);
      return;
    }
    case 4: {
      const int sizes[2] = {blocks + 2, length + 2}, parts[2] = {blocks, length}, starts[2] = {roll(3), roll(3)};
      if (step > 1) break;
      MUST(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, inner->type, &m->type));
      for (int b = 0; b < blocks; b++)
        for (int i = 0; i < length; i++) append(m, inner, ((starts[0] + b) * sizes[1] + starts[1] + i) * extent);
      m->lb = 0;
      m->ub = sizes[0] * sizes[1] * extent;
      return;
    }
    default:
      break;
  }
  /* Bounds that are not those of the data, below it or within. */
  append(m, inner, 0);
  m->lb = inner->lb + roll(9) - 4;
  m->ub = m->lb + span(inner) + roll(5);
  MUST(MPI_Type_create_resized(inner->type, m->lb, m->ub - m->lb, &m->type));
}

static void random_map(Map* out, MPI_Datatype base, int bytes, int in_file) {
  static Map inner;
  *out = (Map){.type = base, .lb = 0, .ub = bytes};
  for (; out->n < bytes; out->n++) out->at[out->n] = out->n;
  for (int depth = 1 + roll(3); depth-- > 0;) {
    inner = *out;
    wrap(out, &inner, in_file);
    if (inner.depth > 0) MUST(MPI_Type_free(&inner.type));
  }
  MUST(MPI_Type_commit(&out->type));
}

static Map file_map, memory_map;
static unsigned char model[kRegion], found[kRegion], *memory, *back;
enum { kMemory = 1 << 18 };

static void transfer(MPI_File file, int way, int writes, MPI_Offset at, void* data, int count, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype type = memory_map.type;
  switch (way) {
    case 0:
      MUST(writes ? MPI_File_write_at(file, at, data, count, type, status)
                  : MPI_File_read_at(file, at, data, count, type, status));
      return;
    case 1:
      MUST(writes ? MPI_File_write_at_all(file, at, data, count, type, status)
                  : MPI_File_read_at_all(file, at, data, count, type, status));
      return;
    case 2:
      MUST(writes ? MPI_File_iwrite_at(file, at, data, count, type, &request)
                  : MPI_File_iread_at(file, at, data, count, type, &request));
      break;
    default:
      MUST(writes ? MPI_File_iwrite_at_all(file, at, data, count, type, &request)
                  : MPI_File_iread_at_all(file, at, data, count, type, &request));
  }
  MUST(MPI_Wait(&request, status));
}

/* Each process writes in a region of its own: nests differ from process to process. */
static void one_round(MPI_File file, int round) {
  const int way = roll(4), back_way = roll(4); /* the same on all ranks */
  Random common = dice;
  dice.state += (uint64_t)check_rank * 77777;
  static const MPI_Datatype kBases[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  const int base = (int)(random_next(&common) % 4), bytes = 1 << base, disp = kRegion * check_rank + 1000;
  random_map(&file_map, kBases[base], bytes, 1);
  random_map(&memory_map, kBases[base], bytes, 0);
  int lowest = 0;
  for (int i = 0; i < file_map.n; i++)
    if (file_map.at[i] < lowest) lowest = file_map.at[i];
  CHECK_EQ(lowest, 0);
  MUST(MPI_File_set_view(file, disp, kBases[base], file_map.type, "native", MPI_INFO_NULL));
  const int memory_extent = memory_map.ub - memory_map.lb;
  int count = roll(12), at = roll(20);
  while (count > 0 && place_of(&file_map, at * bytes + count * memory_map.n - 1) >= kRegion - 2000) count--;
  if (count * (memory_extent < 0 ? -memory_extent : memory_extent) > kMemory / 4) count = 1;
  unsigned char* const origin = memory + kMemory / 2;
  pattern_fill(memory, kMemory, (unsigned)round);
  memset(model, 0, sizeof model);
  memset(found, 0, sizeof found);
  for (int k = 0; k < count * memory_map.n; k++) {
    const int byte = at * bytes + k;
    model[place_of(&file_map, byte)] = origin[place_of(&memory_map, k)];
  }
  MPI_Status status;
  transfer(file, way, 1, at, origin, count, &status);
  CHECK(moved(&status) == count * memory_map.n, "round %d: %lld bytes", round, moved(&status));
  /* Back through the same view into memory that has nothing else changed. */
  MUST(MPI_File_sync(file));
  memset(back, 0xee, kMemory);
  transfer(file, back_way, 0, at, back + kMemory / 2, count, &status);
  CHECK(moved(&status) == count * memory_map.n, "round %d: %lld bytes", round, moved(&status));
  int changed = 0;
  for (int k = 0; k < count * memory_map.n; k++) {
    const int place = kMemory / 2 + place_of(&memory_map, k);
    if (back[place] != memory[place]) changed++;
    back[place] = 0xee;
  }
  CHECK(changed == 0, "round %d: %d bytes came back changed", round, changed);
  for (int i = 0; i < kMemory; i++)
    if (back[i] != 0xee) changed++;
  CHECK(changed == 0, "round %d: %d bytes outside the datatype are changed", round, changed);
  /* The file as it is. */
  MUST(MPI_File_set_view(file, disp, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MUST(MPI_File_read_at_all(file, 0, found, kRegion - 2000, MPI_BYTE, &status));
  for (int i = 0; i < kRegion; i++) {
    if (found[i] == model[i]) continue;
    CHECK(found[i] == model[i], "round %d: byte %d is %d and not %d", round, i, found[i], model[i]);
    break;
  }
  memset(found, 0, sizeof found);
  MUST(MPI_File_write_at_all(file, 0, found, kRegion - 2000, MPI_BYTE, &status)); /* empty again */
  MUST(MPI_Type_free(&file_map.type));
  MUST(MPI_Type_free(&memory_map.type));
  dice = common;
}

static void random_nests(uint64_t seed, int rounds) {
  dice.state = seed;
  memory = check_alloc(kMemory);
  back = check_alloc(kMemory);
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int round = 0; round < rounds; round++) one_round(file, round);
  MUST(MPI_File_close(&file));
  free(memory);
  free(back);
}

/* Element (i, j) of an array of `n` by `m` belongs to which process, dealt in blocks of `block` along each dimension.
 */
static int owner(int i, int j, const int* grid, const int* block) {
  return i / block[0] % grid[0] * grid[1] + j / block[1] % grid[1];
}

static void arrays_dealt_out(void) {
  enum { kRows = 37, kColumns = 23 };
  int grid[2] = {0, 0};
  static const int kDistributions[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  MUST(MPI_Dims_create(check_size, 2, grid));
  for (int k = 0; k < 8; k++) {
    const int sizes[2] = {kRows, kColumns}, first = kDistributions[k % 2], second = kDistributions[k / 2 % 2];
    const int own_block = k / 4;
    int g[2] = {grid[0], grid[1]};
    const int distributions[2] = {first, second};
    int arguments[2], block[2], mine = 0;
    for (int d = 0; d < 2; d++) {
      arguments[d] =
          own_block ? (distributions[d] == MPI_DISTRIBUTE_BLOCK ? sizes[d] / g[d] + 2 : 3) : MPI_DISTRIBUTE_DFLT_DARG;
      block[d] = own_block ? arguments[d] : distributions[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + g[d] - 1) / g[d] : 1;
    }
    MPI_Datatype part;
    MUST(MPI_Type_create_darray(check_size, check_rank, 2, sizes, distributions, arguments, g, MPI_ORDER_C, MPI_INT,
                                &part));
    MUST(MPI_Type_commit(&part));
    int data[kRows * kColumns], back_data[kRows * kColumns];
    MPI_Status status;
    for (int i = 0; i < kRows; i++)
      for (int j = 0; j < kColumns; j++)
        if (owner(i, j, g, block) == check_rank) data[mine++] = i * kColumns + j + 100000 * k;
    MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MUST(MPI_File_set_view(file, 12, MPI_INT, part, "native", MPI_INFO_NULL));
    MUST(MPI_Type_free(&part));
    MUST(MPI_File_write_all(file, data, mine, MPI_INT, &status));
    CHECK_EQ(moved(&status), sizeof(int) * (size_t)mine);
    file_settle(file);
    memset(back_data, 0, sizeof back_data);
    MUST(MPI_File_read_at_all(file, 0, back_data, mine, MPI_INT, &status));
    CHECK(memcmp(data, back_data, sizeof(int) * (size_t)mine) == 0);
    MUST(MPI_File_set_view(file, 12, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MUST(MPI_File_read_at_all(file, 0, back_data, kRows * kColumns, MPI_INT, &status));
    CHECK_EQ(moved(&status), sizeof back_data);
    for (int i = 0; i < kRows * kColumns; i++)
      if (back_data[i] != i + 100000 * k) CHECK(back_data[i] == i + 100000 * k, "%d: %d is %d", k, i, back_data[i]);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
    MUST(MPI_File_close(&file));
  }
}

/* Parts of memory by their addresses. */
static void absolute_addresses(void) {
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Datatype parts;
  MPI_Status status;
  int first[3] = {1 + check_rank, 2, 3}, in[5] = {0};
  double second[2] = {0.5, 1.5};
  const int lengths[2] = {3, 2};
  MPI_Aint at[2];
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MUST(MPI_Get_address(first, &at[0]));
  MUST(MPI_Get_address(second, &at[1]));
  MUST(MPI_Type_create_struct(2, lengths, at, types, &parts));
  MUST(MPI_Type_commit(&parts));
  MPI_Request request;
  for (int form = 0; form < 3; form++) {
    if (form == 0) MUST(MPI_File_write_at(file, 28 * check_rank, MPI_BOTTOM, 1, parts, &status));
    if (form == 1) MUST(MPI_File_write_at_all(file, 28 * check_rank, MPI_BOTTOM, 1, parts, &status));
    if (form == 2) {
      MUST(MPI_File_iwrite_at_all(file, 28 * check_rank, MPI_BOTTOM, 1, parts, &request));
      MUST(MPI_Wait(&request, &status));
    }
    CHECK_EQ(moved(&status), 28);
    first[0] = -1;
    second[1] = -1;
    MUST(form == 0 ? MPI_File_read_at(file, 28 * check_rank, MPI_BOTTOM, 1, parts, &status)
                   : MPI_File_read_at_all(file, 28 * check_rank, MPI_BOTTOM, 1, parts, &status));
    CHECK(first[0] == 1 + check_rank && second[1] == 1.5);
  }
  MUST(MPI_File_read_at(file, 28 * check_rank, in, 3, MPI_INT, &status));
  CHECK(in[0] == 1 + check_rank && in[2] == 3);
  MUST(MPI_Type_free(&parts));
  MUST(MPI_File_close(&file));
}

static void predefined_in_external32(void) {
  static const MPI_Datatype kTypes[] = {MPI_CHAR,
                                        MPI_SIGNED_CHAR,
                                        MPI_UNSIGNED_CHAR,
                                        MPI_BYTE,
                                        MPI_PACKED,
                                        MPI_SHORT,
                                        MPI_UNSIGNED_SHORT,
                                        MPI_INT,
                                        MPI_UNSIGNED,
                                        MPI_LONG,
                                        MPI_UNSIGNED_LONG,
                                        MPI_LONG_LONG,
                                        MPI_UNSIGNED_LONG_LONG,
                                        MPI_FLOAT,
                                        MPI_DOUBLE,
                                        MPI_LONG_DOUBLE,
                                        MPI_WCHAR,
                                        MPI_C_BOOL,
                                        MPI_INT8_T,
                                        MPI_INT16_T,
                                        MPI_INT32_T,
                                        MPI_INT64_T,
                                        MPI_UINT8_T,
                                        MPI_UINT16_T,
                                        MPI_UINT32_T,
                                        MPI_UINT64_T,
                                        MPI_C_FLOAT_COMPLEX,
                                        MPI_C_DOUBLE_COMPLEX,
                                        MPI_C_LONG_DOUBLE_COMPLEX,
                                        MPI_AINT,
                                        MPI_COUNT,
                                        MPI_OFFSET,
                                        MPI_CHARACTER,
                                        MPI_INTEGER,
                                        MPI_LOGICAL,
                                        MPI_REAL,
                                        MPI_DOUBLE_PRECISION,
                                        MPI_COMPLEX,
                                        MPI_DOUBLE_COMPLEX,
                                        MPI_INTEGER1,
                                        MPI_INTEGER2,
                                        MPI_INTEGER4,
                                        MPI_INTEGER8,
                                        MPI_REAL4,
                                        MPI_REAL8,
                                        MPI_COMPLEX8,
                                        MPI_COMPLEX16,
                                        MPI_FLOAT_INT,
                                        MPI_DOUBLE_INT,
                                        MPI_LONG_INT,
                                        MPI_2INT,
                                        MPI_SHORT_INT,
                                        MPI_LONG_DOUBLE_INT};
  enum { kItems = 5, kRoom = kItems * 64 };
  for (size_t k = 0; k < sizeof kTypes / sizeof *kTypes; k++) {
    MPI_Datatype type = kTypes[k];
    char what[MPI_MAX_OBJECT_NAME];
    int length, size;
    MPI_Aint lower, extent, packed = 0, need = 0, in_file = -1;
    MPI_Status status;
    _Alignas(16) unsigned char out[kRoom], in[kRoom];
    unsigned char should[kRoom], is[kRoom];
    MUST(MPI_Type_get_name(type, what, &length));
    MUST(MPI_Type_get_extent(type, &lower, &extent));
    MUST(MPI_Type_size(type, &size));
    memset(out, 0, sizeof out);
    for (int i = 0; i < kItems; i++) { /* values that every representation has */
      if (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_LONG_DOUBLE_INT)
        *(long double*)(out + i * extent) = i + 0.5L;
      else if (type == MPI_C_BOOL || type == MPI_LOGICAL)
        out[i * extent] = i % 2;
      else
        out[i * extent] = (unsigned char)(check_rank + i + 1);
    }
    MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MUST(MPI_Pack_external_size("external32", kItems, type, &need));
    MUST(MPI_Pack_external("external32", out, kItems, type, should, sizeof should, &packed));
    CHECK_EQ(packed, need);
    MUST(MPI_File_set_view(file, need * check_rank, type, type, "external32", MPI_INFO_NULL));
    MUST(MPI_File_get_type_extent(file, type, &in_file));
    CHECK(in_file * kItems == need, "%s: %ld bytes, packed %ld", what, (long)in_file, (long)need);
    MUST(MPI_File_write_at_all(file, 0, out, kItems, type, &status));
    CHECK(moved(&status) == kItems * size, "%s: %lld", what, moved(&status));
    memset(in, 0, sizeof in);
    MUST(MPI_File_read_all(file, in, kItems, type, &status));
    CHECK(moved(&status) == kItems * size, "%s: %lld", what, moved(&status));
    for (int i = 0; i < kItems; i++)
      CHECK(memcmp(in + i * extent, out + i * extent, (size_t)(size < 16 ? size > 8 ? 8 : size : 10)) == 0,
            "%s: item %d", what, i);
    MPI_Offset at = -1;
    MUST(MPI_File_get_position(file, &at));
    CHECK_EQ(at, kItems);
    MUST(MPI_File_set_view(file, need * check_rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MUST(MPI_File_read_at_all(file, 0, is, (int)need, MPI_BYTE, &status));
    CHECK(memcmp(is, should, (size_t)need) == 0, "%s is another one in the file than packed", what);
    MUST(MPI_File_close(&file));
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  name = file_name("types");
  random_nests(argc > 1 ? (uint64_t)atoll(argv[1]) : 1, argc > 2 ? atoi(argv[2]) : 40);
  arrays_dealt_out();
  absolute_addresses();
  predefined_in_external32();
  return check_end();
}
