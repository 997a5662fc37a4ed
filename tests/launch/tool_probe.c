// tool/probe: writes each call that it sees into its buffer, a line each, and prints the lines of all ranks at the end
// of the job. `probe2` is the same file under another name. tool.probe.only names calls, tool.probe.events events;
// tool.probe.crash says where to fail, tool.probe.calls has it call MPI where no tool should.
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "framework/plugin/tool.h"

#ifndef NAME
#define NAME "probe"
#endif

struct config {
  const char* only;
  const char* crash;
  const char* variable;
  const char* events;
  uint64_t samples;
  int32_t calls;
};
enum { NO_CALLS, CALLS, CLOSES };
static const char* const calls_words[] = {"no", "yes", "closes", NULL};
static const ashlar_param params[] = {
    {"only", "", "Calls that are wanted, as MPI_Send,MPI_Recv; empty: all.", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, 0, offsetof(struct config, only), NULL},
    {"crash", "", "The function that fails: create, job_sample or job_end.", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, 0, offsetof(struct config, crash), NULL},
    {"variable", "", "A performance variable to tell at the end.", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, 0, offsetof(struct config, variable), NULL},
    {"events", "", "Events that are wanted, as coll.begin,coll.end.", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, 0, offsetof(struct config, events), NULL},
    {"samples", "0", "1: tell of the ranks while the job runs.", ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, 0, offsetof(struct config, samples), NULL},
    {"calls", "no", "What enter() does: yes calls MPI_Comm_rank, closes closes this library.", ASHLAR_PARAM_ENUM,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, offsetof(struct config, calls), calls_words},
};

struct buffer {
  atomic_uint used, lost;
  char text[];
};
struct module {
  ashlar_tool head;
  const ashlar_tool_context* context;
};
static struct module the_module, the_reporter; /* of a rank, and of what reads its records */
static const ashlar_host* host;
static const struct config* config;

static struct buffer* buffer_of(ashlar_tool* self) { return ((struct module*)self)->context->buffer; }
static const char* name_of(uint32_t number) { return the_module.context->procedures[number].name; }

static void write_line(ashlar_tool* self, const char* line) {
  struct buffer* b = buffer_of(self);
  const unsigned bytes = (unsigned)strlen(line);
  const unsigned at = atomic_fetch_add(&b->used, bytes);
  if (at + bytes > the_module.context->buffer_bytes - sizeof *b) {
    atomic_fetch_sub(&b->used, bytes);
    atomic_fetch_add(&b->lost, 1);
    return;
  }
  memcpy(b->text + at, line, bytes);
}

static int is_in(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = list; (at = strstr(at, name)) != NULL; at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length])) return 1;
  return 0;
}
static int wants(ashlar_tool* self, uint32_t number) {
  (void)self;
  return !*config->only || is_in(config->only, name_of(number));
}
static int wants_event(ashlar_tool* self, uint32_t number) {
  (void)self;
  return is_in(config->events, the_module.context->event_types[number].name);
}

static void add(char* line, size_t room, const char* key, int64_t value) {
  const size_t used = strlen(line);
  if (value == ASHLAR_TOOL_NONE) return;
  snprintf(line + used, room - used, " %s=%lld", key, (long long)value);
}

static void tell(ashlar_tool* self, const char* what, const ashlar_tool_call* c) {
  char line[400], name[64];
  snprintf(line, sizeof line, "%s %s", what, name_of(c->number));
  if (c->comm) {
    the_module.context->comm_name(c, name, sizeof name);
    snprintf(line + strlen(line), sizeof line - strlen(line), " on='%s' at=%d/%d", name, c->comm_rank, c->comm_size);
  }
  add(line, sizeof line, "to", c->to);
  add(line, sizeof line, "to_world", c->to_world);
  add(line, sizeof line, "send_tag", c->send_tag);
  add(line, sizeof line, "from", c->from);
  add(line, sizeof line, "from_world", c->from_world);
  add(line, sizeof line, "receive_tag", c->receive_tag);
  add(line, sizeof line, "root", c->root);
  add(line, sizeof line, "out", c->bytes_out ? (int64_t)c->bytes_out : ASHLAR_TOOL_NONE);
  add(line, sizeof line, "in", c->bytes_in ? (int64_t)c->bytes_in : ASHLAR_TOOL_NONE);
  add(line, sizeof line, "request", c->request ? 1 : ASHLAR_TOOL_NONE);
  for (uint32_t i = 0, known = 0; i < c->request_count; ++i) {
    known += c->requests[i] != 0;
    if (i + 1 == c->request_count) add(line, sizeof line, "requests", known);
  }
  add(line, sizeof line, "result", c->result ? c->result : ASHLAR_TOOL_NONE);
  if (c->size != sizeof *c) add(line, sizeof line, "size", c->size);
  if (*what == 'l' && c->ended < c->began) add(line, sizeof line, "ended_before_it_began", 1);
  strcat(line, "\n");
  write_line(self, line);
}

static void enter(ashlar_tool* self, const ashlar_tool_call* c) {
  tell(self, "enter", c);
  if (config->calls == CALLS && c->comm) {
    int rank = -1;
    int (*const comm_rank)(const void*, int*) = (int (*)(const void*, int*))dlsym(RTLD_DEFAULT, "MPI_Comm_rank");
    if (!comm_rank || comm_rank((const void*)0x101, &rank) != 0 || rank < 0) write_line(self, "it failed\n");
  }
  if (config->calls == CLOSES) {
    Dl_info here;
    void* const library = dladdr(&the_module, &here) ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    for (int i = 0; library && i < 3; ++i) dlclose(library);
  }
}
static void leave(ashlar_tool* self, const ashlar_tool_call* c) { tell(self, "leave", c); }

static void event(ashlar_tool* self, const ashlar_tool_event* e) {
  const ashlar_tool_event_type* type = &the_module.context->event_types[e->number];
  char line[400];
  snprintf(line, sizeof line, "event %s", type->name);
  for (uint32_t i = 0; i < e->value_count && type->fields[i]; ++i) {
    const size_t used = strlen(line);
    if (type->word_fields >> i & 1)
      snprintf(line + used, sizeof line - used, " %s='%s'", type->fields[i], type->words[e->values[i]]);
    else
      snprintf(line + used, sizeof line - used, " %s=%lld", type->fields[i], (long long)e->values[i]);
  }
  strcat(line, "\n");
  write_line(self, line);
}

static int job_sample(ashlar_tool* self, const ashlar_tool_job* job) {
  (void)self;
  if (strcmp(config->crash, "job_sample") == 0) raise(SIGSEGV);
  if (!config->samples) return 0;
  for (uint32_t r = 0; r < job->ranks; ++r) {
    const struct buffer* b = job->rank[r].buffer;
    printf(NAME " sample: rank %u running %d finalized %d used %d\n", r, job->rank[r].running, job->rank[r].finalized,
           b && atomic_load(&b->used) > 0);
  }
  return 1;
}

static void job_end(ashlar_tool* self, const ashlar_tool_job* job) {
  (void)self;
  if (strcmp(config->crash, "job_end") == 0) raise(SIGSEGV);
  for (uint32_t r = 0; r < job->ranks; ++r) {
    const ashlar_tool_rank* rank = &job->rank[r];
    const struct buffer* b = rank->buffer;
    printf(NAME " rank %u status %d finalized %d\n", r, rank->exit_status, rank->finalized);
    if (!b) continue;
    for (const char *at = b->text, *end = b->text + atomic_load(&b->used), *stop; at < end; at = stop + 1) {
      stop = memchr(at, '\n', (size_t)(end - at));
      if (!stop) break;
      printf(NAME " %u: %.*s\n", r, (int)(stop - at), at);
    }
    if (atomic_load(&b->lost)) printf(NAME " %u: %u lines lost\n", r, atomic_load(&b->lost));
  }
}

static const ashlar_tool_ops ops = {.size = sizeof ops,
                                    .wants = wants,
                                    .enter = enter,
                                    .leave = leave,
                                    .job_end = job_end,
                                    .wants_event = wants_event,
                                    .event = event,
                                    .job_sample = job_sample};

static ashlar_result open_probe(const ashlar_host* h, const void* c) {
  host = h;
  config = c;
  return ASHLAR_OK;
}
static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = 10;
  snprintf(answer->reason, sizeof answer->reason, "for tests");
}
static ashlar_result create(const void* context, void** module) {
  const ashlar_tool_context* const of = context;
  struct module* const made = of->role == ASHLAR_TOOL_IN_RANK ? &the_module : &the_reporter;
  made->head.ops = &ops;
  made->context = of;
  if (strcmp(config->crash, "create") == 0) return host->fail(ASHLAR_ERR_OTHER, "create was told to fail");
  if (of->role == ASHLAR_TOOL_IN_RANK && !of->buffer) return host->fail(ASHLAR_ERR_OTHER, "there is no buffer");
  *module = made;
  return ASHLAR_OK;
}
static void destroy(void* module) {
  char line[200];
  uint64_t value = 0;
  if (((struct module*)module)->context->role != ASHLAR_TOOL_IN_RANK) return;
  if (*config->variable) {
    const int known = the_module.context->variable(config->variable, &value);
    snprintf(line, sizeof line, "variable %d %llu\n", known, (unsigned long long)value);
    write_line(module, line);
  }
  write_line(module, "destroyed\n");
}

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_TOOL_FRAMEWORK,
    .name = NAME,
    .version = "1.0.0",
    .description = "Prints every call.",
    .interface_version = ASHLAR_TOOL_INTERFACE,
    .config_size = sizeof(struct config),
    .param_count = sizeof params / sizeof *params,
    .params = params,
    .open = open_probe,
    .query = query,
    .create = create,
    .destroy = destroy,
};
