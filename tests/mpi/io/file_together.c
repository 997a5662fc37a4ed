/* Collective accesses of all ranks at once, in every form, with gaps between their pieces and other accesses in these,
 * against a file that is an array of bytes. What the file has in the end follows from the seed alone.
 *
 *   file_together SEED ROUNDS */
#include "io.h"

enum { kBytes = 1 << 21, kMostBlocks = 4, kMostFlights = 3 };

/* Blocks of bytes that belong to this rank, in tiles of `item` bytes from `disp` on. */
typedef struct {
  MPI_Offset disp;
  int blocks, item, each;
  int at[kMostBlocks], bytes[kMostBlocks];
} View;

/* Etypes (bytes) of the view's stream that an access covers. */
typedef struct {
  int at, count, first;
} Part;

static unsigned char *model, *found, *memory[kMostFlights + 1];

static MPI_Offset place_of(const View* v, long long byte) {
  int into = (int)(byte % v->each), b = 0;
  while (into >= v->bytes[b]) into -= v->bytes[b++];
  return v->disp + byte / v->each * v->item + v->at[b] + into;
}

/* Every block is dealt to the ranks in turn; `gaps`: whether some bytes belong to nobody. Ranks may have no part. */
static void random_views(Random* r, View* views) {
  static const int kScales[] = {1, 8, 100, 3000};
  const int scale = kScales[random_below(r, 4)], blocks = 1 + random_below(r, kMostBlocks), gaps = random_below(r, 2);
  const MPI_Offset disp = random_below(r, 3) * 777;
  int at = 0;
  for (int k = 0; k < check_size; k++) views[k] = (View){.disp = disp, .blocks = blocks};
  for (int b = 0; b < blocks; b++) {
    for (int k = 0; k < check_size; k++) {
      if (gaps) at += random_below(r, scale + 2);
      views[k].at[b] = at;
      views[k].bytes[b] = 1 + random_below(r, scale);
      if (random_below(r, 2)) views[k].bytes[b] = (views[k].bytes[b] + 7) / 8 * 8;
      at += views[k].bytes[b];
      views[k].each += views[k].bytes[b];
    }
  }
  for (int k = 0; k < check_size; k++) views[k].item = at;
}

static MPI_Datatype filetype_of(const View* v) {
  MPI_Datatype blocks, resized;
  MPI_Aint at[kMostBlocks];
  for (int b = 0; b < v->blocks; b++) at[b] = v->at[b];
  MUST(MPI_Type_create_hindexed(v->blocks, v->bytes, at, MPI_BYTE, &blocks));
  MUST(MPI_Type_create_resized(blocks, 0, v->item, &resized));
  MUST(MPI_Type_commit(&resized));
  MUST(MPI_Type_free(&blocks));
  return resized;
}

/* Memory in a row, or every second byte of it. */
static MPI_Datatype memory_type(int scattered, int count) {
  MPI_Datatype type;
  if (scattered)
    MUST(MPI_Type_vector(count, 1, 2, MPI_BYTE, &type));
  else
    MUST(MPI_Type_contiguous(count, MPI_BYTE, &type));
  MUST(MPI_Type_commit(&type));
  return type;
}

static unsigned char value_of(const Part* p, int byte) { return (unsigned char)(p->first + byte * 7 + byte / 251); }

static void check_file(const char* name, MPI_File file, int round) {
  file_settle(file);
  if (check_rank == 0) {
    MPI_Offset size;
    MUST(MPI_File_get_size(file, &size));
    FILE* const in = fopen(name, "rb");
    const MPI_Offset got = in ? (MPI_Offset)fread(found, 1, kBytes, in) : -1;
    if (in) fclose(in);
    CHECK_EQ(got, size);
    for (MPI_Offset b = 0; b < kBytes; b++) {
      const int is = b < got ? found[b] : 0;
      if (is == model[b]) continue;
      CHECK(is == model[b], "round %d: byte %lld is %d and not %d", round, (long long)b, is, model[b]);
      break;
    }
  }
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

/* How many bytes of the stream the views leave room for. */
static int room_of(const View* v) { return (int)((kBytes - v->disp) / v->item - 1) * v->each; }

static void write_round(MPI_File file, Random* r, const View* views) {
  const int flights = 1 + random_below(r, kMostFlights), form = random_below(r, 4), scattered = random_below(r, 2);
  const int beside = random_below(r, 2);
  MPI_Request requests[kMostFlights];
  MPI_Datatype types[kMostFlights + 1];
  MPI_Status statuses[kMostFlights + 1], status;
  int wanted[kMostFlights + 1] = {0};
  int* const next = check_alloc((size_t)check_size * sizeof *next);
  int pending = 0;
  for (int k = 0; k < check_size; k++) next[k] = random_below(r, 50);
  for (int f = 0; f <= flights; f++) {
    const int collective = f < flights;
    for (int k = 0; k < check_size; k++) {
      const int room = room_of(&views[k]) - next[k];
      Part p = {.at = next[k], .count = random_below(r, 30000), .first = random_below(r, 256)};
      if (p.count > room) p.count = room > 0 ? room : 0;
      if (random_below(r, 5) == 0 || (!collective && !beside)) p.count = 0;
      next[k] += p.count;
      if (k == check_rank) {
        types[f] = memory_type(scattered, p.count);
        for (int b = 0; b < p.count; b++) memory[f][scattered ? 2 * b : b] = value_of(&p, b);
        wanted[f] = p.count;
        if (!collective)
          MUST(MPI_File_write_at(file, p.at, memory[f], 1, types[f], &statuses[f]));
        else if (form == 0)
          MUST(MPI_File_write_at_all(file, p.at, memory[f], 1, types[f], &statuses[f]));
        else if (form == 1)
          MUST(MPI_File_iwrite_at_all(file, p.at, memory[f], 1, types[f], &requests[pending++]));
        else if (form == 2) {
          MUST(MPI_File_write_at_all_begin(file, p.at, memory[f], 1, types[f]));
          MUST(MPI_File_write_at_all_end(file, memory[f], &statuses[f]));
        } else {
          MUST(MPI_File_seek(file, p.at, MPI_SEEK_SET));
          MUST(MPI_File_iwrite_all(file, memory[f], 1, types[f], &requests[pending++]));
        }
      }
      for (int b = 0; b < p.count; b++) model[place_of(&views[k], p.at + b)] = value_of(&p, b);
    }
  }
  for (int f = pending; f-- > 0;) {
    MUST(MPI_Wait(&requests[f], &status));
    statuses[f] = status;
  }
  for (int f = 0; f <= flights; f++) {
    CHECK_EQ(moved(&statuses[f]), wanted[f]);
    MUST(MPI_Type_free(&types[f]));
  }
  free(next);
}

static void read_round(MPI_File file, Random* r, const View* views, int round) {
  const int form = random_below(r, 4), scattered = random_below(r, 2);
  MPI_Offset size;
  MUST(MPI_File_get_size(file, &size));
  for (int k = 0; k < check_size; k++) {
    const int at = random_below(r, 60000), count = random_below(r, 6) ? random_below(r, 60000) : 0;
    if (k != check_rank) continue;
    const View* v = &views[k];
    unsigned char* const m = memory[0];
    MPI_Datatype type = memory_type(scattered, count);
    MPI_Status status;
    MPI_Request request;
    memset(m, 0xee, 2 * 60000);
    if (form == 0)
      MUST(MPI_File_read_at_all(file, at, m, 1, type, &status));
    else if (form == 1) {
      MUST(MPI_File_iread_at_all(file, at, m, 1, type, &request));
      MUST(MPI_Wait(&request, &status));
    } else if (form == 2) {
      MUST(MPI_File_seek(file, at, MPI_SEEK_SET));
      MUST(MPI_File_read_all_begin(file, m, 1, type));
      MUST(MPI_File_read_all_end(file, m, &status));
    } else {
      MUST(MPI_File_seek(file, at, MPI_SEEK_SET));
      MUST(MPI_File_read_all(file, m, 1, type, &status));
      MPI_Offset now;
      MUST(MPI_File_get_position(file, &now));
      CHECK_EQ(now, at + moved(&status));
    }
    MUST(MPI_Type_free(&type));
    int there = 0;
    while (there < count && place_of(v, (long long)at + there) < size) there++;
    CHECK(moved(&status) == there, "round %d: read %lld bytes instead of %d", round, moved(&status), there);
    for (int b = 0; b < count; b++) {
      const int is = m[scattered ? 2 * b : b], should = b < there ? model[place_of(v, (long long)at + b)] : 0xee;
      if (is == should) continue;
      CHECK(is == should, "round %d: byte %d of the stream is %d and not %d", round, b, is, should);
      break;
    }
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  Random r = {argc > 1 ? (uint64_t)atoll(argv[1]) : 1};
  const int rounds = argc > 2 ? atoi(argv[2]) : 20;
  model = check_alloc(kBytes);
  found = check_alloc(kBytes);
  memset(model, 0, kBytes);
  for (int f = 0; f <= kMostFlights; f++) memory[f] = check_alloc(2 * 60000);
  View* const views = check_alloc((size_t)check_size * sizeof *views);
  const char* const name = file_name("together");
  MPI_File file = file_make(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int round = 0; round < rounds; round++) {
    random_views(&r, views);
    MPI_Datatype filetype = filetype_of(&views[check_rank]);
    MUST(MPI_File_set_view(file, views[check_rank].disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    MUST(MPI_Type_free(&filetype));
    write_round(file, &r, views);
    check_file(name, file, round);
    read_round(file, &r, views, round);
    MUST(MPI_Barrier(MPI_COMM_WORLD));
  }
  MUST(MPI_File_close(&file));
  for (int f = 0; f <= kMostFlights; f++) free(memory[f]);
  free(views);
  free(model);
  free(found);
  return check_end();
}
