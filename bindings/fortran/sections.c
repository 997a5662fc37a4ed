#include "sections.h"

/* One call: its arguments, of which those that buffers are described by are replaced. */
struct attempt {
  const struct f_shape* shape;
  int large;
  void** given;
  struct f_call call;
  const f_section* sections[F_MOST_BUFFERS];
  struct f_choice choices[F_MOST_BUFFERS];
};

static const f_int* handle_at(const struct attempt* of, int at) { return at == F_ABSENT ? NULL : of->given[at]; }
static MPI_Comm comm_of(const struct attempt* of) { return f_comm(*of->call.comm); }

static int wide_count(const struct attempt* of, const struct f_buffer* buffer) {
  return of->large || buffer->flags & F_WIDE_COUNT;
}

static struct f_numbers counts_of(const struct attempt* of, const struct f_buffer* buffer) {
  return (struct f_numbers){of->given[buffer->count], wide_count(of, buffer) ? sizeof(MPI_Count) : sizeof(f_count)};
}

static struct f_numbers displs_of(const struct attempt* of, const struct f_buffer* buffer) {
  const int wide = of->large || buffer->flags & F_WIDE_DISPLS;
  return (struct f_numbers){of->given[buffer->displs], wide ? sizeof(MPI_Aint) : sizeof(f_displ)};
}

static MPI_Count ranks_of(const struct attempt* of, const struct f_buffer* buffer) {
  if (buffer->flags & F_INDEGREE) return f_indegree(comm_of(of));
  return buffer->flags & F_OUTDEGREE ? f_outdegree(comm_of(of)) : f_peers(comm_of(of));
}

/* Elements of a reduction that a rank gives or gets. With MPI_IN_PLACE it gives what lies where it gets its share. */
static MPI_Count elements_of_operand(const struct attempt* of, const struct f_buffer* buffer) {
  const struct f_numbers counts = counts_of(of, buffer);
  const int whole = !(buffer->flags & F_OUT) || f_in_place(of->sections[0]);
  const MPI_Count size = buffer->way != F_OPERAND && whole ? f_size(comm_of(of)) : 1;
  if (buffer->way != F_SHARES) return size * f_number(counts, 0);
  return whole ? f_sum(counts, size) : f_number(counts, f_rank(comm_of(of)));
}

static void open_buffer(struct attempt* of, int i) {
  const struct f_buffer* const buffer = &of->shape->buffer[i];
  const f_section* const section = of->sections[i];
  struct f_choice* const choice = &of->choices[i];
  const int flags = buffer->flags & (F_OUT | F_NO_COPY);
  const f_int* const types = of->given[buffer->type];
  switch (buffer->way) {
    case F_PAIR:
      f_open_pair(&of->call, choice, section, buffer->name, flags);
      return;
    case F_PEERS:
      f_open_blocks(&of->call, choice, section, buffer->name, flags, ranks_of(of, buffer));
      return;
    case F_PARTITIONS:
      f_open_blocks(&of->call, choice, section, buffer->name, flags, *(const f_int*)of->given[buffer->displs]);
      return;
    case F_OPERAND:
    case F_SHARE:
    case F_SHARES:
      f_open_copy(&of->call, choice, section, buffer->name, flags,
                  f_span(elements_of_operand(of, buffer), f_datatype(*types)));
      return;
    case F_BLOCKS:
      f_open_copy(
          &of->call, choice, section, buffer->name, flags,
          f_span_of_blocks(counts_of(of, buffer), displs_of(of, buffer), ranks_of(of, buffer), f_datatype(*types)));
      return;
    case F_BLOCKS_OF_TYPES:
      f_open_copy(&of->call, choice, section, buffer->name, flags,
                  f_span_of_types(counts_of(of, buffer), displs_of(of, buffer), ranks_of(of, buffer), types));
      return;
    case F_BYTES:
      f_open_copy(&of->call, choice, section, buffer->name, flags, f_number(counts_of(of, buffer), 0));
      return;
    case F_ELEMENT:
      f_open_element(&of->call, section, buffer->name, f_datatype(*types));
      return;
    case F_FIXED:
      f_refuse(&of->call, buffer->name);
  }
}

static int counts_here(const struct attempt* of, const struct f_buffer* buffer) {
  if (!(buffer->flags & F_AT_ROOT)) return 1;
  return f_is_root(comm_of(of), F_INT(*(const f_int*)of->given[of->shape->root]));
}

/* Opens a section that has gaps, and puts what stands for it among the arguments. */
static void replace(struct attempt* of, int i) {
  const struct f_buffer* const buffer = &of->shape->buffer[i];
  struct f_choice* const choice = &of->choices[i];
  const int pair = buffer->way == F_PAIR || buffer->way == F_PEERS || buffer->way == F_PARTITIONS;
  if (of->call.code != MPI_SUCCESS || !counts_here(of, buffer)) return;
  if (pair) {
    choice->count = f_number(counts_of(of, buffer), 0);
    choice->small = (f_count)choice->count;
    choice->type = *(const f_int*)of->given[buffer->type];
  }
  open_buffer(of, i);
  of->given[buffer->at] = choice->address;
  if (choice->work != F_TYPE_MADE && choice->work != F_TYPE_KEPT) return;
  of->given[buffer->count] = wide_count(of, buffer) ? (void*)&choice->count : (void*)&choice->small;
  of->given[buffer->type] = &choice->type;
}

static void call_plain(f_plain* plain, int n, void** a) {
  switch (n) {
#define UP_TO_4 a[0], a[1], a[2], a[3]
#define UP_TO_8 UP_TO_4, a[4], a[5], a[6], a[7]
#define UP_TO_12 UP_TO_8, a[8], a[9], a[10], a[11]
    case 3:
      plain(a[0], a[1], a[2]);
      return;
    case 4:
      plain(UP_TO_4);
      return;
    case 5:
      plain(UP_TO_4, a[4]);
      return;
    case 6:
      plain(UP_TO_4, a[4], a[5]);
      return;
    case 7:
      plain(UP_TO_4, a[4], a[5], a[6]);
      return;
    case 8:
      plain(UP_TO_8);
      return;
    case 9:
      plain(UP_TO_8, a[8]);
      return;
    case 10:
      plain(UP_TO_8, a[8], a[9]);
      return;
    case 11:
      plain(UP_TO_8, a[8], a[9], a[10]);
      return;
    case 12:
      plain(UP_TO_12);
      return;
    case 13:
      plain(UP_TO_12, a[12]);
      return;
    case 14:
      plain(UP_TO_12, a[12], a[13]);
      return;
    default:
      abort();
  }
}

static F_OUT_OF_LINE void call_with_gaps(const struct f_shape* shape, f_plain* plain, int large, void** arguments,
                                         const f_section* const* sections, int gaps) {
  struct attempt of = {.shape = shape, .large = large, .given = arguments};
  f_int* const ierror = arguments[shape->ierror];
  of.call = (struct f_call){shape->name, handle_at(&of, shape->comm), handle_at(&of, shape->win), .code = MPI_SUCCESS};
  for (int i = 0; i < shape->buffers; ++i) {
    of.sections[i] = sections[i];
    of.choices[i].address = sections[i]->base_addr;
  }
  for (int i = 0; i < shape->buffers; ++i)
    if (gaps >> i & 1) replace(&of, i);
  arguments[shape->ierror] = &of.call.code;
  if (of.call.code == MPI_SUCCESS) call_plain(plain, shape->arguments, arguments);
  for (int i = 0; i < shape->buffers; ++i) {
    if (shape->request == F_ABSENT)
      f_close(&of.choices[i]);
    else
      f_keep(&of.choices[i], &of.call, arguments[shape->request], shape->life);
  }
  f_return(ierror, (int)of.call.code);
}

/* The buffers' addresses take the places of their descriptors. */
void f_sections(const struct f_shape* shape, f_plain* plain, int large, void** arguments) {
  const f_section* sections[F_MOST_BUFFERS];
  int gaps = 0;
  for (int i = 0; i < shape->buffers; ++i) {
    const struct f_buffer* const buffer = &shape->buffer[i];
    sections[i] = arguments[buffer->at];
    arguments[buffer->at] = sections[i]->base_addr;
    if (buffer->way != F_ADDRESS && !f_contiguous(sections[i])) gaps |= 1 << i;
  }
  if (F_LIKELY(!gaps))
    call_plain(plain, shape->arguments, arguments);
  else
    call_with_gaps(shape, plain, large, arguments, sections, gaps);
}
