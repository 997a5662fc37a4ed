#include "tests/unit/transport_ucx/double/double.h"

#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <cstdio>
#include <cstring>

#include "tests/unit/transport_common/double.h"

// Functions of UCX that are not those of UCX; all others are found in the library that this one is linked against.
namespace {

/// UCX's own function of that name.
template <class F>
F real(const char* name) {
  static void* const library = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<F>(dlsym(library, name));
}

ucx_double::Settings from_environment() {
  ucx_double::Settings settings;
  ashlar::network::test::each_setting("UCX_DOUBLE", [&](const char* name, unsigned long long value) {
    unsigned* const of = std::strcmp(name, "puts") == 0     ? &settings.puts
                         : std::strcmp(name, "refuse") == 0 ? &settings.refuse
                                                            : nullptr;
    if (of != nullptr) *of = static_cast<unsigned>(value);
    return of != nullptr;
  });
  return settings;
}

/// Whether this call of a receive is to be refused.
bool refuses() {
  static unsigned refused = 0;
  if (refused >= ucx_double_settings.refuse) {
    refused = 0;
    return false;
  }
  ++refused;
  ++ucx_double_seen.refused;
  return true;
}

}  // namespace

extern "C" {

ucx_double::Settings ucx_double_settings = from_environment();
ucx_double::Seen ucx_double_seen;

ucs_status_t ucp_config_modify(ucp_config_t* config, const char* name, const char* value) {
  char* const settings = ucx_double_seen.settings;
  const std::size_t length = std::strlen(settings);
  (void)std::snprintf(settings + length, sizeof ucx_double_seen.settings - length, "%s=%s;", name, value);
  using Names = ucx_double::Settings::Names;
  const Names names = ucx_double_settings.names;
  const bool prefix = std::strncmp(name, "TCP_", 4) == 0;
  const char* const rest = prefix ? name + 4 : name;
  const bool of_tcp = std::strcmp(rest, "CONN_NB") == 0 || std::strstr(rest, "_SEG_SIZE") != nullptr;
  if (of_tcp && names == Names::kNone) return UCS_ERR_INVALID_PARAM;
  if (of_tcp && names == Names::kWithPrefix && !prefix) return UCS_ERR_INVALID_PARAM;
  return real<decltype(&ucp_config_modify)>("ucp_config_modify")(config, name, value);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h endpoint, const void* from, std::size_t count, std::uint64_t there,
                             ucp_rkey_h key, const ucp_request_param_t* parameters) {
  ++ucx_double_seen.puts;
  if (ucx_double_settings.puts == 0)
    return real<decltype(&ucp_put_nbx)>("ucp_put_nbx")(endpoint, from, count, there, key, parameters);
  if (ucx_double_settings.puts == 1) std::memcpy(reinterpret_cast<void*>(there), from, count);
  return nullptr;
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h endpoint, const ucp_request_param_t* parameters) {
  ++ucx_double_seen.flushes;
  if (ucx_double_settings.fail_flush != 0 && --ucx_double_settings.fail_flush == 0)
    return UCS_STATUS_PTR(UCS_ERR_IO_ERROR);
  if (ucx_double_settings.puts == 0) return real<decltype(&ucp_ep_flush_nbx)>("ucp_ep_flush_nbx")(endpoint, parameters);
  return nullptr;
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* to, std::size_t count, ucp_tag_t tag, ucp_tag_t mask,
                                  const ucp_request_param_t* parameters) {
  if (refuses()) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
  return real<decltype(&ucp_tag_recv_nbx)>("ucp_tag_recv_nbx")(worker, to, count, tag, mask, parameters);
}

ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void* to, std::size_t count, ucp_tag_message_h message,
                                      const ucp_request_param_t* parameters) {
  if (refuses()) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
  return real<decltype(&ucp_tag_msg_recv_nbx)>("ucp_tag_msg_recv_nbx")(worker, to, count, message, parameters);
}

}  // extern "C"
