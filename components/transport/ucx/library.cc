#include "components/transport/ucx/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <mutex>

#include "components/transport/ucx/memory_functions.h"
#include "framework/base/signal_actions.h"

// Loading UCX, and keeping it from what is the process's: its signals, its memory, its standard output.
namespace ashlar::ucx {
namespace {

std::atomic<const ashlar_host*> the_host{nullptr};  // the libraries log from threads of their own, too

constexpr int kWarning = 1, kDebug = 3, kTrace = 4;

/// What UCX calls an error is one for who called it, and told by the call as well; it warns of settings that it does
/// not use.
int log_level(ucs_log_level_t level) {
  return level <= UCS_LOG_LEVEL_ERROR ? kWarning : level <= UCS_LOG_LEVEL_DIAG ? kDebug : kTrace;
}

ucs_log_func_rc_t log_line(const char*, unsigned, const char* function, ucs_log_level_t level,
                           const ucs_log_component_config_t*, const char* format, va_list arguments) {
  const int ours = log_level(level);
  const ashlar_host* const host = the_host.load();
  if (host == nullptr || (host->log_enabled != nullptr && host->log_enabled(ours) == 0)) return UCS_LOG_FUNC_RC_STOP;
  std::array<char, 512> text;
  (void)std::vsnprintf(text.data(), text.size(), format, arguments);
  host->log(ours, "transport.ucx", "%s: %s", function, text.data());
  return UCS_LOG_FUNC_RC_STOP;
}

/// Finds functions of the library and of those that it is linked against, until one is missing.
struct Finder {
  void* handle;
  const char* missing = nullptr;

  template <class F>
  void find(const char* name, F* to) {
    if (missing != nullptr) return;
    *to = reinterpret_cast<F>(dlsym(handle, name));
    if (*to == nullptr) missing = name;
  }
};

ashlar_result load(const ashlar_host& host, const char* file, Library* library) {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const ashlar_fact reason[] = {{.name = "file", .text = file, .number = 0},
                                  {.name = "lower", .text = dlerror(), .number = 0}};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ucx.not_loaded", reason, std::size(reason));
  }
  Finder functions{.handle = handle};
  functions.find("ucp_config_read", &library->config_read);
  functions.find("ucp_config_modify", &library->config_modify);
  functions.find("ucp_config_release", &library->config_release);
  functions.find("ucp_init_version", &library->init_version);
  functions.find("ucp_cleanup", &library->cleanup);
  functions.find("ucp_get_version", &library->get_version);
  functions.find("ucp_worker_create", &library->worker_create);
  functions.find("ucp_worker_destroy", &library->worker_destroy);
  functions.find("ucp_worker_progress", &library->worker_progress);
  functions.find("ucp_worker_get_address", &library->worker_get_address);
  functions.find("ucp_worker_release_address", &library->worker_release_address);
  functions.find("ucp_worker_get_efd", &library->worker_get_efd);
  functions.find("ucp_worker_arm", &library->worker_arm);
  functions.find("ucp_worker_set_am_recv_handler", &library->worker_set_am_recv_handler);
  functions.find("ucp_ep_create", &library->ep_create);
  functions.find("ucp_ep_close_nbx", &library->ep_close_nbx);
  functions.find("ucp_ep_flush_nbx", &library->ep_flush_nbx);
  functions.find("ucp_am_send_nbx", &library->am_send_nbx);
  functions.find("ucp_get_nbx", &library->get_nbx);
  functions.find("ucp_put_nbx", &library->put_nbx);
  functions.find("ucp_mem_map", &library->mem_map);
  functions.find("ucp_mem_unmap", &library->mem_unmap);
  functions.find("ucp_rkey_pack", &library->rkey_pack);
  functions.find("ucp_rkey_buffer_release", &library->rkey_buffer_release);
  functions.find("ucp_ep_rkey_unpack", &library->ep_rkey_unpack);
  functions.find("ucp_rkey_destroy", &library->rkey_destroy);
  functions.find("ucp_tag_send_nbx", &library->tag_send_nbx);
  functions.find("ucp_tag_recv_nbx", &library->tag_recv_nbx);
  functions.find("ucp_tag_probe_nb", &library->tag_probe_nb);
  functions.find("ucp_tag_msg_recv_nbx", &library->tag_msg_recv_nbx);
  functions.find("ucp_dt_create_generic", &library->dt_create_generic);
  functions.find("ucp_dt_destroy", &library->dt_destroy);
  functions.find("ucp_request_cancel", &library->request_cancel);
  functions.find("ucp_request_free", &library->request_free);
  functions.find("ucp_request_check_status", &library->request_check_status);
  functions.find("ucs_status_string", &library->status_string);
  functions.find("ucs_log_push_handler", &library->log_push_handler);
  functions.find("ucm_set_external_event", &library->set_external_event);
  if (functions.missing == nullptr) return ASHLAR_OK;
  const ashlar_fact lacks[] = {{.name = "file", .text = file, .number = 0},
                               {.name = "name", .text = functions.missing, .number = 0}};
  return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ucx.function", lacks, std::size(lacks));
}

}  // namespace

void Library::forget_host() { the_host = nullptr; }

const Library* Library::of_process(const ashlar_host& host, const char* file, bool hooks, ashlar_result* failed) {
  static std::mutex mutex;
  static Library library;
  static bool loaded = false;
  const std::lock_guard guard(mutex);
  static pid_t process = 0;
  the_host = &host;
  if (loaded && process != getpid()) {
    *failed = ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ucx.forked", nullptr, 0);
    return nullptr;
  }
  if (loaded) return &library;
  // When it is loaded, UCX installs signal handlers, and jumps at the head of mmap() and its kin.
  const SignalActions actions;
  const MemoryFunctions functions;
  ashlar_result result = load(host, file, &library);
  actions.restore();
  if (const char* const kept = hooks ? nullptr : functions.restore(); kept != nullptr) {
    const ashlar_fact which = {.name = "name", .text = kept, .number = 0};
    result = ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "ucx.hooks", &which, 1);
  }
  if (result == ASHLAR_OK) {
    loaded = true;
    process = getpid();
    library.has_hooks = hooks;
    library.log_push_handler(log_line);
    // UCX assumes that others report these events, so it does not put the jumps back; it keeps no cache of
    // registrations (Worker), which would have to hear of them.
    if (!hooks)
      library.set_external_event(UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MEM_TYPE_ALLOC |
                                 UCM_EVENT_MEM_TYPE_FREE);
  }
  *failed = result;
  return loaded ? &library : nullptr;
}

}  // namespace ashlar::ucx
