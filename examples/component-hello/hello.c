/* report/hello: a component of Ashlar MPI that lives outside its tree.
 *
 * A report component receives errors, notices and decisions; this one greets their reader. It needs only the
 * installed C headers and is linked with no library of Ashlar, so one file serves every version that speaks the same
 * contract. README.md says how to build it, <ashlar/report.h> what each member means. */
#include <ashlar/report.h>
#include <stdbool.h>
#include <stdio.h>

/* The parameters, next to the block they fill. report.hello.greeting can be set in a YAML file, on the command line or
 * in the environment (ASHLAR_report_hello_greeting); `ashlar_info explain report.hello.greeting` says who did. */
struct config {
  const char* greeting;
  bool count;
  uint64_t most;
};
/* A number's range, as text: its least and its most. Ashlar refuses everything else before open() is called. */
static const char* const most_range[] = {"1", "1000000", NULL};
static const ashlar_param params[] = {
    {"greeting", "hello", "The word each line begins with.", ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC,
     0, offsetof(struct config, greeting), NULL},
    {"count", "true", "Say at the end how many records there were.", ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, 0, offsetof(struct config, count), NULL},
    {"most", "1000", "Lines written at most; later records are only counted.", ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_BASIC, 0, offsetof(struct config, most), most_range},
};

static const ashlar_host* host;
static const struct config* config;

/* A module begins with its framework's table; what follows is ours. */
struct module {
  ashlar_report head;
  int rank;
};
static struct module the_module;

/* The kernel reads this counter through the pointer: MPI_T shows it as report.hello.records. */
static uint64_t records;
static const ashlar_pvar pvars[] = {{"records", "Errors and notices seen (count).", ASHLAR_PVAR_COUNTER, &records}};

static void say(const struct module* m, const char* kind, const char* text) {
  char line[1024];
  if (++records > config->most) return;
  snprintf(line, sizeof line, "%s, reader: rank %d has %s: %s\n", config->greeting, m->rank, kind,
           text ? text : "(no text)");
  fputs(line, stderr); /* one call: lines of several ranks stay whole */
}

static void on_error(ashlar_report* self, const ashlar_error_record* record) {
  char text[900];
  /* Texts that are not known are NULL; numbers are valid when their bit is set in `has`. */
  snprintf(text, sizeof text, "%s failed, %s", record->call ? record->call : "something", record->text);
  say((struct module*)self, "an error", text);
}

static void on_notice(ashlar_report* self, const ashlar_notice* notice) {
  say((struct module*)self, notice->level < 2 ? "a warning" : "a note", notice->text);
}

static void on_decision(ashlar_report* self, const ashlar_decision* decision) {
  char text[900];
  snprintf(text, sizeof text, "%s is served by %s", decision->topic, decision->chosen);
  say((struct module*)self, "decided", text);
}

static const ashlar_report_ops ops = {sizeof ops, on_error, on_notice, on_decision};

/* Called once, before anything else. `cfg` is our block, filled from the parameters. */
static ashlar_result open_hello(const ashlar_host* h, const void* cfg) {
  host = h;
  config = cfg;
  if (!*config->greeting) return host->fail(ASHLAR_ERR_ARG, "report.hello.greeting is empty: nothing to say");
  host->add_pvars("report", "hello", pvars, 1);
  return ASHLAR_OK;
}

/* Cheap and without side effect: whether we can serve, and why, in words. */
static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = 10;
  snprintf(answer->reason, sizeof answer->reason, "always glad to say %s", config->greeting);
}

static ashlar_result create(const void* context, void** module) {
  the_module.head.ops = &ops;
  the_module.rank = ((const ashlar_report_context*)context)->world_rank;
  *module = &the_module;
  return ASHLAR_OK;
}

static void destroy(void* module) {
  const struct module* m = module;
  if (config->count)
    fprintf(stderr, "%s, reader: rank %d had %llu records\n", config->greeting, m->rank, (unsigned long long)records);
}

/* The one symbol: a constant, because Ashlar reads it from the file before it loads the component. */
const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "report",
    .name = "hello",
    .version = "1.0.0",
    .description = "Greets whoever reads errors.",
    .interface_version = ASHLAR_REPORT_INTERFACE,
    .config_size = sizeof(struct config),
    .param_count = sizeof params / sizeof *params,
    .params = params,
    .build_id = 0, /* C headers only: works with any build */
    .open = open_hello,
    .query = query,
    .create = create,
    .destroy = destroy,
};
