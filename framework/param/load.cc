// Store::load: reads every source in merge order, checks each setting as it comes, then decides.
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/printable.h"
#include "framework/param/store.h"
#include "framework/param/trust.h"

namespace ashlar::param {
namespace {

// Another user's ashlar.yaml may lie where the user starts the program, and what it names is loaded into the ranks
// (plugin.path).
Trust trust_in(Layer layer) {
  return layer == Layer::user || layer == Layer::project ? Trust::found() : Trust::installed();
}

// The shipped default.yaml and many a user's file hold only comments: they need no YAML library.
bool only_comments(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

bool may_lock(Layer layer) { return layer == Layer::defaults || layer == Layer::site || layer == Layer::host_class; }

// Names in the environment that are ours but no parameters: the compilers of mpicc and mpifort, the launcher's
// hand-over.
bool reserved(std::string_view name) {
  for (const std::string_view word : {"ASHLAR_CC=", "ASHLAR_CXX=", "ASHLAR_FC=", "ASHLAR_FORTRAN_ADD="}) {
    if (name.starts_with(word)) return true;
  }
  return name.starts_with("ASHLAR__");
}

}  // namespace

// What one load needs while it runs; the C sink of the YAML reader points back at it.
struct Store::Reading {
  Store* store;
  Context context{};
  const SourceFile* file = nullptr;
  std::vector<SourceFile> class_files{};
  bool classes = true;
  ashlar_yaml_read* yaml = nullptr;
  Status yaml_failed{};

  std::string place(int line) const { return file->path + ":" + std::to_string(line); }

  // One setting of any source: resolves synonyms, reports what is unknown, deprecated or unreadable.
  void take(std::string_view key, std::string_view text, std::string origin, Layer layer, bool lock,
            std::string_view when) {
    Store& s = *store;
    const Row* row = s.schema_.find(key);
    if (!row) {
      // Looking for what was meant takes time, and a problem that is only counted shows none of it.
      const bool shown = s.problems_.size() < s.most_problems_;
      s.problem(layer == Layer::command_line, shown ? origin + ": " + s.schema_.unknown(key) : std::string());
      return;
    }
    const Row* meant = s.schema_.target(row);
    if (meant != row) {
      s.problem(false, origin + ": '" + row->key + "' is now called '" + meant->key + "'");
    } else if (row->spec->flags & ASHLAR_PARAM_DEPRECATED) {
      s.problem(false, origin + ": '" + row->key + "' is deprecated: " + row->spec->help);
    }
    if (meant->spec->scope == ASHLAR_SCOPE_CONSTANT) {
      s.problem(true, origin + ": " + meant->key + " is constant and cannot be set");
      return;
    }
    if (lock && !may_lock(layer)) {
      s.problem(false,
                origin + ": only the site's files may lock a value; '" + meant->key + "' is set without the lock");
      lock = false;
    }
    if (Status status = check_when(when); !status.ok()) {
      s.problem(true, origin + ": " + meant->key + ": " + status.text());
      return;
    }
    Parsed parsed;
    if (Status status = parse(*meant->spec, text, &parsed); !status.ok()) {
      s.problem(true, origin + ": " + meant->key + ": " + status.text());
      return;
    }
    s.add(meant->key, text, std::move(origin), layer, lock, when);
  }

  static void on_setting(void* self, const char* key, const char* value, int line, int lock, const char* when) {
    auto* r = static_cast<Reading*>(self);
    r->take(key, value, r->place(line), r->file->layer, lock != 0, when);
  }
  static void on_class(void* self, const char* name, const char* pattern, int line) {
    auto* r = static_cast<Reading*>(self);
    if (r->file->class_folder.empty()) {
      r->store->problem(false, r->place(line) + ": host classes are defined in the site's files only");
      return;
    }
    std::string when = std::string("host") + kOr + pattern;
    if (!holds(when, r->context, nullptr)) return;
    const std::string path = r->file->class_folder + "/" + name + ".yaml";
    for (const SourceFile& f : r->class_files) {
      if (f.path == path) return;
    }
    if (r->classes) r->class_files.push_back({path, Layer::host_class, {}});
  }
  static void on_problem(void* self, int line, const char* text) {
    auto* r = static_cast<Reading*>(self);
    r->store->problem(true, r->place(line) + ": " + text);
  }
  static void on_notice(void* self, int line, const char* text) {
    auto* r = static_cast<Reading*>(self);
    r->store->problem(false, r->place(line) + ": " + text);
  }
};

void Store::read_file(const SourceFile& file, const Sources& sources, Reading* reading) {
  std::string text;
  if (const Status status = read_trusted(file.path, trust_in(file.layer), &text); !status.ok()) {
    // A refused file is left out, and the job starts without it.
    if (status.mpi_class() != kErrNoSuchFile) problem(status.mpi_class() == kErrArg, status.text());
    return;
  }
  if (only_comments(text)) return;
  if (!reading->yaml && reading->yaml_failed.ok()) {
    reading->yaml_failed = sources.open_yaml ? sources.open_yaml(&reading->yaml) : fail(kErrOther, "param.no_reader");
  }
  if (!reading->yaml) {
    problem(true, file.path + " is not read: " + reading->yaml_failed.text());
    return;
  }
  reading->file = &file;
  const ashlar_yaml_sink sink{reading, Reading::on_setting, Reading::on_class, Reading::on_problem, Reading::on_notice};
  reading->yaml(text.data(), text.size(), &sink);
}

void Store::read_environment(const char* const* environment, bool quiet_about_unknown) {
  Reading reading{.store = this};
  for (const char* const* at = environment; at && *at; ++at) {
    if (std::strncmp(*at, "ASHLAR_", 7) != 0 || reserved(*at)) continue;
    const char* equals = std::strchr(*at, '=');
    if (!equals) continue;
    const std::string_view name(*at + 7, static_cast<std::size_t>(equals - *at - 7));
    const std::string origin = "environment ASHLAR_" + std::string(name);
    const Row* row = schema_.find_environment(name);
    if (row) {
      reading.take(row->key, equals + 1, origin, Layer::environment, false, {});
    } else if (!quiet_about_unknown) {
      const std::string_view meant = schema_.nearest_environment(name);
      problem(false, origin + ": there is no such parameter" +
                         (meant.empty() ? std::string{} : "; did you mean '" + environment_name(meant) + "'?"));
    }
  }
}

// The first are enough to mend what is wrong; a damaged file has one for each of its lines.
void Store::problem(bool error, std::string text) {
  constexpr std::size_t kLongest = 1000;  // keys and values come from outside
  if (problems_.size() < most_problems_) {
    if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
    problems_.push_back({error, printable(text)});
  } else {
    ++(error ? more_errors_ : more_notices_);
  }
}

Status Store::load(const Sources& sources) {
  forget();
  if (!sources.left_out.empty()) problem(false, sources.left_out);
  Reading reading{.store = this, .context = sources.context};
  reading.classes = sources.classes;
  bool classes_read = false;
  const auto read_classes = [&] {
    // By value: a class file may not define classes, but the vector must not move under the loop.
    for (const SourceFile& file : std::vector<SourceFile>(reading.class_files)) read_file(file, sources, &reading);
    classes_read = true;
  };
  for (const SourceFile& file : sources.files) {
    if (file.layer > Layer::host_class && !classes_read) read_classes();
    read_file(file, sources, &reading);
  }
  if (!classes_read) read_classes();
  read_environment(sources.environment, false);
  for (const CommandLineSetting& s : sources.command_line)
    reading.take(s.key, s.value, s.option, Layer::command_line, false, {});
  decide(reading.context);
  filled_ = true;
  std::size_t errors = more_errors_;
  std::string first;
  for (const Problem& p : problems_) {
    if (p.error && ++errors && first.empty()) first = p.text;
  }
  if (more_errors_ + more_notices_ > 0)
    problems_.push_back({more_errors_ > 0, "and " + std::to_string(more_errors_ + more_notices_) + " more"});
  if (errors == 0) return {};
  if (first.empty()) first = "the configuration has mistakes";
  if (errors == 1) return fail(kErrArg, "param.mistake", {{"mistake", first}});
  return fail(kErrArg, "param.more_mistakes", {{"mistake", first}, {"more", errors - 1}});
}

}  // namespace ashlar::param
