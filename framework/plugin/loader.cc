#include "framework/plugin/loader.h"

#include <dlfcn.h>
#include <ltdl.h>
#include <sys/stat.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/sources.h"
#include "framework/plugin/tables.h"

namespace ashlar::plugin {
namespace {

std::mutex ltdl_mutex;  // libltdl has no locks of its own

// Whether `where` lies in the library that was opened as `file`.
bool lies_in(const void* where, const std::string& file, std::string* other) {
  Dl_info info{};
  if (dladdr(where, &info) == 0 || !info.dli_fname) return false;
  if (file == info.dli_fname) return true;
  char wanted[PATH_MAX], found[PATH_MAX];
  if (realpath(file.c_str(), wanted) && realpath(info.dli_fname, found) && std::strcmp(wanted, found) == 0) return true;
  *other = info.dli_fname;
  return false;
}

}  // namespace

Status Library::open(const std::string& file) {
  const std::lock_guard guard(ltdl_mutex);
  if (lt_dlinit() != 0) return fail(kErrOther, "plugin.no_loader", {{"lower", lt_dlerror()}});
  // libltdl asks for lazy binding and reports a missing symbol as "file not found". Binding now, by the system's
  // loader, gives the true reason, and libltdl then takes the library that is bound already.
  void* bound = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!bound) {
    const char* reason = dlerror();
    lt_dlexit();
    return fail(kErrOther, "plugin.not_loaded", {{"file", file}, {"lower", reason ? reason : "no reason given"}});
  }
  lt_dladvise advise;
  lt_dlhandle handle = nullptr;
  if (lt_dladvise_init(&advise) == 0) {
    lt_dladvise_local(&advise);
    handle = lt_dlopenadvise(file.c_str(), advise);
    lt_dladvise_destroy(&advise);
  }
  dlclose(bound);
  if (!handle) {
    const char* reason = lt_dlerror();
    lt_dlexit();
    return fail(kErrOther, "plugin.not_opened", {{"file", file}, {"lower", reason ? reason : "no reason given"}});
  }
  handle_ = handle;
  file_ = file;
  return {};
}

Status Library::find(const char* symbol, void** out) const {
  const std::lock_guard guard(ltdl_mutex);
  *out = lt_dlsym(static_cast<lt_dlhandle>(handle_), symbol);
  if (!*out) return fail(kErrOther, "plugin.no_symbol", {{"file", file_}, {"symbol", symbol}});
  std::string other;
  if (lies_in(*out, file_, &other)) return {};
  *out = nullptr;
  return fail(kErrOther, "plugin.foreign_symbol",
              {{"file", file_}, {"symbol", symbol}, {"owner", other.empty() ? "another library" : other.c_str()}});
}

void Library::close() {
  if (!handle_) return;
  const std::lock_guard guard(ltdl_mutex);
  lt_dlclose(static_cast<lt_dlhandle>(handle_));
  lt_dlexit();
  handle_ = nullptr;
}

namespace {

// The object of the opened library, as one of the present contract.
Status take_component(const Library& library, const Entry& entry, const Accepts& kernel, ashlar_component* out) {
  const Statement& s = entry.statement;
  const Adapter* const adapter = s.abi_major == ASHLAR_COMPONENT_MAJOR ? nullptr : kernel.adapter_of(s.abi_major);
  const char* const name = adapter ? adapter->symbol : ASHLAR_COMPONENT_SYMBOL;
  void* symbol = nullptr;
  ASHLAR_TRY(library.find(name, &symbol));
  if (adapter) {
    ASHLAR_TRY(adapter->adapt(symbol, out));
  } else {
    *out = whole(*static_cast<const ashlar_component*>(symbol));
  }
  if ((!adapter && (out->size != s.size || out->abi_major != s.abi_major)) ||
      out->interface_version != s.interface_version || out->build_id != s.build_id ||
      out->config_size != s.config_size || out->param_count != s.params.size() ||
      std::strcmp(out->framework, s.framework) != 0 || std::strcmp(out->name, s.name) != 0)
    return fail(kErrOther, "plugin.changes_itself", {{"file", entry.file}, {"symbol", name}});
  if (!out->query || !out->create)
    return fail(kErrOther, "plugin.no_function", {{"file", entry.file}, {"function", out->query ? "create" : "query"}});
  return {};
}

}  // namespace

Status open_component(Entry* entry, const Accepts& kernel, param::TextPool* pool, Library* library,
                      ashlar_component* out) {
  struct stat info;
  // Overwritten in place, a file leaves its folder's time as it was, and the manifest would not notice.
  if (stat(entry->file.c_str(), &info) == 0 &&
      (entry->bytes != static_cast<std::uint64_t>(info.st_size) || entry->modified != info.st_mtim.tv_sec)) {
    Entry fresh = examine(entry->file, kernel, pool);
    if (fresh.refused.empty() && fresh.prefix != entry->prefix && entry->refused.empty())
      fresh.refused = "it was " + entry->prefix + " when this process started and is " + fresh.prefix + " now";
    *entry = std::move(fresh);
  }
  if (!entry->refused.empty())
    return fail(kErrOther, "file.refused", {{"file", entry->file}, {"reason", entry->refused}});
  Library opened;
  ASHLAR_TRY(opened.open(entry->file));
  const Status status = take_component(opened, *entry, kernel, out);
  if (!status.ok()) {
    opened.close();
    return status;
  }
  *library = opened;
  return {};
}

Status open_yaml(ashlar_yaml_read** out) {
  Library library;  // stays open: its code is called until the process ends
  ASHLAR_TRY(library.open(param::support_folder(param::installation_prefix()) + "/libashlar_yaml.so"));
  void* symbol = nullptr;
  ASHLAR_TRY(library.find(ASHLAR_YAML_SYMBOL, &symbol));
  *out = reinterpret_cast<ashlar_yaml_read*>(symbol);
  return {};
}

}  // namespace ashlar::plugin
