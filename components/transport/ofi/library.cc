#include "components/transport/ofi/library.h"

#include <dlfcn.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_ext.h>

#include <atomic>
#include <iterator>
#include <mutex>

#include "framework/base/signal_actions.h"

// Loading libfabric, and keeping it from what is the process's: its signals, its memory, its standard error.
namespace ashlar::ofi {
namespace {

std::atomic<const ashlar_host*> the_host{nullptr};  // the libraries log from threads of their own, too

constexpr int kDebug = 3, kTrace = 4;  // what a provider warns of is often that a card is not there

int log_level(fi_log_level level) { return level == FI_LOG_WARN ? kDebug : kTrace; }

int log_enabled(const fi_provider*, fi_log_level level, fi_log_subsys, std::uint64_t) {
  const ashlar_host* const host = the_host.load();
  return host != nullptr && host->log_enabled != nullptr && host->log_enabled(log_level(level)) != 0 ? 1 : 0;
}

int log_ready(const fi_provider* provider, fi_log_level level, fi_log_subsys subsystem, std::uint64_t flags,
              std::uint64_t*) {
  return log_enabled(provider, level, subsystem, flags);
}

void log_line(const fi_provider* provider, fi_log_level level, fi_log_subsys, const char* function, int,
              const char* text) {
  if (const ashlar_host* const host = the_host.load(); host != nullptr)
    host->log(log_level(level), "transport.ofi", "%s, %s: %s",
              provider != nullptr && provider->name != nullptr ? provider->name : "libfabric", function, text);
}

// In place of libfabric's monitors of memory, which patch mmap() and its kin. A monitor that cannot start means that
// providers keep no cache of registrations, so there is nothing that would have to hear of freed memory.
int no_start(fid_mem_monitor*) { return -FI_ENOSYS; }
void no_stop(fid_mem_monitor*) {}
int no_subscribe(fid_mem_monitor*, const void*, std::size_t) { return -FI_ENOSYS; }
void no_unsubscribe(fid_mem_monitor*, const void*, std::size_t) {}
bool never_valid(fid_mem_monitor*, const void*, std::size_t) { return false; }

/// Gives libfabric an object of ours in place of its own.
void import(const Library& library, const char* name, fid* ours) {
  fid* place = nullptr;
  if (library.open(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), name, nullptr, 0, 0, &place, nullptr) != 0) return;
  (void)fi_import_fid(place, ours, 0);
  fi_close(place);
}

void import_log(const Library& library) {
  static fi_ops_log log_functions = {
      .size = sizeof log_functions, .enabled = log_enabled, .ready = log_ready, .log = log_line};
  static fid_logging log = {.fid = {}, .ops = &log_functions};
  log.fid.fclass = FI_CLASS_LOG;
  import(library, "logging", &log.fid);
}

void import_monitor(const Library& library) {
  static fi_ops_mem_monitor monitor_functions = {.size = sizeof monitor_functions,
                                                 .start = no_start,
                                                 .stop = no_stop,
                                                 .subscribe = no_subscribe,
                                                 .unsubscribe = no_unsubscribe,
                                                 .valid = never_valid};
  static fid_mem_monitor monitor = {.fid = {}, .export_ops = &monitor_functions, .import_ops = nullptr};
  monitor.fid.fclass = FI_CLASS_MEM_MONITOR;
  import(library, "mr_cache", &monitor.fid);
}

/// Finds functions of the library, of the version that the headers are of, until one is missing.
struct Finder {
  void* handle;
  const char* missing = nullptr;

  template <class F>
  void find(const char* name, const char* version, F* to) {
    if (missing != nullptr) return;
    *to = reinterpret_cast<F>(dlvsym(handle, name, version));
    if (*to == nullptr) missing = name;
  }
};

ashlar_result load(const ashlar_host& host, const char* file, Library* library) {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const ashlar_fact reason[] = {{.name = "file", .text = file, .number = 0},
                                  {.name = "lower", .text = dlerror(), .number = 0}};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ofi.not_loaded", reason, std::size(reason));
  }
  Finder functions{.handle = handle};
  functions.find("fi_getinfo", "FABRIC_1.3", &library->getinfo);
  functions.find("fi_freeinfo", "FABRIC_1.3", &library->freeinfo);
  functions.find("fi_dupinfo", "FABRIC_1.3", &library->dupinfo);
  functions.find("fi_fabric", "FABRIC_1.1", &library->fabric);
  functions.find("fi_open", "FABRIC_1.5", &library->open);
  functions.find("fi_strerror", "FABRIC_1.0", &library->strerror);
  functions.find("fi_version", "FABRIC_1.0", &library->version);
  if (functions.missing == nullptr) return ASHLAR_OK;
  const ashlar_fact lacks[] = {{.name = "file", .text = file, .number = 0},
                               {.name = "name", .text = functions.missing, .number = 0}};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ofi.function", lacks, std::size(lacks));
}

}  // namespace

void Library::forget_host() { the_host = nullptr; }

const Library* Library::of_process(const ashlar_host& host, const char* file, bool hooks, ashlar_result* failed) {
  static std::mutex mutex;
  static Library library;
  static bool loaded = false;
  const std::lock_guard guard(mutex);
  the_host = &host;
  if (loaded) return &library;
  // Libraries that libfabric is linked against (PSM) install signal handlers when they are loaded.
  const SignalActions actions;
  const ashlar_result result = load(host, file, &library);
  if (result == ASHLAR_OK) {
    loaded = true;
    library.has_hooks = hooks;
    import_log(library);
    if (!hooks) import_monitor(library);
    // The first query makes libfabric start its providers.
    fi_info* const hints = library.dupinfo(nullptr);
    fi_info* found = nullptr;
    if (hints != nullptr && library.getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), nullptr, nullptr,
                                            FI_PROV_ATTR_ONLY, hints, &found) == 0)
      library.freeinfo(found);
    if (hints != nullptr) library.freeinfo(hints);
  }
  actions.restore();
  *failed = result;
  return loaded ? &library : nullptr;
}

}  // namespace ashlar::ofi
