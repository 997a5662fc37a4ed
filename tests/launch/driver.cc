// Drives a launch component as the runtime does, without MPI: launch_driver COMPONENT.so ACTION [ARGUMENT].
// Prints what it sees; the behaviour tests compare it. Exit code 3: the component declined.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "framework/base/clock.h"
#include "framework/param/parse.h"
#include "framework/plugin/component.h"
#include "framework/plugin/host.h"
#include "framework/plugin/launch.h"

namespace {

// The defaults of the components' rows, as the parameter room would fill them in; strings, numbers and times.
std::vector<unsigned char> default_config(const ashlar_component* component) {
  std::vector<unsigned char> block(component->config_size + 1);
  for (uint32_t i = 0; i < component->param_count; ++i) {
    const ashlar_param& row = component->params[i];
    const char* set = std::getenv((std::string("DRIVER_") + row.name).c_str());
    const char* value = set ? set : row.fallback;
    if (row.type == ASHLAR_PARAM_ENUM) {
      int32_t index = 0;
      while (row.choices[index] && std::strcmp(row.choices[index], value) != 0) ++index;
      std::memcpy(&block[row.offset], &index, sizeof index);
    } else if (row.type == ASHLAR_PARAM_STRING) {
      std::memcpy(&block[row.offset], &value, sizeof value);
    } else {
      ashlar::param::Parsed parsed;
      if (!ashlar::param::parse(row, value, &parsed).ok()) std::exit(2);
      std::memcpy(&block[row.offset], &parsed.u64, sizeof parsed.u64);
    }
  }
  return block;
}

ashlar_launch* g_launch = nullptr;
const ashlar_job* g_job = nullptr;

// What the kernel shows of the failure `result`; of an answer that is none, the number.
std::string words(ashlar_result result) {
  namespace plugin = ashlar::plugin;
  return result < 0 ? plugin::own_words(plugin::from(result, "launch")) : "answer " + std::to_string(result);
}
[[noreturn]] void die(const char* what, ashlar_result result) {
  std::printf("%s: %s\n", what, words(result).c_str());
  std::fflush(stdout);
  _exit(4);
}
void must(ashlar_result result, const char* what) {
  if (result != ASHLAR_OK) die(what, result);
}

std::string blob_of(unsigned rank, unsigned round) {
  std::string blob(20 + rank * 7 % 300, static_cast<char>('a' + (rank + round) % 26));
  return blob + std::to_string(rank * 1000 + round);
}

// Two rounds, as init and a later exchange of addresses would do it.
void modex() {
  for (unsigned round = 0; round < 2; ++round) {
    const std::string key = "test.address." + std::to_string(round);
    const std::string mine = blob_of(g_job->rank, round);
    must(g_launch->ops->put(g_launch, key.c_str(), mine.data(), mine.size()), "put");
    must(g_launch->ops->fence(g_launch, 20000), "fence");
    for (unsigned r = 0; r < g_job->ranks; ++r) {
      char small[4];
      std::size_t bytes = sizeof small;
      const ashlar_result cut = g_launch->ops->get(g_launch, r, key.c_str(), small, &bytes);
      if (cut != -ASHLAR_ERR_TRUNCATE) die("small get", cut);
      std::vector<char> buffer(bytes);
      must(g_launch->ops->get(g_launch, r, key.c_str(), buffer.data(), &bytes), "get");
      if (std::string(buffer.data(), bytes) != blob_of(r, round)) {
        std::printf("rank %u has the wrong blob of rank %u in round %u\n", g_job->rank, r, round);
        std::exit(5);
      }
    }
    std::size_t bytes = 0;
    char none;
    const ashlar_result missing = g_launch->ops->get(g_launch, 0, "test.nothing", &none, &bytes);
    if (missing != ASHLAR_LAUNCH_NOT_FOUND) die("missing key", missing);
    must(g_launch->ops->barrier(g_launch, 20000), "barrier");
  }
}

void print_memory() {
  std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  while (file && std::fgets(line, sizeof line, file))
    if (!std::strncmp(line, "Rss:", 4) || !std::strncmp(line, "Pss:", 4)) std::printf("%s", line);
  if (file) std::fclose(file);
}

void told(void*, uint32_t rank, const char* how) {
  std::printf("rank %u heard that rank %u %s\n", g_job->rank, rank, how);
}

int act(const std::string& action, const char* argument) {
  const ashlar_launch_ops& ops = *g_launch->ops;
  const unsigned rank = g_job->rank;
  const unsigned chosen = argument ? static_cast<unsigned>(std::atoi(argument)) : 0;
  if (action == "modex") {
    modex();
    must(ops.initialized(g_launch), "initialized");
    must(ops.barrier(g_launch, 20000), "last barrier");
    must(ops.finalize(g_launch), "finalize");
    std::printf("rank %u of %u ok\n", rank, g_job->ranks);
    return 0;
  }
  if (action == "info") {
    std::printf(
        "rank=%u ranks=%u local=%u/%u node=%u/%u appnum=%u universe=%u oversubscribed=%u bound=%u shared=%d "
        "host=%s params=%zu placement=%s launcher=%s\n",
        rank, g_job->ranks, g_job->local_rank, g_job->local_size, g_job->node, g_job->nodes, g_job->appnum,
        g_job->universe_size, g_job->oversubscribed, g_job->bound, g_job->shared_fd >= 0,
        ops.host_of(g_launch, rank) ? ops.host_of(g_launch, rank) : "?", g_job->params ? g_job->params_bytes : 0,
        g_job->placement, g_job->launcher);
    must(ops.barrier(g_launch, 20000), "barrier");
    must(ops.finalize(g_launch), "finalize");
    return 0;
  }
  if (action == "bench") {
    char blob[100] = {};
    must(ops.put(g_launch, "a", blob, sizeof blob), "put");
    must(ops.fence(g_launch, -1), "fence");
    must(ops.initialized(g_launch), "initialized");
    for (unsigned r = 0; r < g_job->ranks; ++r) {
      std::size_t bytes = sizeof blob;
      must(ops.get(g_launch, r, "a", blob, &bytes), "get");
    }
    must(ops.barrier(g_launch, -1), "barrier");
    if (rank == 0 && argument) print_memory();
    must(ops.finalize(g_launch), "finalize");
    return 0;
  }
  if (action == "skip") {  // the chosen rank leaves before the fence
    if (rank == chosen) return 0;
    const ashlar_result result = ops.fence(g_launch, 20000);
    std::printf("rank %u: result %d: %s\n", rank, result, words(result).c_str());
    must(ops.finalize(g_launch), "finalize");
    return 0;
  }
  if (action == "late") {  // the chosen rank comes late; the others give up once, then go on waiting
    if (rank == chosen) usleep(800000);
    ashlar_result result = ops.fence(g_launch, rank == chosen ? -1 : 200);
    if (result == ASHLAR_LAUNCH_TIMED_OUT) {
      std::printf("rank %u: %s\n", rank, words(ops.report_timeout(g_launch)).c_str());
      result = ops.fence(g_launch, -1);
    }
    must(result, "second fence");
    must(ops.barrier(g_launch, -1), "barrier");
    must(ops.finalize(g_launch), "finalize");
    return 0;
  }
  must(ops.fence(g_launch, 20000), "fence");
  must(ops.initialized(g_launch), "initialized");
  if (action == "child") {  // what a child process of a rank sees
    must(ops.finalize(g_launch), "finalize");
    std::fflush(stdout);
    return std::system(argument) == -1;
  }
  if (action == "abort") {
    if (rank == chosen) ops.abort(g_launch, 42, "the driver was told to");
    sleep(30);
    return 6;
  }
  if (action == "aborts") {  // all ranks find the same mistake, one after the other, and the chosen one another
    char text[80];
    std::snprintf(text, sizeof text, "rank %u: argument dest is %u, but there are ranks 0..3", rank, rank + 10);
    usleep(rank * 2000);
    ops.abort(g_launch, rank == chosen ? 15 : 6, rank == chosen ? "the message is too long" : text);
    sleep(30);
    return 6;
  }
  if (action == "blame") {  // the others abort because the chosen rank is gone, before it has ended for mpiexec
    if (rank != chosen) ops.abort(g_launch, MPI_ERR_PROC_ABORTED, "a peer is gone");
    if (argument && std::strchr(argument, '!')) sleep(30);
    usleep(300000);
    std::raise(SIGSEGV);
    return 6;
  }
  if (action == "crash") {
    if (rank == chosen) std::raise(SIGSEGV);
    sleep(30);
    return 6;
  }
  if (action == "leave") {  // ends well, but without finalize
    if (rank == chosen) return 0;
    sleep(30);
    return 6;
  }
  if (action == "code") {
    must(ops.barrier(g_launch, 20000), "barrier");
    must(ops.finalize(g_launch), "finalize");
    return rank == chosen ? 9 : 0;
  }
  if (action == "watch") {  // the chosen rank dies, the others look until they know
    ops.on_peer_failure(g_launch, told, nullptr);
    std::signal(SIGTERM, SIG_IGN);
    must(ops.barrier(g_launch, 20000), "barrier");
    if (rank == chosen) std::raise(SIGKILL);
    for (int i = 0; i < 60; ++i) {
      ops.poll(g_launch);
      std::fflush(stdout);
      usleep(10000);
    }
    return 0;
  }
  if (action == "sleep") {
    std::printf("pid %d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
    sleep(600);
    return 0;
  }
  std::fprintf(stderr, "unknown action %s\n", action.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const auto* component = static_cast<const ashlar_component*>(dlsym(library, ASHLAR_COMPONENT_SYMBOL));
  if (!component) return 2;
  const ashlar::plugin::Host host;
  const std::vector<unsigned char> config = default_config(component);
  if (component->open && component->open(host.table(), config.data()) != ASHLAR_OK) return 2;
  ashlar_answer answer = {};
  answer.size = sizeof answer;
  component->query(nullptr, &answer);
  if (std::string(argv[2]) == "query" || answer.priority < 0) {
    std::printf("priority %d: %s\n", answer.priority, answer.reason);
    return answer.priority < 0 ? 3 : 0;
  }
  void* module = nullptr;
  if (component->create(nullptr, &module) != ASHLAR_OK) return 2;
  g_launch = static_cast<ashlar_launch*>(module);
  must(g_launch->ops->connect(g_launch, &g_job), "connect");
  const int rc = act(argv[2], argc > 3 ? argv[3] : nullptr);
  component->destroy(module);
  return rc;
}
