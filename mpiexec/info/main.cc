// ashlar_info: what is installed, how it is configured, and why.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/printable.h"
#include "framework/param/sources.h"
#include "framework/param/store.h"
#include "framework/param/table.h"
#include "framework/plugin/setup.h"
#include "mpiexec/info/check.h"
#include "mpiexec/info/check_file.h"
#include "mpiexec/info/coverage.h"
#include "mpiexec/info/messages.h"
#include "mpiexec/info/options.h"
#include "mpiexec/info/print.h"
#include "mpiexec/info/running.h"
#include "mpiexec/info/schema.h"
#include "mpiexec/info/tool_lists.h"
#include "mpiexec/info/tuning_schema.h"
#include "mpiexec/info/variables.h"
#include "mpiexec/text.h"

namespace {

using namespace ashlar;
using namespace ashlar::info;

// Names of files, components and parameters come from outside.
void say(const std::string& text) {
  const std::string shown = printable(text, Newlines::keep);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}
void complain(std::string_view text) { std::fprintf(stderr, "ashlar_info: %s\n", printable(text).c_str()); }
/// A failure with its advice; the exit status.
int complain(Status failure) {
  const std::string words = printable(mpiexec::in_words(failure, "\n  - "), Newlines::keep);
  std::fprintf(stderr, "ashlar_info: %s\n", words.c_str());
  return 1;
}

int register_folder(const std::string& subject, const std::string& prefix) {
  std::string folder = subject.empty() ? param::support_folder(prefix) + "/components" : subject;
  struct stat info;
  if (stat(folder.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
    const std::size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "." : folder.substr(0, slash);
  }
  char resolved[PATH_MAX];
  if (realpath(folder.c_str(), resolved)) folder = resolved;
  if (Status status = plugin::Folder::register_folder(folder, plugin::this_kernel()); !status.ok())
    return complain(status);
  return 0;
}

std::string overview(const std::string& prefix, const param::Sources& sources, const plugin::Registry& registry) {
  std::string out = "Ashlar MPI " ASHLAR_VERSION ", MPI standard 5.0\nprefix      " + prefix + "\nread        ";
  for (std::size_t i = 0; i < sources.files.size(); ++i) out += (i ? "\n            " : "") + sources.files[i].path;
  if (sources.files.empty()) out += "no configuration file";
  return out + "\n\n" + components_text(registry, "");
}

/// Folders of plugin.path that are not there: as with PATH they are no error, but worth a line here.
void tell_missing_folders(const param::Store& store) {
  const char* path = nullptr;
  if (!store.get("plugin.path", &path).ok()) return;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    struct stat info;
    if (folder.empty() || (stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) continue;
    const param::Setting* const setting = store.find("plugin.path");
    complain(std::string("plugin.path (") + (setting ? setting->origin : "built in") + "): there is no folder " +
             folder);
  }
}

int answer_running(const Options& o) {
  RunningJob job;
  if (const Status found = job.find(o.pid); !found.ok()) return complain(found);
  if (o.question == Question::waits) {
    say(job.waits(o.json));
    return 0;
  }
  if (o.question == Question::pvars) {
    const std::vector<RunningJob::RankVariables> ranks = job.variables();
    std::string text;
    const Status listed = o.json ? values_json(job, ranks, o.subject, &text) : values_text(ranks, o.subject, &text);
    if (!listed.ok()) return complain(listed);
    say(text);
    return 0;
  }
  param::Store store;
  plugin::Registry registry(&store);
  const Status adopted = plugin::adopt(param::installation_prefix(), job.parameters(), nullptr, &store, &registry);
  if (!adopted.ok()) return complain(adopted);
  // For types, defaults and texts; a rank needs none of them.
  store.declare(param::kernel_tables());
  registry.declare_params();
  job.adjustments(&store);
  // What is known without the rank is the answer all the same.
  if (const Status known = job.program_settings(&store); !known.ok()) complain(known.text());
  if (o.question == Question::params) {
    if (const Status status = check_params(store, o.subject, o.level); !status.ok()) return complain(status);
    say(o.json ? params_json(store, o.subject, o.level) : params_text(store, o.subject, o.level));
    return 0;
  }
  say(o.json ? explain_json(store, o.subject) : store.explain(o.subject));
  return store.schema().find(o.subject) ? 0 : 1;
}

int check(const Options& o) {
  if (is_component(o.subject)) {
    std::string out;
    const bool right = check_component(o.subject, plugin::this_kernel(), &out);
    say(o.json ? component_json(o.subject, right, out) : out);
    return right ? 0 : 1;
  }
  const std::string prefix = param::installation_prefix();
  const param::Sources standard = param::standard_sources(prefix);
  param::Store store;
  plugin::Registry registry(&store);
  // For the parameters that there are; what is wrong in other files is no answer to this question.
  (void)plugin::configure(prefix, standard, &store, &registry).ok();
  FileReport report;
  if (const Status read = check_file(o.subject, standard, &store, &registry, &report); !read.ok())
    return complain(read);
  say(o.json ? report_json(report) : report_text(report));
  return report.mistakes.empty() ? 0 : 1;
}

int say_tuning_schema(param::Store* store, plugin::Registry* registry) {
  coll::Catalogue catalogue;
  param::Sources nothing;  // the algorithms of every component, whatever is set here
  (void)store->load(nothing).ok();
  if (const Status found = algorithms(registry, &catalogue); !found.ok()) return complain(found);
  say(tuning_schema(catalogue, ASHLAR_VERSION));
  return 0;
}

int answer(const Options& o) {
  const std::string prefix = param::installation_prefix();
  param::Sources sources = param::standard_sources(prefix);
  sources.command_line = o.settings;
  param::Store store;
  plugin::Registry registry(&store);
  const Status configured = plugin::configure(prefix, sources, &store, &registry);
  for (const param::Problem& p : store.problems()) complain(p.text);
  tell_missing_folders(store);
  int result = configured.ok() ? 0 : 1;
  if (const Status chosen = registry.check_choices(); !chosen.ok()) result = complain(chosen);
  switch (o.question) {
    case Question::components:
      if (const Status status = check_framework(o.subject); !status.ok()) return complain(status);
      say(o.json ? components_json(registry, o.subject) : components_text(registry, o.subject));
      break;
    case Question::params:
      if (const Status status = check_params(store, o.subject, o.level); !status.ok()) return complain(status);
      say(o.json ? params_json(store, o.subject, o.level) : params_text(store, o.subject, o.level));
      break;
    case Question::explain:
      say(o.json ? explain_json(store, o.subject) : store.explain(o.subject));
      if (!store.schema().find(o.subject)) result = 1;
      break;
    case Question::schema:
      // Mistakes in the values of the moment change nothing in what the keys are.
      if (o.subject == "tuning") return say_tuning_schema(&store, &registry);
      say(json_schema(store.schema(), ASHLAR_VERSION));
      return 0;
    default:
      if (o.json) {
        say("{\"version\":\"" ASHLAR_VERSION "\",\"components\":" + components_json(registry, "") +
            ",\"parameters\":" + params_json(store, "", o.level) + "}\n");
      } else {
        say(overview(prefix, sources, registry));
      }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  if (const Status parsed = parse_options(argc, argv, &o); !parsed.ok()) {
    complain(parsed);
    std::fputs("ashlar_info --help lists the questions.\n", stderr);
    return 2;
  }
  switch (o.question) {
    case Question::help:
      say(kHelp);
      return 0;
    case Question::version:
      say("Ashlar MPI " ASHLAR_VERSION "\n");
      return 0;
    case Question::register_folder:
      return register_folder(o.subject, param::installation_prefix());
    case Question::check:
      return check(o);
    case Question::messages: {
      const std::string text = o.json ? messages_json(o.subject) : messages_text(o.subject);
      if (text.empty()) return complain(fail(kErrArg, "info.no_message", {{"value", mpiexec::brief(o.subject)}}));
      say(text);
      return 0;
    }
    case Question::pvars:
      if (o.pid != 0) return answer_running(o);
      [[fallthrough]];
    case Question::events:
    case Question::categories: {
      std::string text;
      if (const Status listed = tool_list(o, &text); !listed.ok()) return complain(listed);
      say(text);
      return 0;
    }
    case Question::coverage: {
      std::string text;
      if (const Status status = coverage(param::installation_prefix(), o.json, &text); !status.ok())
        return complain(status);
      say(text);
      return 0;
    }
    default:
      return o.pid != 0 ? answer_running(o) : answer(o);
  }
}
