#include "mpiexec/info/check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "framework/base/clock.h"
#include "framework/base/printable.h"
#include "framework/plugin/host.h"
#include "framework/plugin/loader.h"
#include "framework/plugin/report.h"
#include "framework/plugin/report_text.h"
#include "framework/plugin/tables.h"
#include "framework/plugin/tool.h"
#include "framework/plugin/transport.h"

namespace ashlar::info {
namespace {

constexpr std::uint64_t kPatience = 10'000'000'000;  // ns that a component has for all of it
constexpr std::size_t kMostSaid = 1 << 20;
// The child's verdict.
constexpr const char kRight[] = "> the verdict: right\n", kWrong[] = "> the verdict: wrong\n";

// The child's side of the pipe: each line at once, so that what was said before a crash arrives. A line "> WHAT" says
// what comes next; the parent shows it only when the child ends there.
class Steps {
 public:
  explicit Steps(int fd) : fd_(fd) {}
  void begin(const char* what) { line("> ", what); }
  void good(const std::string& what) { line("  ok      ", what); }
  void note(const std::string& what) { line("  note    ", what); }
  bool bad(const std::string& what) {
    line("  WRONG   ", what);
    return false;
  }

 private:
  void line(const char* kind, const std::string& what) { plugin::write_whole(fd_, kind + printable(what) + "\n"); }
  int fd_;
};

// Libraries of ours that the component asks the loader for: it would be tied to this version, or to one MPI.
std::string needed_of_ours(const char* file) {
  std::string found;
  void* handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  link_map* map = nullptr;
  if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return found;
  const char* strings = nullptr;
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(d->d_un.d_ptr);
  }
  for (const ElfW(Dyn)* d = map->l_ld; strings && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag != DT_NEEDED) continue;
    const char* name = strings + d->d_un.d_val;
    if (std::strncmp(name, "libashlar", 9) == 0 || std::strncmp(name, "libmpi", 6) == 0)
      found += std::string(" ") + name;
  }
  dlclose(handle);
  return found;
}

const ashlar_report_context& report_context() {
  static const ashlar_report_context context{.size = sizeof context,
                                             .world_rank = 0,
                                             .world_size = 1,
                                             .host = "localhost",
                                             .pid = getpid(),
                                             .launcher_tells = 0};
  return context;
}

// What query() gets, of a job of one; NULL for frameworks that give nothing.
const void* query_context(std::string_view framework) {
  static const ashlar_transport_context transport = [] {
    ashlar_transport_context context{};
    context.size = sizeof context;
    context.job_size = context.local_size = 1;
    context.job_id = "check";
    return context;
  }();
  static const ashlar_tool_context tool = [] {
    ashlar_tool_context context{};
    context.size = sizeof context;
    context.role = ASHLAR_TOOL_AT_END;
    context.ranks = 1;
    context.job_id = "check";
    context.host = "localhost";
    return context;
  }();
  if (framework == "report") return &report_context();
  if (framework == "transport") return &transport;
  return framework == "tool" ? &tool : nullptr;
}

bool check_query(const ashlar_component& c, const void* context, Steps* steps) {
  ashlar_answer answer;
  std::memset(&answer, 0, sizeof answer);
  answer.size = sizeof answer;
  steps->begin("query");
  c.query(context, &answer);
  if (!std::memchr(answer.reason, 0, sizeof answer.reason)) return steps->bad("query's reason is not ended by a zero");
  if (!answer.reason[0]) return steps->bad("query gives no reason; it must say why it can or cannot serve");
  const std::string said = "priority " + std::to_string(answer.priority) + ": " + answer.reason;
  ashlar_answer again;
  std::memset(&again, 0, sizeof again);
  again.size = sizeof again;
  c.query(context, &again);
  if (again.priority != answer.priority || again.capabilities != answer.capabilities)
    return steps->bad("query answers differently when asked twice; it must have no side effect");
  steps->good("query answers " + said);
  return true;
}

bool check_report_module(const ashlar_component& c, const ashlar_report_context& context, Steps* steps) {
  void* module = nullptr;
  steps->begin("create");
  if (Status status = plugin::from(c.create(&context, &module), c.name); !status.ok())
    return steps->bad(std::string("create fails: ") + status.text());
  if (!module) return steps->bad("create succeeds but makes no module");
  const ashlar_report_ops* ops = static_cast<ashlar_report*>(module)->ops;
  if (Status status = plugin::take_table(static_cast<ashlar_report*>(module), c.name); !status.ok())
    return steps->bad(status.text());
  ops = static_cast<ashlar_report*>(module)->ops;
  steps->good("create makes a module with a complete table");
  steps->begin("its functions error, notice and decision");
  // Records as they come: one with nothing known but its sentence, one with everything.
  ashlar_error_record record;
  std::memset(&record, 0, sizeof record);
  record.size = sizeof record;
  record.text = record.words = "(a record of ashlar_info --check)";
  ops->error(static_cast<ashlar_report*>(module), &record);
  record.has = ~0u;
  record.call = "MPI_Recv";
  record.class_name = "MPI_ERR_TRUNCATE";
  record.object_kind = "communicator";
  record.object_name = "MPI_COMM_WORLD";
  record.id = "component.failed";
  record.because = record.try_next = record.argument = record.value = record.peer_host = "(check)";
  record.component = record.lower = "(check)";
  const ashlar_fact facts[] = {{.name = "component", .text = "(check)", .number = 0},
                               {.name = "tag", .text = nullptr, .number = 7}};
  record.facts = facts;
  record.fact_count = std::size(facts);
  ops->error(static_cast<ashlar_report*>(module), &record);
  const ashlar_notice notice{sizeof notice, 1, nullptr, "(a notice of ashlar_info --check)"};
  ops->notice(static_cast<ashlar_report*>(module), &notice);
  const ashlar_decision decision{sizeof decision, "check", "", "this", "", "", ""};
  if (ops->decision) ops->decision(static_cast<ashlar_report*>(module), &decision);
  steps->good("takes error records, notices and decisions");
  steps->begin("destroy");
  if (c.destroy) c.destroy(module);
  return true;
}

bool check_here(const std::string& file, const plugin::Accepts& kernel, Steps steps) {
  param::TextPool pool;
  steps.begin("reading the file");
  plugin::Entry entry = plugin::examine(file, kernel, &pool);
  if (!entry.refused.empty()) return steps.bad(entry.refused);
  const plugin::Statement& s = entry.statement;
  steps.good(std::string(s.framework) + "/" + std::to_string(s.interface_version) + " component '" + s.name + "' " +
             s.version + ", contract " + std::to_string(s.abi_major) + "." + std::to_string(s.abi_minor));
  const std::size_t slash = file.rfind('/');
  if (const std::string usual = std::string("ashlar_") + s.framework + "_" + s.name + ".so";
      file.substr(slash == std::string::npos ? 0 : slash + 1) != usual)
    steps.note("the usual name of its file is " + usual);
  plugin::Library library;
  ashlar_component made{};
  const ashlar_component* const c = &made;
  steps.begin("loading it, which runs its constructors");
  if (Status status = plugin::open_component(&entry, kernel, &pool, &library, &made); !status.ok())
    return steps.bad(status.text());
  steps.good("loads with every symbol bound");
  if (const std::string ours = needed_of_ours(file.c_str()); s.build_id == 0 && !ours.empty())
    steps.note("it is linked with" + ours + ": a component of the C contract needs no library of ours");
  param::Store store;
  store.declare({entry.prefix.c_str(), s.params});
  const auto config = std::make_unique<std::byte[]>(c->config_size + 1u);
  if (Status status = store.fill(entry.prefix, {c->params, c->param_count}, config.get()); !status.ok())
    return steps.bad(std::string("a default value is wrong: ") + status.text());
  for (const ashlar_param& p : s.params) {
    if (!*p.help) return steps.bad(std::string("the parameter '") + p.name + "' has no help text");
  }
  steps.good(std::to_string(s.params.size()) + " parameters with readable defaults");
  plugin::Host host;
  steps.begin("open");
  if (c->open) {
    if (Status status = plugin::from(c->open(host.table(), config.get()), c->name); !status.ok())
      return steps.bad(std::string("open fails: ") + status.text());
    steps.good("open succeeds");
  }
  bool right = check_query(*c, query_context(s.framework), &steps);
  if (std::strcmp(s.framework, "report") == 0) {
    right = right && check_report_module(*c, report_context(), &steps);
  } else if (right) {
    steps.note("ashlar_component_check goes on with create and the tests of its framework");
  }
  steps.begin("close");
  if (c->close) c->close();
  return right;
}

// What the child said, until it ends or the time is over. False: the time is over.
bool collect(int fd, std::string* said) {
  const std::uint64_t end = now_ns() + kPatience;
  char piece[4096];
  for (;;) {
    const std::uint64_t now = now_ns();
    pollfd ready{fd, POLLIN, 0};
    if (now >= end || poll(&ready, 1, static_cast<int>((end - now) / 1'000'000 + 1)) == 0) return false;
    const ssize_t got = read(fd, piece, sizeof piece);
    if (got == 0) return true;
    if (got > 0 && said->size() < kMostSaid) said->append(piece, static_cast<std::size_t>(got));
  }
}

// The lines that are for people, and in *last what the child was about to do.
std::string shown(const std::string& said, std::string* last) {
  std::string out;
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    const std::string line = said.substr(at, end - at);
    if (line.starts_with("> ")) {
      *last = line.substr(2);
    } else {
      out += line + "\n";
    }
    at = end + 1;
  }
  return out;
}

}  // namespace

// In a child: the component's code may end the process, wait for ever or damage memory.
bool check_component(const std::string& given, const plugin::Accepts& kernel, std::string* out) {
  char resolved[PATH_MAX];
  const std::string file = realpath(given.c_str(), resolved) ? resolved : given;
  *out += printable(file) + "\n";
  int pipe_ends[2];
  std::fflush(nullptr);
  const pid_t child = pipe2(pipe_ends, O_CLOEXEC) == 0 ? fork() : -1;
  if (child < 0) {
    *out += std::string("  WRONG   no process can be made to check it in: ") + std::strerror(errno) + "\n";
    return false;
  }
  if (child == 0) {
    close(pipe_ends[0]);
    const bool right = check_here(file, kernel, Steps(pipe_ends[1]));
    plugin::write_whole(pipe_ends[1], right ? kRight : kWrong);
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string said, last;
  const bool ended = collect(pipe_ends[0], &said);
  close(pipe_ends[0]);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  *out += shown(said, &last);
  // The last line is the verdict; without it the component ended the process.
  const std::string verdict = "> " + last + "\n";
  if (verdict == kRight) return true;
  if (verdict == kWrong) return false;
  std::string how = "does not end within " + std::to_string(kPatience / 1'000'000'000) + " s";
  if (ended && WIFEXITED(status)) how = "ends the process with exit status " + std::to_string(WEXITSTATUS(status));
  if (ended && WIFSIGNALED(status))
    how = std::string("ends the process by signal ") + std::to_string(WTERMSIG(status)) + " (" +
          strsignal(WTERMSIG(status)) + ")";
  *out += "  WRONG   " + last + ": it " + how + "\n";
  return false;
}

}  // namespace ashlar::info
