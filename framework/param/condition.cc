#include "framework/param/condition.h"

#include <dirent.h>
#include <fnmatch.h>
#include <unistd.h>

#include <charconv>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/parse.h"
#include "framework/param/suggest.h"

namespace ashlar::param {
namespace {

constexpr std::string_view kSubjects[] = {"host", "fabric", "ranks", "ranks_per_node", "launcher", "container"};

std::string_view cut(std::string_view* text, char separator) {
  const std::size_t at = text->find(separator);
  const std::string_view part = text->substr(0, at);
  *text = at == std::string_view::npos ? std::string_view{} : text->substr(at + 1);
  return part;
}

bool glob(std::string_view pattern, const std::string& value) {
  const bool negated = !pattern.empty() && pattern.front() == '!';
  if (negated) pattern.remove_prefix(1);
  return (fnmatch(std::string(pattern).c_str(), value.c_str(), 0) == 0) != negated;
}

bool number(std::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc{} && end == text.data() + text.size() && *out >= 0;
}

// "8", "2..16", ">=64", ">64", "<=4", "<4".
bool read_range(std::string_view text, int* low, int* high) {
  *low = 0;
  *high = 0x7fffffff;
  int value = 0;
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos)
    return number(text.substr(0, dots), low) && number(text.substr(dots + 2), high);
  const bool above = text.starts_with('>'), below = text.starts_with('<');
  if (above || below) text.remove_prefix(1);
  const bool equal = text.starts_with('=') || (!above && !below);
  if (text.starts_with('=')) text.remove_prefix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (!number(text, &value)) return false;
  if (above && !equal && value == *high) return false;
  if (above) {
    *low = equal ? value : value + 1;
  } else if (below) {
    *high = equal ? value : value - 1;
  } else {
    *low = *high = value;
  }
  return true;
}

// "true", "No", ...: as the value of a parameter.
bool read_switch(std::string_view text, bool* out) {
  Parsed parsed;
  ashlar_param row{};
  row.type = ASHLAR_PARAM_BOOL;
  if (!parse(row, text, &parsed).ok()) return false;
  *out = parsed.flag;
  return true;
}

void add_names(const char* folder, const char* kind, std::vector<std::string>* out) {
  DIR* dir = opendir(folder);
  if (!dir) return;
  bool any = false;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    out->emplace_back(entry->d_name);
    any = true;
  }
  closedir(dir);
  if (any) out->emplace_back(kind);
}

const std::vector<std::string>& fabrics(Context& context) {
  if (!context.fabrics) {
    context.fabrics.emplace();
    add_names("/sys/class/infiniband", "infiniband", &*context.fabrics);
    add_names("/sys/class/cxi", "cxi", &*context.fabrics);
    add_names("/sys/class/net", "ethernet", &*context.fabrics);
  }
  return *context.fabrics;
}

const std::string& host(Context& context) {
  if (context.host.empty()) {
    char name[256] = "localhost";
    gethostname(name, sizeof name - 1);
    context.host = name;
  }
  return context.host;
}

bool in_container(Context& context) {
  if (!context.container)
    context.container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
                        access("/.singularity.d", F_OK) == 0;
  return *context.container;
}

bool pattern_holds(std::string_view subject, std::string_view pattern, Context& context, std::string* here) {
  if (subject == "host") {
    *here = "this host is " + host(context);
    return glob(pattern, host(context));
  }
  if (subject == "launcher") {
    *here = "the launcher is " + (context.launcher.empty() ? "not known" : context.launcher);
    return glob(pattern, context.launcher);
  }
  if (subject == "container") {
    bool wanted = false;
    *here = in_container(context) ? "this is a container" : "this is no container";
    return read_switch(pattern, &wanted) && in_container(context) == wanted;
  }
  if (subject == "fabric") {
    *here = "there is no such device here";
    for (const std::string& name : fabrics(context)) {
      if (glob(pattern, name)) return true;
    }
    return false;
  }
  const int value = subject == "ranks" ? context.ranks : context.ranks_per_node;
  *here = value ? "there are " + std::to_string(value) : std::string("their number is not known");
  int low, high;
  return value != 0 && read_range(pattern, &low, &high) && value >= low && value <= high;
}

}  // namespace

bool holds(std::string_view when, Context& context, std::string* why_not) {
  while (!when.empty()) {
    const std::string_view whole = cut(&when, kAnd);
    std::string_view patterns = whole;
    const std::string_view subject = cut(&patterns, kOr);
    bool any = false;
    std::string here;
    while (!patterns.empty() && !any) any = pattern_holds(subject, cut(&patterns, kOr), context, &here);
    if (any) continue;
    if (why_not) *why_not = "only when " + when_in_words(whole) + "; " + here;
    return false;
  }
  return true;
}

Status check_when(std::string_view when) {
  while (!when.empty()) {
    std::string_view patterns = cut(&when, kAnd);
    const std::string subject(cut(&patterns, kOr));
    Suggestion suggestion(subject);
    bool known = false;
    for (const std::string_view s : kSubjects) {
      known = known || s == subject;
      suggestion.consider(s);
    }
    if (!known) {
      const std::string meant(suggestion.best());
      return fail(kErrArg, "param.no_condition",
                  {{"value", subject}, {"suggestion", meant.empty() ? "" : " (did you mean '" + meant + "'?)"}});
    }
    while (!patterns.empty()) {
      const std::string pattern(cut(&patterns, kOr));
      int low = 0, high = 0;
      bool flag = false;
      if (subject.starts_with("ranks") && (!read_range(pattern, &low, &high) || low > high))
        return fail(kErrArg, "param.bad_ranks", {{"condition", subject}, {"value", pattern}});
      if (subject == "container" && !read_switch(pattern, &flag))
        return fail(kErrArg, "param.bad_container", {{"value", pattern}});
    }
  }
  return {};
}

std::span<const std::string_view> condition_subjects() { return kSubjects; }

std::string when_in_words(std::string_view when) {
  std::string words;
  while (!when.empty()) {
    std::string_view patterns = cut(&when, kAnd);
    if (!words.empty()) words += ", ";
    words += cut(&patterns, kOr);
    for (bool first = true; !patterns.empty(); first = false) {
      words += first ? " " : " or ";
      words += cut(&patterns, kOr);
    }
  }
  return words;
}

}  // namespace ashlar::param
