/* A program that speaks PMIx and no MPI. Each action checks what it has got, and prints "ok" when all was right.
 *
 *   info | fence | large BYTES | demand | publish | connect | notify | ranges
 *   death RANK      the rank is killed; the others print what they hear
 *   abort RANK
 *   stuck RANK      all but the rank are in a fence; it waits
 *   spawn N [KEY=VALUE...]
 */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static uint32_t size;

static void check(int good, const char* what) {
  if (good) return;
  printf("rank %u of %s: %s\n", me.rank, me.nspace, what);
  fflush(stdout);
  exit(3);
}

static void must(pmix_status_t status, const char* what) {
  if (status == PMIX_SUCCESS) return;
  printf("rank %u of %s: %s: %s\n", me.rank, me.nspace, what, PMIx_Error_string(status));
  fflush(stdout);
  exit(3);
}

static pmix_proc_t proc_of(uint32_t rank) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, me.nspace, rank);
  return proc;
}

static uint32_t number(uint32_t rank, const char* key) {
  pmix_proc_t proc = proc_of(rank);
  pmix_value_t* value = NULL;
  /* The node of a rank is known of the rank; libpmix 4.2 looks for it among what is known of the node, if not told. */
  pmix_info_t of_job;
  PMIX_INFO_LOAD(&of_job, PMIX_JOB_INFO, NULL, PMIX_BOOL);
  const int at_rank = strcmp(key, PMIX_NODEID) == 0;
  must(PMIx_Get(&proc, key, at_rank ? &of_job : NULL, at_rank ? 1 : 0, &value), key);
  const uint32_t out = value->type == PMIX_UINT16 ? value->data.uint16 : value->data.uint32;
  PMIX_VALUE_RELEASE(value);
  return out;
}

static void text(uint32_t rank, const char* key, char out[256]) {
  pmix_proc_t proc = proc_of(rank);
  pmix_value_t* value = NULL;
  must(PMIx_Get(&proc, key, NULL, 0, &value), key);
  check(value->type == PMIX_STRING, key);
  snprintf(out, 256, "%s", value->data.string);
  PMIX_VALUE_RELEASE(value);
}

static void put(const char* key, uint32_t what) {
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_UINT32;
  value.data.uint32 = what;
  must(PMIx_Put(PMIX_GLOBAL, key, &value), "PMIx_Put");
}

/* What the process has put under the key; `at_once`: it has to be known here. */
static pmix_status_t get_of(const pmix_proc_t* proc, const char* key, int at_once, uint32_t* out) {
  pmix_info_t info;
  bool yes = true;
  PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
  pmix_value_t* value = NULL;
  const pmix_status_t status = PMIx_Get(proc, key, at_once ? &info : NULL, at_once ? 1 : 0, &value);
  if (status == PMIX_SUCCESS) {
    check(value->type == PMIX_UINT32, "the type of a value");
    *out = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
  }
  return status;
}

static void fence(const pmix_proc_t* procs, size_t count, int with_data) {
  pmix_info_t info;
  bool yes = true;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  must(PMIx_Fence(procs, count, with_data ? &info : NULL, with_data ? 1 : 0), "PMIx_Fence");
}

static void do_info(void) {
  char host[256], peers[256], all[1024] = "";
  text(me.rank, PMIX_HOSTNAME, host);
  text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, peers);
  for (uint32_t r = 0; r < size; ++r) {
    char of[256];
    text(r, PMIX_HOSTNAME, of);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s:%u:%u", r ? " " : "", of, number(r, PMIX_NODEID),
             number(r, PMIX_LOCAL_RANK));
  }
  pmix_proc_t* there = NULL;
  size_t count = 0;
  must(PMIx_Resolve_peers(host, me.nspace, &there, &count), "PMIx_Resolve_peers");
  PMIX_PROC_FREE(there, count);
  char* nodes = NULL;
  must(PMIx_Resolve_nodes(me.nspace, &nodes), "PMIx_Resolve_nodes");
  printf("rank %u of %u on %s: peers %s, %u of them, resolved %zu, leader %u, nodes %u (%s), all %s\n", me.rank, size,
         host, peers, number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE), count, number(PMIX_RANK_WILDCARD, PMIX_LOCALLDR),
         number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES), nodes, all);
  free(nodes);
}

static void do_fence(void) {
  put("mine", 100 + me.rank);
  must(PMIx_Commit(), "PMIx_Commit");
  fence(NULL, 0, 1);
  for (uint32_t r = 0; r < size; ++r) {
    pmix_proc_t proc = proc_of(r);
    uint32_t got = 0;
    must(get_of(&proc, "mine", 1, &got), "a value after a fence with data");
    check(got == 100 + r, "a value after a fence with data");
  }
  for (int i = 0; i < 20; ++i) fence(NULL, 0, 0);
  /* The first and the last, with what they have put since; the ranks of one host alone; all but the first. */
  pmix_proc_t ends[2] = {proc_of(0), proc_of(size - 1)};
  if (me.rank == 0 || me.rank == size - 1) {
    put("ends", 200 + me.rank);
    must(PMIx_Commit(), "PMIx_Commit");
    fence(ends, 2, 1);
    uint32_t got = 0;
    must(get_of(&ends[me.rank == 0], "ends", 1, &got), "a value after a fence of two");
    check(got == 200 + ends[me.rank == 0].rank, "a value after a fence of two");
  }
  pmix_proc_t* others = calloc(size, sizeof *others);
  for (uint32_t r = 1; r < size; ++r) others[r - 1] = proc_of(r);
  if (me.rank > 0) fence(others, size - 1, 0);
  size_t here = 0;
  for (uint32_t r = 0; r < size; ++r)
    if (number(r, PMIX_NODEID) == number(me.rank, PMIX_NODEID)) others[here++] = proc_of(r);
  fence(others, here, 0);
  free(others);
  fence(NULL, 0, 0);
}

static void do_large(const char* bytes) {
  const size_t length = strtoul(bytes, NULL, 10);
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = malloc(length);
  value.data.bo.size = length;
  /* Not to be compressed. */
  uint32_t state = me.rank + 1;
  for (size_t i = 0; i < length; ++i) value.data.bo.bytes[i] = (char)((state = state * 1664525u + 1013904223u) >> 24);
  must(PMIx_Put(PMIX_GLOBAL, "large", &value), "PMIx_Put");
  must(PMIx_Commit(), "PMIx_Commit");
  pmix_info_t info;
  bool yes = true;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  const pmix_status_t status = PMIx_Fence(NULL, 0, &info, 1);
  if (status != PMIX_SUCCESS) {
    printf("the fence: %s\n", PMIx_Error_string(status));
    return;
  }
  pmix_proc_t proc = proc_of((me.rank + 1) % size);
  pmix_value_t* got = NULL;
  must(PMIx_Get(&proc, "large", NULL, 0, &got), "a large value");
  check(got->type == PMIX_BYTE_OBJECT && got->data.bo.size == length, "a large value");
  state = proc.rank + 1;
  for (size_t i = 0; i < length; ++i)
    check(got->data.bo.bytes[i] == (char)((state = state * 1664525u + 1013904223u) >> 24), "a large value");
}

static void do_demand(void) {
  /* Rank 0 is late: who asks before waits for it. */
  if (me.rank == 0) usleep(300000);
  put("asked", 300 + me.rank);
  must(PMIx_Commit(), "PMIx_Commit");
  for (uint32_t i = 0; i < size; ++i) {
    pmix_proc_t proc = proc_of((me.rank + i) % size);
    uint32_t got = 0;
    must(get_of(&proc, "asked", 0, &got), "a value on demand");
    check(got == 300 + proc.rank, "a value on demand");
  }
  fence(NULL, 0, 0);
  uint32_t got = 0;
  pmix_proc_t last = proc_of(size - 1), none = proc_of(size + 7);
  /* Of a rank of the same host libpmix itself waits, and says after 2 s that it is too late. */
  const pmix_status_t none_put = me.rank == 0 ? get_of(&last, "never put", 0, &got) : PMIX_ERR_NOT_FOUND;
  check(none_put == PMIX_ERR_NOT_FOUND ||
            (none_put == PMIX_ERR_TIMEOUT && number(last.rank, PMIX_NODEID) == number(0, PMIX_NODEID)),
        "a value that nobody has put");
  if (me.rank == 0) check(get_of(&none, "asked", 0, &got) != PMIX_SUCCESS, "a value of a rank that there is not");
  fence(NULL, 0, 0);
}

static pmix_status_t publish(const char* key, const char* what, pmix_data_range_t range, pmix_persistence_t kept) {
  pmix_info_t info[3];
  PMIX_INFO_LOAD(&info[0], key, what, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
  PMIX_INFO_LOAD(&info[2], PMIX_PERSISTENCE, &kept, PMIX_PERSIST);
  return PMIx_Publish(info, 3);
}

static int is_found(const char* key, const char* what, uint32_t owner, int wait) {
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, key);
  pmix_info_t info;
  uint32_t all = 0;
  PMIX_INFO_LOAD(&info, PMIX_WAIT, &all, PMIX_UINT32);
  const pmix_status_t status = PMIx_Lookup(&data, 1, wait ? &info : NULL, wait ? 1 : 0);
  const int found = status == PMIX_SUCCESS && data.value.type == PMIX_STRING &&
                    strcmp(data.value.data.string, what) == 0 && data.proc.rank == owner;
  check(found || status == PMIX_ERR_NOT_FOUND, "PMIx_Lookup");
  PMIX_PDATA_DESTRUCT(&data);
  return found;
}

static void do_publish(void) {
  const uint32_t last = size - 1;
  /* Who waits is answered once it is there. */
  if (me.rank == 0) usleep(200000);
  if (me.rank == 0) must(publish("name", "value of 0", PMIX_RANGE_SESSION, PMIX_PERSIST_SESSION), "PMIx_Publish");
  check(is_found("name", "value of 0", 0, 1), "a name that is waited for");
  fence(NULL, 0, 0);
  if (me.rank == last)
    check(publish("name", "another", PMIX_RANGE_SESSION, PMIX_PERSIST_SESSION) == PMIX_ERR_DUPLICATE_KEY,
          "a name twice");
  if (me.rank == last) must(publish("once", "read", PMIX_RANGE_SESSION, PMIX_PERSIST_FIRST_READ), "PMIx_Publish");
  char* keys[] = {(char*)"name", NULL};
  if (me.rank == last) must(PMIx_Unpublish(keys, NULL, 0), "PMIx_Unpublish"); /* which is another's: nothing happens */
  fence(NULL, 0, 0);
  check(is_found("name", "value of 0", 0, 0), "a name of another");
  fence(NULL, 0, 0);
  if (me.rank == 0)
    check(is_found("once", "read", last, 0) && !is_found("once", "read", last, 0), "a name for one read");
  if (me.rank == 0) must(PMIx_Unpublish(keys, NULL, 0), "PMIx_Unpublish");
  fence(NULL, 0, 0);
  check(!is_found("name", "value of 0", 0, 0), "a name that is gone");
  fence(NULL, 0, 0);
  if (me.rank == last) must(publish("here", "local", PMIX_RANGE_LOCAL, PMIX_PERSIST_SESSION), "PMIx_Publish");
  fence(NULL, 0, 0);
  check(is_found("here", "local", last, 0) == (number(me.rank, PMIX_NODEID) == number(last, PMIX_NODEID)),
        "a name of a host");
  fence(NULL, 0, 0);
}

static void do_connect(void) {
  pmix_proc_t all = proc_of(PMIX_RANK_WILDCARD), ends[2] = {proc_of(0), proc_of(size - 1)};
  for (int i = 0; i < 3; ++i) {
    must(PMIx_Connect(&all, 1, NULL, 0), "PMIx_Connect");
    must(PMIx_Disconnect(&all, 1, NULL, 0), "PMIx_Disconnect");
  }
  if (me.rank == 0 || me.rank == size - 1) {
    must(PMIx_Connect(ends, 2, NULL, 0), "PMIx_Connect of two");
    must(PMIx_Disconnect(ends, 2, NULL, 0), "PMIx_Disconnect of two");
  }
}

static volatile int heard, registered;
static volatile uint32_t affected = PMIX_RANK_UNDEF;

static void event(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[], size_t infos,
                  pmix_info_t results[], size_t nresults, pmix_event_notification_cbfunc_fn_t done, void* context) {
  (void)id, (void)status, (void)source, (void)results, (void)nresults;
  for (size_t i = 0; i < infos; ++i)
    if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC)) affected = info[i].value.data.proc->rank;
  ++heard;
  if (done) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, context);
}
static void event_registered(pmix_status_t status, size_t id, void* context) {
  (void)id, (void)context;
  registered = status == PMIX_SUCCESS ? 1 : -1;
}
static void listen_to(pmix_status_t code) {
  registered = 0;
  PMIx_Register_event_handler(&code, 1, NULL, 0, event, event_registered, NULL);
  while (registered == 0) usleep(1000);
  check(registered == 1, "PMIx_Register_event_handler");
}
static void await_event(int number) {
  for (int i = 0; i < 20000 && heard < number; ++i) usleep(1000);
  check(heard == number, "the number of events");
}

static void do_notify(void) {
  const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 7;
  listen_to(code);
  fence(NULL, 0, 0);
  pmix_proc_t about = proc_of(1);
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, &about, PMIX_PROC);
  if (me.rank == size - 1)
    must(PMIx_Notify_event(code, &me, PMIX_RANGE_SESSION, &info, 1, NULL, NULL), "PMIx_Notify_event");
  await_event(1);
  check(affected == 1, "what an event is about");
  fence(NULL, 0, 0);
  /* An event of one host is not heard elsewhere. */
  pmix_data_range_t range = PMIX_RANGE_LOCAL;
  if (me.rank == 0) must(PMIx_Notify_event(code, &me, range, &info, 1, NULL, NULL), "PMIx_Notify_event");
  if (number(me.rank, PMIX_NODEID) == number(0, PMIX_NODEID)) await_event(2);
  fence(NULL, 0, 0);
  check(heard == (number(me.rank, PMIX_NODEID) == number(0, PMIX_NODEID) ? 2 : 1), "an event of another host");
  fence(NULL, 0, 0);
}

static void do_death(uint32_t victim) {
  listen_to(PMIX_ERR_PROC_ABORTED_BY_SIG);
  fence(NULL, 0, 0);
  if (me.rank == victim) raise(SIGKILL);
  for (int i = 0; i < 20000 && affected != victim; ++i) usleep(1000);
  check(affected == victim, "the death of a rank");
  /* A fence with it ends, and not well. */
  check(PMIx_Fence(NULL, 0, NULL, 0) != PMIX_SUCCESS, "a fence with a dead rank");
  /* One without it is one. */
  pmix_proc_t* others = calloc(size, sizeof *others);
  size_t count = 0;
  for (uint32_t r = 0; r < size; ++r)
    if (r != victim) others[count++] = proc_of(r);
  fence(others, count, 0);
  uint32_t got = 0;
  pmix_proc_t dead = proc_of(victim);
  check(get_of(&dead, "never put", 0, &got) != PMIX_SUCCESS, "a value of a dead rank");
  fence(others, count, 0);
  free(others);
}

static void do_spawn(const char* program, const char* children, char** keys, int count) {
  pmix_nspace_t space = "";
  put("parent", 400 + me.rank);
  must(PMIx_Commit(), "PMIx_Commit");
  if (me.rank == 0) {
    pmix_app_t app;
    char* argv[] = {(char*)program, (char*)"child", NULL};
    char* env[] = {(char*)"GIVEN=by the parent", NULL};
    char folder[1024];
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = (char*)program;
    app.argv = argv;
    app.env = env;
    app.cwd = getcwd(folder, sizeof folder);
    app.maxprocs = atoi(children);
    pmix_info_t* info = NULL;
    if (count > 0) PMIX_INFO_CREATE(info, (size_t)count);
    for (int i = 0; i < count; ++i) {
      char* equals = strchr(keys[i], '=');
      *equals = 0;
      PMIX_INFO_LOAD(&info[i], keys[i], equals + 1, PMIX_STRING);
    }
    const pmix_status_t status = PMIx_Spawn(info, (size_t)count, &app, 1, space);
    if (status != PMIX_SUCCESS) {
      printf("not spawned: %s\n", PMIx_Error_string(status));
      must(publish("children", "none", PMIX_RANGE_SESSION, PMIX_PERSIST_SESSION), "PMIx_Publish");
      fence(NULL, 0, 0);
      return;
    }
    must(publish("children", space, PMIX_RANGE_SESSION, PMIX_PERSIST_SESSION), "PMIx_Publish");
  }
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  PMIX_LOAD_KEY(data.key, "children");
  pmix_info_t wait;
  uint32_t all = 0;
  PMIX_INFO_LOAD(&wait, PMIX_WAIT, &all, PMIX_UINT32);
  must(PMIx_Lookup(&data, 1, &wait, 1), "PMIx_Lookup");
  PMIX_LOAD_NSPACE(space, data.value.data.string);
  PMIX_PDATA_DESTRUCT(&data);
  if (strcmp(space, "none") == 0) {
    if (me.rank != 0) fence(NULL, 0, 0);
    return;
  }
  pmix_proc_t both[2] = {proc_of(PMIX_RANK_WILDCARD), proc_of(PMIX_RANK_WILDCARD)};
  PMIX_LOAD_PROCID(&both[1], space, PMIX_RANK_WILDCARD);
  must(PMIx_Connect(both, 2, NULL, 0), "PMIx_Connect of two jobs");
  pmix_value_t* value = NULL;
  must(PMIx_Get(&both[1], PMIX_JOB_SIZE, NULL, 0, &value), "the size of the other job");
  check(value->data.uint32 == (uint32_t)atoi(children), "the size of the other job");
  PMIX_VALUE_RELEASE(value);
  for (int c = 0; c < atoi(children); ++c) {
    pmix_proc_t child;
    uint32_t got = 0;
    PMIX_LOAD_PROCID(&child, space, (uint32_t)c);
    must(get_of(&child, "child", 0, &got), "a value of the other job");
    check(got == 500 + (uint32_t)c, "a value of the other job");
  }
  must(PMIx_Disconnect(both, 2, NULL, 0), "PMIx_Disconnect of two jobs");
}

static void do_child(void) {
  pmix_value_t* value = NULL;
  pmix_proc_t whole = proc_of(PMIX_RANK_WILDCARD);
  must(PMIx_Get(&whole, PMIX_PARENT_ID, NULL, 0, &value), "PMIX_PARENT_ID");
  check(value->type == PMIX_PROC && value->data.proc->rank == 0, "PMIX_PARENT_ID");
  pmix_proc_t parent = *value->data.proc;
  PMIX_VALUE_RELEASE(value);
  check(getenv("GIVEN") && strcmp(getenv("GIVEN"), "by the parent") == 0, "the environment");
  put("child", 500 + me.rank);
  must(PMIx_Commit(), "PMIx_Commit");
  uint32_t got = 0;
  must(get_of(&parent, "parent", 0, &got), "a value of the parent");
  check(got == 400, "a value of the parent");
  pmix_proc_t both[2] = {parent, whole};
  both[0].rank = PMIX_RANK_WILDCARD;
  must(PMIx_Connect(both, 2, NULL, 0), "PMIx_Connect of two jobs");
  char host[256];
  text(me.rank, PMIX_HOSTNAME, host);
  printf("child %u of %u on %s\n", me.rank, size, host);
  must(PMIx_Disconnect(both, 2, NULL, 0), "PMIx_Disconnect of two jobs");
}

int main(int argc, char** argv) {
  const char* const action = argc > 1 ? argv[1] : "info";
  must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
  size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
  const uint32_t rank = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
  if (strcmp(action, "info") == 0) do_info();
  if (strcmp(action, "fence") == 0) do_fence();
  if (strcmp(action, "large") == 0) do_large(argv[2]);
  if (strcmp(action, "demand") == 0) do_demand();
  if (strcmp(action, "publish") == 0) do_publish();
  if (strcmp(action, "connect") == 0) do_connect();
  if (strcmp(action, "notify") == 0) do_notify();
  if (strcmp(action, "death") == 0) do_death(rank);
  if (strcmp(action, "spawn") == 0) do_spawn(argv[0], argv[2], argv + 3, argc - 3);
  if (strcmp(action, "child") == 0) do_child();
  if (strcmp(action, "abort") == 0) {
    fence(NULL, 0, 0);
    if (me.rank == rank) PMIx_Abort(42, "as it was told", NULL, 0);
    sleep(100);
  }
  if (strcmp(action, "stuck") == 0) {
    fence(NULL, 0, 0);
    printf("ready\n");
    fflush(stdout);
    if (me.rank == rank) sleep(100);
    const pmix_status_t status = PMIx_Fence(NULL, 0, NULL, 0);
    printf("rank %u: the fence: %s\n", me.rank, PMIx_Error_string(status));
    fflush(stdout);
  }
  printf("rank %u: ok\n", me.rank);
  fflush(stdout);
  must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
  return 0;
}
