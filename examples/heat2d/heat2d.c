/* Heat in a square plate, spread over any number of ranks.
 *
 * The edges of the plate are held at fixed temperatures; inside, heat flows until nothing changes:
 * du/dt = d2u/dx2 + d2u/dy2, with explicit steps at the stability limit. The steady state of these edges is known in
 * closed form, so the program can check its own answer. It writes a picture of the plate and exits with 0 only if the
 * answer was right.
 *
 *   mpiexec -n 4 ./heat2d [--size N] [--tolerance T] [--picture FILE]
 *
 * Each rank owns a block of the grid with a frame of one cell, the "halo", that holds its neighbours' edge cells.
 */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "png.h"

static const double kPi = 3.14159265358979323846;
enum { kStepsPerCheck = 200, kChecksPerLine = 10, kPicturePixels = 512 };

typedef struct {
  int size;         /* inner cells along one side of the plate */
  double tolerance; /* done when no cell changes by more in one step */
  const char* picture;
} Options;

typedef struct {
  int rank, ranks;
  int rows, columns;            /* the process grid */
  int north, south, west, east; /* neighbours; MPI_PROC_NULL at the plate's edge */
  int first_row, first_column;  /* of this rank's block in the plate, from 0 */
  int height, width;            /* of this rank's block, without the halo */
  MPI_Datatype column;          /* `height` cells, one below the other */
} Block;

static void fail(const char* what) {
  fprintf(stderr, "heat2d: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static size_t cell(const Block* b, int row, int column) {
  return (size_t)row * (size_t)(b->width + 2) + (size_t)column;
}

/* ---- the plate ------------------------------------------------------------------------------------------------- */

/* One edge held at sin(k pi s) along its length heats the plate by this, at distance `d` from the edge. */
static double mode(int k, double s, double d) { return sin(k * kPi * s) * sinh(k * kPi * (1 - d)) / sinh(k * kPi); }

/* The steady state: a broad hot edge above, three hot spots below, one spot on the left, a warm edge on the right.
 * Harmonic, so it solves the equation. */
static double steady(double x, double y) {
  const double above = mode(1, x, y);
  const double below = 0.55 * mode(1, x, 1 - y) + 0.45 * mode(5, x, 1 - y);
  const double left = 0.9 * (0.75 * mode(1, y, x) - 0.25 * mode(3, y, x));
  const double right = 0.5 * mode(1, y, 1 - x);
  return above + below + left + right;
}

/* Temperature of the steady state at a cell of this block (halo included). */
static double exact(const Block* b, int size, int row, int column) {
  const double h = 1.0 / (size + 1);
  return steady((b->first_column + column) * h, (b->first_row + row) * h);
}

/* ---- who owns what ---------------------------------------------------------------------------------------------- */

/* The most square grid of `ranks` processes. */
static void choose_grid(int ranks, int* rows, int* columns) {
  *rows = 1;
  for (int r = 2; r * r <= ranks; r++)
    if (ranks % r == 0) *rows = r;
  *columns = ranks / *rows;
}

/* Part `i` of `n` cells shared out among `parts`; the first parts take what is left over. */
static void share(int n, int parts, int i, int* first, int* count) {
  const int each = n / parts, left = n % parts;
  *count = each + (i < left);
  *first = i * each + (i < left ? i : left);
}

static int rank_at(const Block* b, int row, int column) {
  if (row < 0 || row >= b->rows || column < 0 || column >= b->columns) return MPI_PROC_NULL;
  return row * b->columns + column;
}

static Block make_block(int size) {
  Block b;
  MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
  choose_grid(b.ranks, &b.rows, &b.columns);
  if (size < b.rows || size < b.columns) fail("more ranks than rows or columns of cells; choose a larger --size");

  const int row = b.rank / b.columns, column = b.rank % b.columns;
  b.north = rank_at(&b, row - 1, column);
  b.south = rank_at(&b, row + 1, column);
  b.west = rank_at(&b, row, column - 1);
  b.east = rank_at(&b, row, column + 1);
  share(size, b.rows, row, &b.first_row, &b.height);
  share(size, b.columns, column, &b.first_column, &b.width);
  MPI_Type_vector(b.height, 1, b.width + 2, MPI_DOUBLE, &b.column);
  MPI_Type_commit(&b.column);
  return b;
}

/* A cold plate; where the block touches the plate's edge, its halo holds the edge's temperature for good. */
static double* make_field(const Block* b, int size) {
  double* u = calloc((size_t)(b->height + 2) * (size_t)(b->width + 2), sizeof *u);
  if (!u) fail("out of memory");
  for (int i = 0; i <= b->height + 1; i++) {
    if (b->west == MPI_PROC_NULL) u[cell(b, i, 0)] = exact(b, size, i, 0);
    if (b->east == MPI_PROC_NULL) u[cell(b, i, b->width + 1)] = exact(b, size, i, b->width + 1);
  }
  for (int j = 0; j <= b->width + 1; j++) {
    if (b->north == MPI_PROC_NULL) u[cell(b, 0, j)] = exact(b, size, 0, j);
    if (b->south == MPI_PROC_NULL) u[cell(b, b->height + 1, j)] = exact(b, size, b->height + 1, j);
  }
  return u;
}

/* ---- one step --------------------------------------------------------------------------------------------------- */

enum { kToNorth, kToSouth, kToWest, kToEast };

/* Starts the exchange of halos; rows are contiguous, columns go by a strided datatype. */
static void start_halo(const Block* b, double* u, MPI_Request r[8]) {
  const int h = b->height, w = b->width;
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Irecv(&u[cell(b, 0, 1)], w, MPI_DOUBLE, b->north, kToSouth, comm, &r[0]);
  MPI_Irecv(&u[cell(b, h + 1, 1)], w, MPI_DOUBLE, b->south, kToNorth, comm, &r[1]);
  MPI_Irecv(&u[cell(b, 1, 0)], 1, b->column, b->west, kToEast, comm, &r[2]);
  MPI_Irecv(&u[cell(b, 1, w + 1)], 1, b->column, b->east, kToWest, comm, &r[3]);
  MPI_Isend(&u[cell(b, 1, 1)], w, MPI_DOUBLE, b->north, kToNorth, comm, &r[4]);
  MPI_Isend(&u[cell(b, h, 1)], w, MPI_DOUBLE, b->south, kToSouth, comm, &r[5]);
  MPI_Isend(&u[cell(b, 1, 1)], 1, b->column, b->west, kToWest, comm, &r[6]);
  MPI_Isend(&u[cell(b, 1, w)], 1, b->column, b->east, kToEast, comm, &r[7]);
}

/* New temperatures of rows first..last, columns left..right. Returns the largest change. */
static double relax(const Block* b, const double* u, double* next, int first, int last, int left, int right) {
  double change = 0;
  for (int i = first; i <= last; i++) {
    for (int j = left; j <= right; j++) {
      const size_t c = cell(b, i, j);
      next[c] = 0.25 * (u[c - 1] + u[c + 1] + u[cell(b, i - 1, j)] + u[cell(b, i + 1, j)]);
      const double d = fabs(next[c] - u[c]);
      change = d > change ? d : change;
    }
  }
  return change;
}

/* One step: the inside of the block while halos travel, then its rim. Returns this rank's largest change. */
static double step(const Block* b, double* u, double* next) {
  const int h = b->height, w = b->width;
  MPI_Request requests[8];
  start_halo(b, u, requests);
  double change = relax(b, u, next, 2, h - 1, 2, w - 1);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  change = fmax(change, relax(b, u, next, 1, 1, 1, w));
  if (h > 1) change = fmax(change, relax(b, u, next, h, h, 1, w));
  change = fmax(change, relax(b, u, next, 2, h - 1, 1, 1));
  if (w > 1) change = fmax(change, relax(b, u, next, 2, h - 1, w, w));
  return change;
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

static double largest_error(const Block* b, const double* u, int size) {
  double mine = 0, all = 0;
  for (int i = 1; i <= b->height; i++)
    for (int j = 1; j <= b->width; j++) mine = fmax(mine, fabs(u[cell(b, i, j)] - exact(b, size, i, j)));
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/* The whole plate on rank 0 (NULL elsewhere), row by row. Blocks differ in size, so they come one behind the other
 * and are put in place here. */
static double* gather_plate(const Block* b, const double* u, int size) {
  const int cells = b->height * b->width;
  double* mine = malloc((size_t)cells * sizeof *mine);
  for (int i = 0; i < b->height; i++)
    memcpy(mine + (size_t)i * (size_t)b->width, &u[cell(b, i + 1, 1)], (size_t)b->width * sizeof *mine);

  int place[4] = {b->first_row, b->first_column, b->height, b->width};
  int* places = malloc((size_t)b->ranks * sizeof place);
  int* counts = malloc((size_t)b->ranks * sizeof *counts);
  int* starts = malloc((size_t)b->ranks * sizeof *starts);
  double* packed = b->rank == 0 ? malloc((size_t)size * (size_t)size * sizeof *packed) : NULL;
  double* plate = b->rank == 0 ? malloc((size_t)size * (size_t)size * sizeof *plate) : NULL;
  if (!mine || !places || !counts || !starts || (b->rank == 0 && (!packed || !plate))) fail("out of memory");

  MPI_Gather(place, 4, MPI_INT, places, 4, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 0, start = 0; b->rank == 0 && r < b->ranks; r++) {
    counts[r] = places[4 * r + 2] * places[4 * r + 3];
    starts[r] = start;
    start += counts[r];
  }
  MPI_Gatherv(mine, cells, MPI_DOUBLE, packed, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int r = 0; b->rank == 0 && r < b->ranks; r++) {
    const int* p = places + 4 * r;
    for (int i = 0; i < p[2]; i++)
      memcpy(plate + (size_t)(p[0] + i) * (size_t)size + p[1], packed + starts[r] + (size_t)i * (size_t)p[3],
             (size_t)p[3] * sizeof *plate);
  }
  free(mine), free(places), free(counts), free(starts), free(packed);
  return plate;
}

/* ---- the picture ------------------------------------------------------------------------------------------------ */

/* Night blue through violet, red and orange to pale yellow. */
static void make_palette(unsigned char palette[768]) {
  static const unsigned char stops[][3] = {{4, 5, 24},    {40, 11, 84},   {101, 21, 110}, {159, 42, 99},
                                           {212, 72, 66}, {245, 125, 21}, {250, 193, 39}, {252, 255, 190}};
  const int intervals = (int)(sizeof stops / sizeof *stops) - 1;
  for (int i = 0; i < 256; i++) {
    const double at = i / 255.0 * intervals;
    const int k = at >= intervals ? intervals - 1 : (int)at;
    for (int c = 0; c < 3; c++)
      palette[3 * i + c] = (unsigned char)lround(stops[k][c] + (at - k) * (stops[k + 1][c] - stops[k][c]));
  }
}

/* Temperature at a point of the picture: linear between the four cells around it. */
static double sample(const double* plate, int size, double y, double x) {
  const int i = y >= size - 1 ? (size > 1 ? size - 2 : 0) : (int)y,
            j = x >= size - 1 ? (size > 1 ? size - 2 : 0) : (int)x;
  const int down = size > 1 ? size : 0, right = size > 1;
  const double* c = plate + (size_t)i * (size_t)size + j;
  const double fy = y - i, fx = x - j;
  return (1 - fy) * ((1 - fx) * c[0] + fx * c[right]) + fy * ((1 - fx) * c[down] + fx * c[down + right]);
}

/* Darkens the pixels where the temperature passes one of 16 levels: thin lines of equal heat. */
static void draw_isotherms(unsigned char* pixels) {
  for (int y = 0; y + 1 < kPicturePixels; y++)
    for (int x = 0; x + 1 < kPicturePixels; x++) {
      unsigned char* p = pixels + y * kPicturePixels + x;
      if (*p / 16 != p[1] / 16 || *p / 16 != p[kPicturePixels] / 16) *p = (unsigned char)(*p * 3 / 4);
    }
}

static int draw(const double* plate, int size, const char* path) {
  double coldest = plate[0], hottest = plate[0];
  for (size_t i = 0; i < (size_t)size * (size_t)size; i++) {
    coldest = fmin(coldest, plate[i]);
    hottest = fmax(hottest, plate[i]);
  }
  const double scale = hottest > coldest ? 255 / (hottest - coldest) : 0,
               zoom = (double)(size - 1) / (kPicturePixels - 1);
  unsigned char palette[768];
  unsigned char* pixels = malloc((size_t)kPicturePixels * kPicturePixels);
  if (!pixels) return -1;
  for (int y = 0; y < kPicturePixels; y++)
    for (int x = 0; x < kPicturePixels; x++)
      pixels[y * kPicturePixels + x] =
          (unsigned char)lround((sample(plate, size, y * zoom, x * zoom) - coldest) * scale);
  draw_isotherms(pixels);
  make_palette(palette);
  const int result = png_write(path, kPicturePixels, kPicturePixels, pixels, palette);
  free(pixels);
  return result;
}

/* ---- main ------------------------------------------------------------------------------------------------------- */

static Options read_options(int argc, char** argv) {
  Options o = {126, 1e-8, "heat2d.png"};
  for (int i = 1; i < argc; i++) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--size") == 0)
      o.size = atoi(value), i++;
    else if (strcmp(argv[i], "--tolerance") == 0)
      o.tolerance = atof(value), i++;
    else if (strcmp(argv[i], "--picture") == 0)
      o.picture = value, i++;
    else
      fail("usage: heat2d [--size N] [--tolerance T] [--picture FILE]");
  }
  if (o.size < 1 || o.size > 20000) fail("--size must lie between 1 and 20000");
  if (!(o.tolerance > 0)) fail("--tolerance must be above 0");
  return o;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options o = read_options(argc, argv);
  Block b = make_block(o.size);
  double* u = make_field(&b, o.size);
  double* next = make_field(&b, o.size);

  const double h = 1.0 / (o.size + 1), dt = h * h / 4;
  const double start = MPI_Wtime();
  if (b.rank == 0) printf("heat2d: %d x %d cells on %d ranks (%d x %d)\n", o.size, o.size, b.ranks, b.rows, b.columns);

  long steps = 0;
  for (double change = HUGE_VAL; change > o.tolerance;) {
    double mine = 0;
    for (int k = 0; k < kStepsPerCheck; k++, steps++) {
      mine = step(&b, u, next);
      double* swap = u;
      u = next;
      next = swap;
    }
    MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (b.rank == 0 && steps / kStepsPerCheck % kChecksPerLine == 0)
      printf("  step %7ld   time %.4f   largest change %.2e\n", steps, (double)steps * dt, change);
  }

  const double seconds = MPI_Wtime() - start;
  const double error = largest_error(&b, u, o.size);
  /* Central differences are off by a multiple of h^2; steps not taken leave at most tolerance / (1 - cos(pi h)). */
  const double allowed = 5 * h * h + o.tolerance / (1 - cos(kPi * h));
  double* plate = gather_plate(&b, u, o.size);
  int wrong = !(error <= allowed);
  if (b.rank == 0) {
    printf("steady after %ld steps, %.2f s (%.0f million cells a second)\n", steps, seconds,
           (double)steps * o.size * o.size / seconds / 1e6);
    printf("largest error against the exact solution %.2e, allowed %.2e: %s\n", error, allowed,
           wrong ? "WRONG" : "right");
    if (draw(plate, o.size, o.picture) != 0) {
      fprintf(stderr, "heat2d: cannot write %s: %s\n", o.picture, strerror(errno));
      wrong = 1;
    } else {
      printf("picture of the plate: %s\n", o.picture);
    }
  }
  MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);

  free(plate);
  free(u);
  free(next);
  MPI_Type_free(&b.column);
  MPI_Finalize();
  return wrong;
}
