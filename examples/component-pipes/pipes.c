/* transport/pipes: messages between the processes of one machine, through pipes. Small, and complete.
 *
 *     mpiexec --set transport=pipes,self -n 4 ./program
 *
 * Every interface has one pipe, its inbox. A peer opens it through /proc and writes each message with one write() of at
 * most PIPE_BUF bytes, which the system never mixes with another's: so many writers need no lock, and messages of one
 * writer keep their order. A pipe that is full is ASHLAR_AGAIN: the kernel of the library keeps the message and comes
 * back. <ashlar/transport.h> says what each function owes. */
#define _GNU_SOURCE
#include <ashlar/transport.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct config {
  uint64_t capacity;
};
static const char* const capacity_range[] = {"4KiB", "1MiB", NULL};
static const ashlar_param params[] = {
    {"capacity", "256KiB", "Bytes of messages that may wait in a process's pipe.", ASHLAR_PARAM_BYTES,
     ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(struct config, capacity), capacity_range},
};
static const ashlar_host* host;
static const struct config* config;

/* What lies in a pipe: a header and its payload, PIPE_BUF bytes at most. */
struct header {
  uint64_t h0, h1;
  uint32_t length, sender;
  uint8_t id, wakes; /* wakes: nothing is delivered */
  uint8_t unused[6];
};
enum { PAYLOAD = PIPE_BUF - sizeof(struct header), INBOX = 64 * 1024 };

/* Where an inbox is. Device and inode prove that what was opened is the pipe that was meant. */
struct address {
  char boot[40]; /* of the machine's start: the same text in all its processes, and nowhere else */
  int64_t pid;
  int32_t fd, version;
  uint64_t device, inode;
};

struct interface {
  ashlar_iface head;
  ashlar_transport_context context;
  int inbox;      /* our end to read from */
  int inbox_held; /* our end to write to: without one the pipe would end when peers leave */
  uint32_t kept;  /* bytes of `bytes` that begin a message whose rest is still in the pipe */
  unsigned char bytes[INBOX + PIPE_BUF];
};
struct endpoint {
  ashlar_endpoint head;
  struct interface* iface;
  int fd;
  pid_t pid;
  unsigned refused; /* writes since the last one that went through */
};

/* --- sending ---------------------------------------------------------------------------------------------------------
 */

static ashlar_result put_into_pipe(struct endpoint* e, const void* bytes, size_t length) {
  if (write(e->fd, bytes, length) == (ssize_t)length) {
    e->refused = 0;
    return ASHLAR_OK;
  }
  if (errno != EAGAIN && errno != EINTR)
    return host->fail(ASHLAR_ERR_OTHER, "write to the pipe of peer %u: %s", e->head.peer, strerror(errno));
  /* We hold its pipe open ourselves, so a peer that is gone shows by its process alone. */
  if (++e->refused % 1024 == 0 && kill(e->pid, 0) != 0 && errno == ESRCH)
    return host->fail(ASHLAR_ERR_PROC_ABORTED, "peer %u (process %d) has ended", e->head.peer, (int)e->pid);
  return ASHLAR_AGAIN;
}

static void fill_header(unsigned char* message, const struct endpoint* e, uint8_t id, uint64_t h0, uint64_t h1,
                        uint32_t length) {
  const struct header h = {.h0 = h0, .h1 = h1, .length = length, .sender = e->iface->context.self, .id = id};
  memcpy(message, &h, sizeof h);
}

static ashlar_result too_long(const struct endpoint* e, uint32_t length) {
  const ashlar_fact facts[] = {{"peer", NULL, e->head.peer}, {"bytes", NULL, length}, {"most", NULL, PAYLOAD}};
  return ashlar_fail_with(host, ASHLAR_ERR_ARG, "transport.too_long", facts, 3);
}

static ashlar_result am_short(ashlar_endpoint* self, uint8_t id, uint64_t h0, uint64_t h1, const void* data,
                              uint32_t length) {
  struct endpoint* e = (struct endpoint*)self;
  unsigned char message[PIPE_BUF];
  if (length > PAYLOAD) return too_long(e, length);
  fill_header(message, e, id, h0, h1, length);
  if (length) memcpy(message + sizeof(struct header), data, length);
  return put_into_pipe(e, message, sizeof(struct header) + length);
}

static ashlar_result am_bcopy(ashlar_endpoint* self, uint8_t id, uint64_t h0, uint64_t h1, ashlar_fill fill,
                              void* argument, uint32_t length) {
  struct endpoint* e = (struct endpoint*)self;
  unsigned char message[PIPE_BUF];
  struct pollfd room = {.fd = e->fd, .events = POLLOUT};
  if (length > PAYLOAD) return too_long(e, length);
  /* `fill` can be asked once only: not before there is room. A pipe that takes PIPE_BUF bytes says POLLOUT. */
  if (poll(&room, 1, 0) != 1) return put_into_pipe(e, "", 0) < 0 ? -ASHLAR_ERR_OTHER : ASHLAR_AGAIN;
  fill_header(message, e, id, h0, h1, length);
  for (uint32_t done = 0; done < length;) {
    const size_t n = fill(argument, message + sizeof(struct header) + done, length - done);
    if (n == 0) {
      const ashlar_fact facts[] = {
          {"peer", NULL, e->head.peer}, {"bytes_got", NULL, done}, {"bytes_wanted", NULL, length}};
      return ashlar_fail_with(host, ASHLAR_ERR_ARG, "transport.too_short", facts, 3);
    }
    done += (uint32_t)n;
  }
  return put_into_pipe(e, message, sizeof(struct header) + length);
}

static void wake(ashlar_endpoint* self) {
  struct endpoint* e = (struct endpoint*)self;
  const struct header h = {.sender = e->iface->context.self, .wakes = 1};
  (void)!write(e->fd, &h, sizeof h); /* a pipe without room wakes by itself */
}

static const ashlar_endpoint_ops endpoint_ops = {
    .size = sizeof endpoint_ops, .am_short = am_short, .am_bcopy = am_bcopy, .wake = wake};

/* --- the interface
 * ----------------------------------------------------------------------------------------------------- */

static int describe(const struct interface* i, struct address* a) {
  struct stat facts;
  memset(a, 0, sizeof *a);
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    (void)!read(fd, a->boot, sizeof a->boot - 1);
    close(fd);
  }
  a->version = 1;
  a->pid = getpid();
  a->fd = i->inbox_held;
  if (fstat(i->inbox_held, &facts) != 0) return -1;
  a->device = facts.st_dev;
  a->inode = facts.st_ino;
  return 0;
}

static ashlar_result address(ashlar_iface* self, void* out, uint32_t* length) {
  struct address a;
  if (describe((struct interface*)self, &a) != 0)
    return host->fail(ASHLAR_ERR_OTHER, "fstat of a pipe: %s", strerror(errno));
  memcpy(out, &a, sizeof a);
  *length = sizeof a;
  return ASHLAR_OK;
}

static ashlar_result connect_to(ashlar_iface* self, uint32_t peer, const void* at, uint32_t length,
                                ashlar_endpoint** out) {
  struct interface* i = (struct interface*)self;
  struct address mine, theirs;
  struct stat facts;
  char path[64];
  if (length != sizeof theirs) return host->fail(ASHLAR_ERR_OTHER, "peer %u has another kind of address", peer);
  memcpy(&theirs, at, sizeof theirs);
  if (theirs.version != 1) return host->fail(ASHLAR_ERR_OTHER, "peer %u has another version of address", peer);
  if (describe(i, &mine) != 0 || memcmp(mine.boot, theirs.boot, sizeof mine.boot) != 0)
    return host->fail(ASHLAR_ERR_OTHER, "peer %u is on another machine", peer);
  snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)theirs.pid, theirs.fd);
  /* For both directions: a pipe that also we can read from never raises SIGPIPE. */
  const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return host->fail(ASHLAR_ERR_OTHER, "%s: %s", path, strerror(errno));
  if (fstat(fd, &facts) != 0 || !S_ISFIFO(facts.st_mode) || facts.st_dev != theirs.device ||
      facts.st_ino != theirs.inode) {
    close(fd);
    return host->fail(ASHLAR_ERR_OTHER, "%s is not the pipe of peer %u", path, peer);
  }
  struct endpoint* e = calloc(1, sizeof *e);
  if (!e) {
    close(fd);
    return host->fail(ASHLAR_ERR_NO_MEM, "no memory for an endpoint");
  }
  e->head = (ashlar_endpoint){.ops = &endpoint_ops,
                              .max_short = PAYLOAD,
                              .max_bcopy = PAYLOAD,
                              .peer = peer,
                              .latency_ns = 2500,
                              .bandwidth_copy = 1.0f};
  e->iface = i;
  e->fd = fd;
  e->pid = (pid_t)theirs.pid;
  *out = &e->head;
  return ASHLAR_OK;
}

static void disconnect(ashlar_iface* self, ashlar_endpoint* endpoint) {
  (void)self;
  close(((struct endpoint*)endpoint)->fd);
  free(endpoint);
}

/* Delivers what one read() brings; the beginning of a message whose rest does not fit is kept. */
static unsigned progress(ashlar_iface* self) {
  struct interface* i = (struct interface*)self;
  const ssize_t got = read(i->inbox, i->bytes + i->kept, INBOX);
  if (got <= 0) return 0;
  const uint32_t there = i->kept + (uint32_t)got;
  uint32_t at = 0;
  unsigned events = 0;
  while (there - at >= sizeof(struct header)) {
    struct header h;
    memcpy(&h, i->bytes + at, sizeof h);
    if (there - at < sizeof h + h.length) break;
    const ashlar_am am = {
        .h0 = h.h0, .h1 = h.h1, .data = i->bytes + at + sizeof h, .length = h.length, .peer = h.sender, .id = h.id};
    if (!h.wakes) i->context.deliver(i->context.lane_context, &am);
    at += (uint32_t)sizeof h + h.length;
    ++events;
  }
  i->kept = there - at;
  memmove(i->bytes, i->bytes + at, i->kept);
  return events;
}

static ashlar_result arm(ashlar_iface* self) {
  struct pollfd something = {.fd = ((struct interface*)self)->inbox, .events = POLLIN};
  return poll(&something, 1, 0) > 0 ? ASHLAR_AGAIN : ASHLAR_OK;
}
static void disarm(ashlar_iface* self) { (void)self; }
static int wake_fd(ashlar_iface* self) { return ((struct interface*)self)->inbox; }
static int idle(ashlar_iface* self) {
  (void)self;
  return 1; /* what was sent lies in the peer's pipe */
}

static const ashlar_iface_ops iface_ops = {.size = sizeof iface_ops,
                                           .address = address,
                                           .connect = connect_to,
                                           .disconnect = disconnect,
                                           .progress = progress,
                                           .arm = arm,
                                           .disarm = disarm,
                                           .wake_fd = wake_fd,
                                           .idle = idle};

/* --- the component
 * ----------------------------------------------------------------------------------------------------- */

static ashlar_result open_pipes(const ashlar_host* h, const void* c) {
  host = h;
  config = c;
  return ASHLAR_OK;
}

static void query(const void* context, ashlar_answer* answer) {
  const ashlar_transport_context* c = context;
  answer->priority = 5;
  answer->capabilities = ASHLAR_CAP_WAKE_FD;
  snprintf(answer->reason, sizeof answer->reason, "%u of %u processes are on this machine", c->local_size, c->job_size);
}

static ashlar_result create(const void* context, void** module) {
  int ends[2];
  struct interface* i = calloc(1, sizeof *i);
  if (!i) return host->fail(ASHLAR_ERR_NO_MEM, "no memory for an interface");
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) {
    free(i);
    return host->fail(ASHLAR_ERR_OTHER, "pipe2: %s", strerror(errno));
  }
  (void)fcntl(ends[1], F_SETPIPE_SZ, (int)config->capacity); /* what the system gives otherwise will do */
  i->head.ops = &iface_ops;
  i->context = *(const ashlar_transport_context*)context;
  i->inbox = ends[0];
  i->inbox_held = ends[1];
  *module = i;
  return ASHLAR_OK;
}

static void destroy(void* module) {
  struct interface* i = module;
  close(i->inbox);
  close(i->inbox_held);
  free(i);
}

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "transport",
    .name = "pipes",
    .version = "1.0.0",
    .description = "Messages between processes of one machine, through pipes.",
    .interface_version = ASHLAR_TRANSPORT_INTERFACE,
    .config_size = sizeof(struct config),
    .param_count = sizeof params / sizeof *params,
    .params = params,
    .open = open_pipes,
    .query = query,
    .create = create,
    .destroy = destroy,
};
