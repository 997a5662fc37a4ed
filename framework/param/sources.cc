#include "framework/param/sources.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "framework/param/trust.h"

namespace ashlar::param {
namespace {

// The *.yaml of `folder`, in the order of their names.
void add_folder(const std::string& folder, const std::string& class_folder, std::vector<SourceFile>* files) {
  DIR* dir = opendir(folder.c_str());
  if (!dir) return;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".yaml") && !name.starts_with('.')) names.emplace_back(name);
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) files->push_back({folder + "/" + name, Layer::site, class_folder});
}

void add_if_there(const std::string& path, Layer layer, const std::string& class_folder,
                  std::vector<SourceFile>* files) {
  if (access(path.c_str(), F_OK) == 0) files->push_back({path, layer, class_folder});
}

}  // namespace

const char* layer_name(Layer layer) {
  constexpr const char* kNames[] = {"built in", "default.yaml", "site",         "host class", "user",
                                    "project",  "environment",  "command line", "tool"};
  return kNames[static_cast<int>(layer)];
}

std::string installation_prefix() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&installation_prefix), &info) == 0 || !info.dli_fname) return {};
  std::string path = info.dli_fname;
  char resolved[4096];
  if (path.find('/') == std::string::npos) {  // a program found through PATH
    const ssize_t length = readlink("/proc/self/exe", resolved, sizeof resolved);
    if (length <= 0) return {};
    path.assign(resolved, static_cast<std::size_t>(length));
  } else if (path.front() != '/' || path.find("/.") != std::string::npos) {  // as the loader got it: "bin/../lib"
    if (!realpath(path.c_str(), resolved)) return {};
    path = resolved;
  }
  const auto up = [&path] { path.resize(std::min(path.rfind('/'), path.size())); };
  up();
  // A library lies in the folder for libraries, which may have several parts; a program in bin.
  if (path.ends_with("/" ASHLAR_LIBDIR)) {
    path.resize(path.size() - sizeof ASHLAR_LIBDIR);
  } else {
    up();
  }
  // Where /lib is a link to /usr/lib, the loader may have come by the link.
  return path.empty() ? "/usr" : path;
}

std::string library_folder(const std::string& prefix) { return prefix + "/" ASHLAR_LIBDIR; }
std::string support_folder(const std::string& prefix) { return prefix + "/" ASHLAR_SUPPORTDIR; }

namespace {

void add_own_files(std::vector<SourceFile>* files) {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config && *config) {
    add_if_there(std::string(config) + "/ashlar.yaml", Layer::user, "", files);
  } else if (home && *home) {
    add_if_there(std::string(home) + "/.config/ashlar.yaml", Layer::user, "", files);
  }
  char here[4096];
  if (getcwd(here, sizeof here)) add_if_there(std::string(here) + "/ashlar.yaml", Layer::project, "", files);
}

bool any_setting(const char* const* environment) {
  for (const char* const* at = environment; at && *at; ++at) {
    if (std::strncmp(*at, "ASHLAR_", 7) == 0 && (*at)[7] != '_') return true;
  }
  return false;
}

}  // namespace

Sources standard_sources(const std::string& prefix) { return standard_sources(prefix, elevated()); }

Sources standard_sources(const std::string& prefix, bool elevated) {
  Sources sources;
  add_if_there(prefix + "/share/ashlar/default.yaml", Layer::defaults, "", &sources.files);
  add_folder("/etc/ashlar", "/etc/ashlar/classes", &sources.files);
  add_if_there(prefix + "/etc/ashlar.yaml", Layer::site, prefix + "/etc/ashlar/classes", &sources.files);
  if (!elevated) {
    add_own_files(&sources.files);
    sources.environment = environ;
    return sources;
  }
  // access(2) looks with the rights of the user who started the program, so no message shows what this user cannot see.
  std::vector<SourceFile> own;
  add_own_files(&own);
  if (own.empty() && !any_setting(environ)) return sources;
  sources.left_out =
      "this program has more rights than the user who started it (set-user-ID, set-group-ID or file capabilities): "
      "ASHLAR_ variables, home and project files and plugin.path are not used";
  return sources;
}

}  // namespace ashlar::param
