/* tool/calls: counts a program's MPI calls, and says at the end of the job which took the most time.
 *
 *     mpiexec --tool calls -n 4 ./program
 *
 * Every rank has a module, which adds up in a buffer that outlives the rank; one more module, in a process of
 * mpiexec's, reads the buffers of all ranks. <ashlar/tool.h> says what each member means. */
#include <ashlar/tool.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What a rank writes. Counters are atomic because a program may have several threads. */
enum { MOST = 1024 };
struct counter {
  char name[48];
  atomic_ullong calls, bytes, ticks;
};
struct record {
  atomic_uint complete; /* 1 when the rest may be read */
  unsigned procedures;
  ashlar_tool_clock begin;
  atomic_ullong last_ticks; /* of the newest call */
  atomic_ullong last_ns;    /* when MPI was finalised; 0: it was not */
  struct counter counter[];
};

struct config {
  uint64_t lines;
};
static const char* const lines_range[] = {"1", "1000", NULL};
static const ashlar_param params[] = {
    {"lines", "10", "How many calls are listed.", ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0,
     offsetof(struct config, lines), lines_range},
};
static const struct config* config;

struct module {
  ashlar_tool head;
  const ashlar_tool_context* context;
  struct record* record; /* NULL at the end of the job */
};

static const ashlar_tool_procedure* procedure(const ashlar_tool_context* c, uint32_t number) {
  /* Rows may be longer than those this file was compiled with. */
  return (const ashlar_tool_procedure*)((const char*)c->procedures + (size_t)number * c->procedure_bytes);
}

static int wants(ashlar_tool* self, uint32_t number) {
  const struct module* m = (struct module*)self;
  return m->record && number < m->record->procedures;
}

static void leave(ashlar_tool* self, const ashlar_tool_call* call) {
  struct record* r = ((struct module*)self)->record;
  struct counter* c = &r->counter[call->number];
  atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&c->bytes, call->bytes_out + call->bytes_in, memory_order_relaxed);
  atomic_fetch_add_explicit(&c->ticks, call->ended - call->began, memory_order_relaxed);
  atomic_store_explicit(&r->last_ticks, call->ended, memory_order_relaxed);
}

/* --- the end of the job --------------------------------------------------------------------------------------------
 */

struct line {
  const char* name;
  unsigned long long calls, bytes;
  double seconds;
};

static struct line* line_of(struct line* lines, unsigned* count, const char* name) {
  for (unsigned i = 0; i < *count; ++i)
    if (strcmp(lines[i].name, name) == 0) return &lines[i];
  if (*count == MOST) return NULL;
  lines[*count] = (struct line){.name = name};
  return &lines[(*count)++];
}

static void add_rank(struct line* lines, unsigned* count, const struct record* r, uint64_t job_ended_ns) {
  /* A rank that was killed has no second pair of clocks: the job's end stands for it, which is late by little. */
  const uint64_t last_ns = atomic_load(&r->last_ns) ? atomic_load(&r->last_ns) : job_ended_ns;
  const double ticks = (double)(atomic_load(&r->last_ticks) - r->begin.ticks);
  const double seconds_per_tick = ticks > 0 ? (double)(last_ns - r->begin.ns) * 1e-9 / ticks : 0;
  for (unsigned p = 0; p < r->procedures; ++p) {
    const struct counter* c = &r->counter[p];
    if (atomic_load(&c->calls) == 0) continue;
    struct line* l = line_of(lines, count, c->name);
    if (!l) continue;
    l->calls += atomic_load(&c->calls);
    l->bytes += atomic_load(&c->bytes);
    l->seconds += (double)atomic_load(&c->ticks) * seconds_per_tick;
  }
}

static void job_end(ashlar_tool* self, const ashlar_tool_job* job) {
  static struct line lines[MOST];
  unsigned count = 0, ranks = 0, lost = 0;
  (void)self;
  for (uint32_t i = 0; i < job->ranks; ++i) {
    const ashlar_tool_rank* rank = (const ashlar_tool_rank*)((const char*)job->rank + (size_t)i * job->rank_bytes);
    const struct record* r = rank->buffer;
    if (!r || rank->buffer_bytes < sizeof *r || !atomic_load(&r->complete)) continue;
    ++ranks;
    lost += !rank->finalized;
    add_rank(lines, &count, r, job->ended_ns);
  }
  printf("calls: %u ranks, %.3f s", ranks, (double)(job->ended_ns - job->began_ns) * 1e-9);
  if (lost) printf("; %u of them did not finalise MPI", lost);
  printf("\n%-28s %12s %16s %12s\n", "call", "count", "bytes", "seconds");
  for (uint64_t shown = 0; shown < config->lines && shown < count; ++shown) {
    unsigned best = 0;
    for (unsigned i = 1; i < count; ++i)
      if (lines[i].calls && (!lines[best].calls || lines[i].seconds > lines[best].seconds)) best = i;
    printf("%-28s %12llu %16llu %12.6f\n", lines[best].name, lines[best].calls, lines[best].bytes, lines[best].seconds);
    lines[best].calls = 0;
    lines[best].seconds = -1;
  }
}

static const ashlar_tool_ops ops = {.size = sizeof ops, .wants = wants, .leave = leave, .job_end = job_end};

/* --- the component -------------------------------------------------------------------------------------------------
 */

static const ashlar_host* host;

static ashlar_result open_calls(const ashlar_host* h, const void* cfg) {
  host = h;
  config = cfg;
  return ASHLAR_OK;
}

static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = 10;
  snprintf(answer->reason, sizeof answer->reason, "it counts calls wherever there are some");
}

static ashlar_result create(const void* context, void** module) {
  static struct module the_module;
  const ashlar_tool_context* c = context;
  the_module = (struct module){.head.ops = &ops, .context = c};
  if (c->role == ASHLAR_TOOL_IN_RANK) {
    struct record* r = c->buffer;
    unsigned n = c->procedure_count;
    if (!r || c->buffer_bytes < sizeof *r + n * sizeof r->counter[0])
      return host->fail(ASHLAR_ERR_OTHER, "%u calls need %zu bytes of buffer, and there are %llu", n,
                        sizeof *r + n * sizeof r->counter[0], (unsigned long long)c->buffer_bytes);
    r->procedures = n;
    for (unsigned p = 0; p < n; ++p)
      snprintf(r->counter[p].name, sizeof r->counter[p].name, "%s", procedure(c, p)->name);
    c->clock(&r->begin);
    atomic_store(&r->complete, 1);
    the_module.record = r;
  }
  *module = &the_module;
  return ASHLAR_OK;
}

static void destroy(void* module) {
  struct module* m = module;
  ashlar_tool_clock now;
  if (!m->record) return;
  m->context->clock(&now);
  atomic_store(&m->record->last_ticks, now.ticks);
  atomic_store(&m->record->last_ns, now.ns);
}

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_TOOL_FRAMEWORK,
    .name = "calls",
    .version = "1.0.0",
    .description = "Counts the MPI calls of a program.",
    .interface_version = ASHLAR_TOOL_INTERFACE,
    .config_size = sizeof(struct config),
    .param_count = sizeof params / sizeof *params,
    .params = params,
    .open = open_calls,
    .query = query,
    .create = create,
    .destroy = destroy,
};
