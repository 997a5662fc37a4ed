/* io/watch: says of every file that is closed how much was moved, in how many transfers, and how long the slowest took.
 *
 *     mpiexec -n 4 ./program          its lines are on standard error
 *     mpiexec --set io=^watch ...     all but it
 *
 * It stands in front of the component that would serve without it, and passes every call on: a file system of one's own
 * begins like this, and replaces what it does better. <ashlar/io.h> says what each function owes. */
#include <ashlar/io_in_front.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct config {
  uint64_t least; /* ns */
};
static const char* const least_range[] = {"0", "1h", NULL};
static const ashlar_param params[] = {
    {"least", "0s", "Files whose slowest transfer took less are not mentioned.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, offsetof(struct config, least), least_range},
};
static const struct config* config;
static const ashlar_host* host;

/* Any thread may move data of a file, several at a time. */
struct sum {
  atomic_ullong transfers, bytes, slowest_ns;
};
struct file {
  ashlar_io_front_file front;
  struct sum reads, writes;
  char path[];
};

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void count(struct sum* sum, uint64_t bytes, uint64_t ns) {
  unsigned long long seen = atomic_load(&sum->slowest_ns);
  atomic_fetch_add(&sum->transfers, 1);
  atomic_fetch_add(&sum->bytes, bytes);
  while (ns > seen && !atomic_compare_exchange_weak(&sum->slowest_ns, &seen, ns)) {
  }
}

/* What the driver behind returns is returned: its failures already have their class, and words for the user. */
static ashlar_result read_pieces(ashlar_io_file* self, const ashlar_io_piece* pieces, uint32_t n, uint64_t* done) {
  struct file* const f = (struct file*)self;
  const uint64_t begin = now_ns();
  const ashlar_result result = f->front.next->ops->read(f->front.next, pieces, n, done);
  count(&f->reads, *done, now_ns() - begin);
  return result;
}

static ashlar_result write_pieces(ashlar_io_file* self, const ashlar_io_piece* pieces, uint32_t n, uint64_t* done) {
  struct file* const f = (struct file*)self;
  const uint64_t begin = now_ns();
  const ashlar_result result = f->front.next->ops->write(f->front.next, pieces, n, done);
  count(&f->writes, *done, now_ns() - begin);
  return result;
}

static ashlar_result close_file(ashlar_io_file* self) {
  struct file* const f = (struct file*)self;
  const unsigned long long reads = atomic_load(&f->reads.transfers), writes = atomic_load(&f->writes.transfers);
  const unsigned long long a = atomic_load(&f->reads.slowest_ns), b = atomic_load(&f->writes.slowest_ns);
  if (reads + writes > 0 && (a > b ? a : b) >= config->least)
    fprintf(stderr,
            "watch: '%s': wrote %llu bytes (calls: %llu), read %llu bytes (calls: %llu), the slowest took %.3f ms\n",
            f->path, (unsigned long long)atomic_load(&f->writes.bytes), writes,
            (unsigned long long)atomic_load(&f->reads.bytes), reads, (double)(a > b ? a : b) * 1e-6);
  const ashlar_result result = f->front.next->ops->close(f->front.next);
  free(f);
  return result;
}

/* There is no descriptor and no mapping: data that is moved by them would not be seen here. */
static const ashlar_io_file_ops file_ops = {.size = sizeof file_ops,
                                            .close = close_file,
                                            .read = read_pieces,
                                            .write = write_pieces,
                                            .stat = ashlar_io_stat_behind,
                                            .truncate = ashlar_io_truncate_behind,
                                            .allocate = ashlar_io_allocate_behind,
                                            .sync = ashlar_io_sync_behind,
                                            .refresh = ashlar_io_refresh_behind,
                                            .lock = ashlar_io_lock_behind,
                                            .unlock = ashlar_io_unlock_behind};

static ashlar_result open_file(ashlar_io_driver* driver, const ashlar_io_open* wanted, ashlar_io_file** out) {
  ashlar_io_driver* const next = ashlar_io_driver_behind(driver);
  const size_t room = sizeof(struct file) + strlen(wanted->path) + 1;
  ashlar_io_file* behind = NULL;
  const ashlar_result result = next->ops->open(next, wanted, &behind);
  if (result != ASHLAR_OK) return result;
  struct file* const f = calloc(1, room);
  if (!f) {
    behind->ops->close(behind);
    return ashlar_fail_no_memory(host, "an open file", room);
  }
  f->front.head.ops = &file_ops;
  f->front.head.capabilities = behind->capabilities;
  f->front.next = behind;
  strcpy(f->path, wanted->path);
  *out = &f->front.head;
  return ASHLAR_OK;
}

static const ashlar_io_driver_ops driver_ops = {
    .size = sizeof driver_ops, .open = open_file, .remove = ashlar_io_remove_behind};

static ashlar_result open_watch(const ashlar_host* h, const void* cfg) {
  host = h;
  config = cfg;
  return ASHLAR_OK;
}

/* Asked for each kind of file system; it is above those that come with the library, which have 50 at most. */
static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = 60;
  snprintf(answer->reason, sizeof answer->reason, "it watches whatever file it can stand in front of");
}

static ashlar_result create(const void* context, void** module) {
  const ashlar_io_context* const c = context;
  if (!c->next) return host->fail(ASHLAR_ERR_OTHER, "there is no component behind it");
  ashlar_io_front_driver* const driver = calloc(1, sizeof *driver);
  if (!driver) return ashlar_fail_no_memory(host, "a driver", sizeof *driver);
  driver->head.ops = &driver_ops;
  driver->next = c->next;
  *module = driver;
  return ASHLAR_OK;
}

static void destroy(void* module) { free(module); }

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "io",
    .name = "watch",
    .version = "1.0.0",
    .description = "Says how much was moved of each file, and how long the slowest transfer took.",
    .interface_version = ASHLAR_IO_INTERFACE,
    .config_size = sizeof(struct config),
    .param_count = sizeof params / sizeof *params,
    .params = params,
    .open = open_watch,
    .query = query,
    .create = create,
    .destroy = destroy,
};
