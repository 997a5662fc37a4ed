#include "choice.h"

#include "complain.h"
#include "kept.h"

int f_contiguous(const f_section* section) {
  ptrdiff_t expected = (ptrdiff_t)section->elem_len;
  for (int d = 0; d < section->rank; ++d) {
    const ptrdiff_t extent = f_extent(section, d);
    if (extent == 0) return 1;
    if (extent != 1 && extent != -1 && f_distance(section, d) != expected) return 0;
    expected *= extent;
  }
  return 1;
}

int f_in_place(const f_section* section) { return f_address(section->base_addr) == MPI_IN_PLACE; }

static MPI_Count elements_of(const f_section* section) {
  MPI_Count elements = 1;
  for (int d = 0; d < section->rank; ++d) elements *= f_extent(section, d);
  return elements;
}

MPI_Count f_span(MPI_Count count, MPI_Datatype type) {
  MPI_Count lower, extent, true_lower, true_extent;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  if (PMPI_Type_get_extent_c(type, &lower, &extent) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent_c(type, &true_lower, &true_extent) != MPI_SUCCESS || true_lower < 0 || extent < 0)
    return -1;
  return (count - 1) * extent + true_lower + true_extent;
}

MPI_Count f_number(struct f_numbers numbers, MPI_Count i) {
  return numbers.size == sizeof(int) ? ((const int*)numbers.array)[i] : ((const MPI_Count*)numbers.array)[i];
}

/* The end so far, with a block of `span` bytes at `at`. */
static MPI_Count reach(MPI_Count end, MPI_Count at, MPI_Count span) {
  if (end < 0 || at < 0 || span < 0) return -1;
  return at + span > end ? at + span : end;
}

MPI_Count f_span_of_blocks(struct f_numbers counts, struct f_numbers displs, MPI_Count n, MPI_Datatype type) {
  MPI_Count end = 0, lower, extent = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_get_extent_c(type, &lower, &extent) != MPI_SUCCESS) return 0;
  F_EACH(i, n)
  if (f_number(counts, i) > 0) end = reach(end, f_number(displs, i) * extent, f_span(f_number(counts, i), type));
  return end;
}

MPI_Count f_span_of_types(struct f_numbers counts, struct f_numbers displs, MPI_Count n, const f_int* types) {
  MPI_Count end = 0;
  F_EACH(i, n)
  if (f_number(counts, i) > 0) end = reach(end, f_number(displs, i), f_span(f_number(counts, i), f_datatype(types[i])));
  return end;
}

MPI_Count f_sum(struct f_numbers counts, MPI_Count n) {
  MPI_Count sum = 0;
  F_EACH(i, n) sum += f_number(counts, i);
  return sum;
}

/* --- what is said of a section that no form exists for
 * ------------------------------------------------------------------ */

/* On the window, else on the communicator. */
#define COMPLAIN(call, sentence, ...)                                                                                 \
  (call)->code = f_complain((call)->comm ? f_comm(*(call)->comm) : MPI_COMM_NULL,                                     \
                            (call)->win ? f_win(*(call)->win) : MPI_WIN_NULL, MPI_ERR_BUFFER, sentence, (call)->name, \
                            __VA_ARGS__)

static void too_small(struct f_call* call, const char* argument, MPI_Count has, MPI_Count wanted) {
  COMPLAIN(call, "%s: argument %s is a section of %lld bytes, and its count and datatype ask for %lld", argument,
           (long long)has, (long long)wanted);
}

void f_refuse(struct f_call* call, const char* argument) {
  if (call->code != MPI_SUCCESS) return;
  COMPLAIN(call,
           "%s: argument %s is a section with gaps, which this call cannot take with that datatype, because it works "
           "in the memory that it is given: pass a contiguous array",
           argument);
}

/* --- sections that a datatype describes
 * --------------------------------------------------------------------------------- */

/* A datatype under construction: `blocklength` consecutive elements of `type`. */
struct nest {
  MPI_Datatype type;
  MPI_Count blocklength;
  int made;
  int code;
};

static void repeat(struct nest* nest, MPI_Count count, MPI_Aint stride) {
  MPI_Datatype outer;
  if (nest->code != MPI_SUCCESS) return;
  nest->code = PMPI_Type_create_hvector_c(count, nest->blocklength, stride, nest->type, &outer);
  if (nest->made) PMPI_Type_free(&nest->type);
  nest->made = nest->code == MPI_SUCCESS;
  if (nest->made) nest->type = outer;
  nest->blocklength = 1;
}

/* All of the dimensions below `d`, and `count` of dimension `d`: `per` elements of `type` are one of the section. */
static int block_of(const f_section* section, int d, MPI_Count count, MPI_Count per, MPI_Datatype type,
                    MPI_Datatype* made) {
  struct nest nest = {.type = type, .blocklength = per};
  ptrdiff_t dense = (ptrdiff_t)section->elem_len; /* the stride that would leave no gap */
  for (int i = 0; i <= d; ++i) {
    const MPI_Count extent = i == d ? count : f_extent(section, i);
    if (extent == 1) continue;
    if (!nest.made && f_distance(section, i) == dense) {
      nest.blocklength *= extent;
      dense *= extent;
    } else {
      repeat(&nest, extent, f_distance(section, i));
    }
  }
  if (!nest.made && nest.code == MPI_SUCCESS) repeat(&nest, 1, 0);
  *made = nest.type;
  return nest.code;
}

/* How many elements of `type` one of the section is; 0 where they do not fit into each other without gaps. */
static MPI_Count elements_per(const f_section* section, MPI_Datatype type) {
  MPI_Count size, lower, extent;
  if (PMPI_Type_size_c(type, &size) != MPI_SUCCESS || PMPI_Type_get_extent_c(type, &lower, &extent) != MPI_SUCCESS)
    return 0;
  if (size <= 0 || size != extent || lower != 0 || (MPI_Count)section->elem_len % size != 0) return 0;
  return (MPI_Count)section->elem_len / size;
}

static void use_type(struct f_choice* choice, MPI_Datatype type, int work) {
  choice->made = type;
  choice->count = choice->small = 1;
  choice->work = work;
  choice->type = f_datatype_int(choice->made);
}

static int use_kept(struct f_choice* choice, const f_section* section, MPI_Count blocks) {
  const struct f_kept* const kept = f_kept_of(section, choice->count, choice->type, blocks);
  if (kept) use_type(choice, kept->made, F_TYPE_KEPT);
  return kept != NULL;
}

static void use_new(struct f_call* call, struct f_choice* choice, const f_section* section, MPI_Count blocks,
                    MPI_Datatype type) {
  call->code = PMPI_Type_commit(&type);
  const int kept = call->code == MPI_SUCCESS && f_keep_type(section, choice->count, choice->type, blocks, type);
  use_type(choice, type, kept ? F_TYPE_KEPT : F_TYPE_MADE);
}

/* The first `elements` of the section, and then `rest` parts of the next: at most one piece for each dimension. */
static int prefix_of(const f_section* section, MPI_Count elements, MPI_Count per, MPI_Count rest, MPI_Datatype type,
                     MPI_Datatype* made) {
  MPI_Datatype types[F_RANKS + 1];
  MPI_Count at[F_RANKS + 1], ones[F_RANKS + 1], offset = 0, slice = elements_of(section);
  int pieces = 0, code = MPI_SUCCESS;
  for (int d = section->rank - 1; d >= 0 && code == MPI_SUCCESS; --d) {
    slice /= f_extent(section, d);
    const MPI_Count whole = elements / slice;
    if (whole == 0) continue;
    elements -= whole * slice;
    code = block_of(section, d, whole, per, type, &types[pieces]);
    at[pieces] = offset;
    ones[pieces] = 1;
    pieces += code == MPI_SUCCESS;
    offset += whole * f_distance(section, d);
  }
  if (rest > 0 && code == MPI_SUCCESS) {
    code = PMPI_Type_contiguous_c(rest, type, &types[pieces]);
    at[pieces] = offset;
    ones[pieces] = 1;
    pieces += code == MPI_SUCCESS;
  }
  if (code == MPI_SUCCESS && pieces == 1) {
    *made = types[0];
    return code;
  }
  if (code == MPI_SUCCESS) code = PMPI_Type_create_struct_c(pieces, ones, at, types, made);
  for (int i = 0; i < pieces; ++i) PMPI_Type_free(&types[i]);
  return code;
}

/* Whether there is something to open. */
static int wanted(const struct f_call* call, const struct f_choice* choice) {
  return call->code == MPI_SUCCESS && choice->count > 0 && f_datatype(choice->type) != MPI_DATATYPE_NULL;
}

void f_open_pair(struct f_call* call, struct f_choice* choice, const f_section* section, const char* argument,
                 int flags) {
  if (!wanted(call, choice) || use_kept(choice, section, 0)) return;
  const MPI_Datatype type = f_datatype(choice->type);
  const MPI_Count per = elements_per(section, type);
  if (per == 0) {
    f_open_copy(call, choice, section, argument, flags, f_span(choice->count, type));
    return;
  }
  const MPI_Count has = elements_of(section) * per;
  if (choice->count > has) {
    too_small(call, argument, has / per * (MPI_Count)section->elem_len, f_span(choice->count, type));
    return;
  }
  MPI_Datatype made;
  call->code = prefix_of(section, choice->count / per, per, choice->count % per, type, &made);
  if (call->code == MPI_SUCCESS) use_new(call, choice, section, 0, made);
}

/* The dimension in which `blocks` blocks of `elements` follow each other at one distance; -1 if there is none. */
static int dimension_of_blocks(const f_section* section, MPI_Count elements, MPI_Count blocks) {
  MPI_Count slice = 1;
  for (int d = 0; d < section->rank; ++d) {
    const MPI_Count next = slice * f_extent(section, d);
    if (elements % slice == 0 && elements * blocks <= next) return f_distance(section, d) > 0 ? d : -1;
    slice = next;
  }
  return -1;
}

void f_open_blocks(struct f_call* call, struct f_choice* choice, const f_section* section, const char* argument,
                   int flags, MPI_Count blocks) {
  if (!wanted(call, choice) || blocks <= 0 || use_kept(choice, section, blocks)) return;
  const MPI_Datatype type = f_datatype(choice->type);
  const MPI_Count per = elements_per(section, type);
  const MPI_Count elements = per > 0 && choice->count % per == 0 ? choice->count / per : 0;
  if (per > 0 && choice->count > elements_of(section) * per / blocks) {
    too_small(call, argument, elements_of(section) * (MPI_Count)section->elem_len,
              blocks * f_span(choice->count, type));
    return;
  }
  const int d = elements > 0 ? dimension_of_blocks(section, elements, blocks) : -1;
  if (d < 0) {
    f_open_copy(call, choice, section, argument, flags, f_span(blocks * choice->count, type));
    return;
  }
  MPI_Count slice = 1;
  for (int i = 0; i < d; ++i) slice *= f_extent(section, i);
  MPI_Datatype block, resized;
  call->code = block_of(section, d, elements / slice, per, type, &block);
  if (call->code != MPI_SUCCESS) return;
  call->code = PMPI_Type_create_resized_c(block, 0, elements / slice * f_distance(section, d), &resized);
  PMPI_Type_free(&block);
  if (call->code == MPI_SUCCESS) use_new(call, choice, section, blocks, resized);
}

void f_open_element(struct f_call* call, const f_section* section, const char* argument, MPI_Datatype type) {
  MPI_Count size = 0;
  if (call->code != MPI_SUCCESS || type == MPI_DATATYPE_NULL) return;
  if (PMPI_Type_size_c(type, &size) == MPI_SUCCESS && size > (MPI_Count)section->elem_len) f_refuse(call, argument);
}

/* --- copies
 * ------------------------------------------------------------------------------------------------------------- */

void f_open_copy(struct f_call* call, struct f_choice* choice, const f_section* section, const char* argument,
                 int flags, MPI_Count span) {
  if (call->code != MPI_SUCCESS) return;
  if (flags & F_NO_COPY) {
    f_refuse(call, argument);
    return;
  }
  const MPI_Count bytes = elements_of(section) * (MPI_Count)section->elem_len;
  if (span < 0) {
    COMPLAIN(call,
             "%s: argument %s is a section with gaps, and its datatype has data before the address that it is used "
             "with: pass a contiguous array",
             argument);
    return;
  }
  if (span > bytes) {
    too_small(call, argument, bytes, span);
    return;
  }
  choice->copy = f_copy_of(section, flags & F_OUT);
  if (!choice->copy) {
    call->code = MPI_ERR_NO_MEM;
    return;
  }
  choice->work = F_COPIED;
  choice->address = f_copy_address(choice->copy);
}

void f_close(struct f_choice* choice) {
  if (choice->work == F_TYPE_MADE) PMPI_Type_free(&choice->made);
  if (choice->work == F_COPIED) {
    f_copy_back(choice->copy);
    f_copy_free(choice->copy);
  }
  choice->work = F_NOTHING;
}

static void copy_start(void* copy) { f_copy_fetch(copy); }
static void copy_finish(void* copy) { f_copy_back(copy); }
static void copy_release(void* copy) { f_copy_free(copy); }

void f_keep(struct f_choice* choice, const struct f_call* call, const f_int* request, enum f_life life) {
  static const struct f_work work = {copy_start, copy_finish, copy_release};
  const MPI_Request of = choice->work == F_COPIED && call->code == MPI_SUCCESS ? f_request(*request) : MPI_REQUEST_NULL;
  if (of == MPI_REQUEST_NULL)
    f_close(choice);
  else
    f_pending_add(of, life, &work, choice->copy);
}
