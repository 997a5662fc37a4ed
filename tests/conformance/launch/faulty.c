/* A launch component for a job of one, right unless the variable FAULT names a fault: what shows that the suite sees
 * it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "framework/plugin/launch.h"

static const ashlar_host* host;
static ashlar_job job;
static struct record {
  char key[64];
  size_t bytes;
  char blob[1024];
} records[64];
static unsigned count;

static int fault(const char* name) { return getenv("FAULT") && strcmp(getenv("FAULT"), name) == 0; }

static ashlar_result join(ashlar_launch* self, const ashlar_job** out) {
  (void)self;
  if (fault("joins nothing")) return ASHLAR_OK;
  if (fault("fails without words")) return -ASHLAR_ERR_OTHER;
  if (fault("crashes in connect")) __builtin_trap();
  job.size = sizeof job;
  snprintf(job.job_id, sizeof job.job_id, "faulty-%d", (int)getpid());
  job.ranks = job.local_size = job.nodes = 1;
  job.rank = fault("rank outside") ? 1 : 0;
  job.shared_fd = -1;
  job.launcher = fault("no launcher") ? NULL : "nothing";
  job.placement = "";
  if (fault("descriptor")) (void)!open("/dev/null", O_RDONLY);
  if (fault("environment")) setenv("FAULTY_WAS_HERE", "1", 1);
  if (fault("folder")) (void)!chdir("/");
  *out = &job;
  return ASHLAR_OK;
}

static ashlar_result put(ashlar_launch* self, const char* key, const void* blob, size_t bytes) {
  (void)self;
  if (count == sizeof records / sizeof *records) return host->fail(ASHLAR_ERR_NO_MEM, "no room for %s", key);
  struct record* const r = &records[count];
  snprintf(r->key, sizeof r->key, "%s", key);
  r->bytes = bytes;
  memcpy(r->blob, blob, bytes);
  ++count;
  return ASHLAR_OK;
}

static ashlar_result view(ashlar_launch* self, uint32_t rank, const char* key, const void** blob, size_t* bytes) {
  (void)self;
  static char copy[1024];
  for (unsigned i = count; i-- > 0 && rank == 0;) {
    if (strcmp(records[i].key, key) != 0) continue;
    *blob = records[i].blob;
    *bytes = records[i].bytes;
    if (fault("view moves")) *blob = memcpy(malloc(sizeof copy), records[i].blob, sizeof copy);
    if (fault("forgets long values") && *bytes > 500) return ASHLAR_LAUNCH_NOT_FOUND;
    return ASHLAR_OK;
  }
  return fault("absent is a failure") ? host->fail(ASHLAR_ERR_OTHER, "nothing there") : ASHLAR_LAUNCH_NOT_FOUND;
}

static ashlar_result get(ashlar_launch* self, uint32_t rank, const char* key, void* buffer, size_t* bytes) {
  const void* blob = NULL;
  size_t there = 0;
  const ashlar_result found = view(self, rank, key, &blob, &there);
  if (found != ASHLAR_OK) return found;
  if (fault("overruns") && there > *bytes) {
    memcpy(buffer, blob, there);
    *bytes = there;
    return host->fail(ASHLAR_ERR_TRUNCATE, "too long");
  }
  return ashlar_launch_copy(host, rank, key, blob, there, buffer, bytes);
}

static ashlar_result fence(ashlar_launch* self, int64_t timeout_ms) {
  (void)self;
  (void)timeout_ms;
  if (fault("exits in a fence")) exit(0);
  if (fault("hangs in a fence"))
    for (;;) pause();
  return ASHLAR_OK;
}

static ashlar_result nothing(ashlar_launch* self) {
  (void)self;
  return ASHLAR_OK;
}
static const char* host_of(ashlar_launch* self, uint32_t rank) {
  (void)self;
  (void)rank;
  return "localhost";
}
static void on_peer_failure(ashlar_launch* self, ashlar_launch_peer_failed* listener, void* context) {
  (void)self;
  if (fault("tells of failures")) listener(context, 0, "it is tired");
}
static void poll_nothing(ashlar_launch* self) { (void)self; }
static void end(ashlar_launch* self, int code, const char* text) {
  (void)self;
  (void)code;
  (void)text;
  if (fault("abort is no failure")) _exit(0);
}
static const char* process_sets(ashlar_launch* self) {
  (void)self;
  return fault("sets of others") ? "app://all=0-3" : "app://all=0";
}

static const ashlar_launch_ops ops = {.size = sizeof ops,
                                      .connect = join,
                                      .put = put,
                                      .fence = fence,
                                      .get = get,
                                      .view = view,
                                      .barrier = fence,
                                      .report_timeout = nothing,
                                      .host_of = host_of,
                                      .on_peer_failure = on_peer_failure,
                                      .poll = poll_nothing,
                                      .initialized = nothing,
                                      .abort = end,
                                      .finalize = nothing,
                                      .process_sets = process_sets};
static ashlar_launch module = {&ops};

static ashlar_result open_it(const ashlar_host* h, const void* config) {
  (void)config;
  host = h;
  return ASHLAR_OK;
}
static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = 1;
  snprintf(answer->reason, sizeof answer->reason, "any process is a job of one");
}
static ashlar_result create(const void* context, void** out) {
  (void)context;
  *out = &module;
  return ASHLAR_OK;
}

ASHLAR_EXPORT const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                                            .abi_major = ASHLAR_COMPONENT_MAJOR,
                                                            .abi_minor = ASHLAR_COMPONENT_MINOR,
                                                            .framework = ASHLAR_LAUNCH_FRAMEWORK,
                                                            .name = "faulty",
                                                            .version = "1",
                                                            .description = "a job of one",
                                                            .interface_version = ASHLAR_LAUNCH_INTERFACE,
                                                            .open = open_it,
                                                            .query = query,
                                                            .create = create};
