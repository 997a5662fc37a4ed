/* Random accesses of all ranks through random views, against a file that is an array of bytes. Pieces of different
 * ranks have no byte in common, so that what the file has in the end follows from the seed alone.
 *
 *   file_oracle SEED ROUNDS */
#include "io.h"

enum { kBytes = 1 << 18, kMemory = 2048, kMostBlocks = 5 };

/* A view, as the standard defines it: pieces of `item` bytes, of which each holds bytes of this process. */
typedef struct {
  int etype_bytes;
  MPI_Offset disp;
  int blocks;                              /* of a filetype */
  int at[kMostBlocks], bytes[kMostBlocks]; /* in bytes, from the filetype's beginning */
  int item;                                /* its extent */
} View;

static MPI_Offset place_of(const View* v, long long byte) {
  int each = 0;
  for (int b = 0; b < v->blocks; b++) each += v->bytes[b];
  const long long tile = byte / each;
  long long into = byte % each;
  int b = 0;
  while (into >= v->bytes[b]) into -= v->bytes[b++];
  return v->disp + tile * v->item + v->at[b] + into;
}

static MPI_Datatype etype_of(const View* v) {
  return v->etype_bytes == 1 ? MPI_BYTE : v->etype_bytes == 4 ? MPI_INT : MPI_DOUBLE;
}

static MPI_Datatype filetype_of(const View* v) {
  MPI_Datatype blocks, resized;
  int lengths[kMostBlocks];
  MPI_Aint at[kMostBlocks];
  for (int b = 0; b < v->blocks; b++) lengths[b] = v->bytes[b] / v->etype_bytes, at[b] = v->at[b];
  MUST(MPI_Type_create_hindexed(v->blocks, lengths, at, etype_of(v), &blocks));
  MUST(MPI_Type_create_resized(blocks, 0, v->item, &resized));
  MUST(MPI_Type_commit(&resized));
  MUST(MPI_Type_free(&blocks));
  return resized;
}

/* Rows of blocks, each of which belongs to one rank: the same random numbers on all of them. */
static void random_views(Random* r, View* views) {
  static const int kSizes[] = {1, 4, 8};
  const int e = kSizes[random_below(r, 3)], blocks = 1 + random_below(r, kMostBlocks);
  const MPI_Offset disp = e * random_below(r, 9);
  int at = 0;
  for (int k = 0; k < check_size; k++) views[k] = (View){.etype_bytes = e, .disp = disp, .blocks = blocks};
  for (int b = 0; b < blocks; b++) {
    for (int k = 0; k < check_size; k++) {
      at += e * random_below(r, 3);
      views[k].at[b] = at;
      views[k].bytes[b] = e * (1 + random_below(r, 4));
      at += views[k].bytes[b];
    }
  }
  at += e * random_below(r, 3);
  for (int k = 0; k < check_size; k++) views[k].item = at;
}

/* Memory of a transfer: bytes in a row, or every second group of `group`. */
typedef struct {
  unsigned char memory[kMemory];
  MPI_Datatype type;
  int count, scattered, group;
} Buffer;

static void buffer_make(Buffer* buffer, int etype_bytes, int etypes, int scattered) {
  buffer->scattered = scattered && etypes > 0;
  buffer->group = etype_bytes;
  if (buffer->scattered) {
    MUST(MPI_Type_vector(etypes, etype_bytes, 2 * etype_bytes, MPI_BYTE, &buffer->type));
    MUST(MPI_Type_commit(&buffer->type));
    buffer->count = 1;
  } else {
    buffer->type = etype_bytes == 1 ? MPI_BYTE : etype_bytes == 4 ? MPI_INT : MPI_DOUBLE;
    buffer->count = etypes;
  }
}
static unsigned char* buffer_byte(Buffer* buffer, int k) {
  return buffer->memory + (buffer->scattered ? k / buffer->group * 2 * buffer->group + k % buffer->group : k);
}
static void buffer_free(Buffer* buffer) {
  if (buffer->scattered) MUST(MPI_Type_free(&buffer->type));
}

static Buffer buffer;
static unsigned char model[kBytes];

static void transfer(MPI_File file, int way, int writes, MPI_Offset at, MPI_Status* status) {
  MPI_Request request;
  unsigned char* const m = buffer.memory;
  switch (way) {
    case 0:
      MUST(writes ? MPI_File_write_at(file, at, m, buffer.count, buffer.type, status)
                  : MPI_File_read_at(file, at, m, buffer.count, buffer.type, status));
      return;
    case 1:
      MUST(writes ? MPI_File_write_at_all(file, at, m, buffer.count, buffer.type, status)
                  : MPI_File_read_at_all(file, at, m, buffer.count, buffer.type, status));
      return;
    case 2:
      MUST(MPI_File_seek(file, at, MPI_SEEK_SET));
      MUST(writes ? MPI_File_write_all(file, m, buffer.count, buffer.type, status)
                  : MPI_File_read_all(file, m, buffer.count, buffer.type, status));
      return;
    case 3:
      MUST(writes ? MPI_File_iwrite_at(file, at, m, buffer.count, buffer.type, &request)
                  : MPI_File_iread_at(file, at, m, buffer.count, buffer.type, &request));
      MUST(MPI_Wait(&request, status));
      return;
    default:
      MUST(writes ? MPI_File_iwrite_at_all(file, at, m, buffer.count, buffer.type, &request)
                  : MPI_File_iread_at_all(file, at, m, buffer.count, buffer.type, &request));
      MUST(MPI_Wait(&request, status));
  }
}

static void one_round(MPI_File file, Random* r, View* views, int round) {
  random_views(r, views);
  MPI_Datatype filetype = filetype_of(&views[check_rank]);
  const int e = views[0].etype_bytes;
  MUST(MPI_File_set_view(file, views[check_rank].disp, etype_of(&views[0]), filetype, "native", MPI_INFO_NULL));
  MUST(MPI_Type_free(&filetype));
  const int way = random_below(r, 5), scattered = random_below(r, 2);
  for (int k = 0; k < check_size; k++) {
    const int at = random_below(r, 20), etypes = random_below(r, 40), first = random_below(r, 256);
    if (k == check_rank) {
      MPI_Status status;
      buffer_make(&buffer, e, etypes, scattered);
      for (int b = 0; b < etypes * e; b++) *buffer_byte(&buffer, b) = (unsigned char)(first + b);
      transfer(file, way, 1, at, &status);
      CHECK(moved(&status) == etypes * e, "round %d: %lld bytes instead of %d", round, moved(&status), etypes * e);
      buffer_free(&buffer);
    }
    for (int b = 0; b < etypes * e; b++) {
      const MPI_Offset place = place_of(&views[k], (long long)at * e + b);
      model[place] = (unsigned char)(first + b);
    }
  }
  file_settle(file);
  const int at = random_below(r, 30), etypes = random_below(r, 60);
  MPI_Offset size;
  MPI_Status status;
  MUST(MPI_File_get_size(file, &size));
  buffer_make(&buffer, e, etypes, !scattered);
  memset(buffer.memory, 0xee, sizeof buffer.memory);
  transfer(file, random_below(r, 5), 0, at, &status);
  int there = 0;
  while (there < etypes * e && place_of(&views[check_rank], (long long)at * e + there) < size) there++;
  CHECK(moved(&status) == there, "round %d: read %lld bytes instead of %d", round, moved(&status), there);
  for (int b = 0; b < etypes * e; b++) {
    const MPI_Offset place = place_of(&views[check_rank], (long long)at * e + b);
    const int should = b < there ? model[place] : 0xee;
    CHECK(*buffer_byte(&buffer, b) == should, "round %d: byte %d, at %lld of the file, is %d and not %d", round, b,
          (long long)place, *buffer_byte(&buffer, b), should);
  }
  buffer_free(&buffer);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  Random r = {argc > 1 ? (uint64_t)atoll(argv[1]) : 1};
  const int rounds = argc > 2 ? atoi(argv[2]) : 50;
  View* const views = check_alloc((size_t)check_size * sizeof *views);
  MPI_File file = file_make(file_name("oracle"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  for (int round = 0; round < rounds; round++) one_round(file, &r, views, round);
  MUST(MPI_File_close(&file));
  free(views);
  return check_end();
}
