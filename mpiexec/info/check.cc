#include "mpiexec/info/check.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "framework/plugin/host.h"
#include "framework/plugin/loader.h"
#include "framework/plugin/report.h"

namespace ashlar::info {
namespace {

class Steps {
 public:
  explicit Steps(std::string* out) : out_(out) {}
  void good(const std::string& what) { *out_ += "  ok      " + what + "\n"; }
  void note(const std::string& what) { *out_ += "  note    " + what + "\n"; }
  bool bad(const std::string& what) {
    *out_ += "  WRONG   " + what + "\n";
    return false;
  }

 private:
  std::string* out_;
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

bool check_query(const ashlar_component& c, const void* context, Steps* steps) {
  ashlar_answer answer;
  std::memset(&answer, 0, sizeof answer);
  answer.size = sizeof answer;
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
  if (Status status = plugin::from(c.create(&context, &module), c.name); !status.ok())
    return steps->bad(std::string("create fails: ") + status.text());
  if (!module) return steps->bad("create succeeds but makes no module");
  const ashlar_report_ops* ops = static_cast<ashlar_report*>(module)->ops;
  if (!ops || ops->size < offsetof(ashlar_report_ops, decision)) return steps->bad("the module's table is too small");
  if (!ops->error || !ops->notice) return steps->bad("the module's table has no error or no notice function");
  steps->good("create makes a module with a complete table");
  // Records as they come: one with nothing known but its sentence, one with everything.
  ashlar_error_record record;
  std::memset(&record, 0, sizeof record);
  record.size = sizeof record;
  record.text = "(a record of ashlar_info --check)";
  ops->error(static_cast<ashlar_report*>(module), &record);
  record.has = ~0u;
  record.call = "MPI_Recv";
  record.class_name = "MPI_ERR_TRUNCATE";
  record.object_kind = "communicator";
  record.object_name = "MPI_COMM_WORLD";
  record.id = record.because = record.try_next = record.argument = record.value = record.peer_host = "(check)";
  record.component = record.lower = "(check)";
  ops->error(static_cast<ashlar_report*>(module), &record);
  const ashlar_notice notice{sizeof notice, 1, nullptr, "(a notice of ashlar_info --check)"};
  ops->notice(static_cast<ashlar_report*>(module), &notice);
  const ashlar_decision decision{sizeof decision, "check", "", "this", "", "", ""};
  if (ops->size > offsetof(ashlar_report_ops, decision) && ops->decision)
    ops->decision(static_cast<ashlar_report*>(module), &decision);
  steps->good("takes error records, notices and decisions");
  if (c.destroy) c.destroy(module);
  return true;
}

}  // namespace

bool check_component(const std::string& given, const plugin::Accepts& kernel, std::string* out) {
  Steps steps(out);
  char resolved[PATH_MAX];
  const std::string file = realpath(given.c_str(), resolved) ? resolved : given;
  *out += file + "\n";
  param::TextPool pool;
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
  const ashlar_component* c = nullptr;
  if (Status status = plugin::open_component(&entry, kernel, &pool, &library, &c); !status.ok())
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
  if (c->open) {
    if (Status status = plugin::from(c->open(host.table(), config.get()), c->name); !status.ok())
      return steps.bad(std::string("open fails: ") + status.text());
    steps.good("open succeeds");
  }
  bool right = true;
  if (std::strcmp(s.framework, "report") == 0) {
    const ashlar_report_context context{sizeof context, 0, 1, "localhost", getpid(), 0};
    right = check_query(*c, &context, &steps) && check_report_module(*c, context, &steps);
  } else {
    steps.note(std::string("query and create need a running job's context for '") + s.framework +
               "': see its conformance tests");
  }
  if (c->close) c->close();
  return right;
}

}  // namespace ashlar::info
