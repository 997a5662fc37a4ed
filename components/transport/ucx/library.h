#pragma once
#include <ucm/api/ucm.h>
#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::ucx {

/// The functions of UCX, found at run time: a process that does not use this transport never loads the library, and an
/// installation without it works.
struct Library {
  decltype(&ucp_config_read) config_read = nullptr;
  decltype(&ucp_config_modify) config_modify = nullptr;
  decltype(&ucp_config_release) config_release = nullptr;
  decltype(&ucp_init_version) init_version = nullptr;
  decltype(&ucp_cleanup) cleanup = nullptr;
  decltype(&ucp_get_version) get_version = nullptr;
  decltype(&ucp_worker_create) worker_create = nullptr;
  decltype(&ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&ucp_worker_progress) worker_progress = nullptr;
  decltype(&ucp_worker_get_address) worker_get_address = nullptr;
  decltype(&ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&ucp_worker_get_efd) worker_get_efd = nullptr;
  decltype(&ucp_worker_arm) worker_arm = nullptr;
  decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
  decltype(&ucp_ep_create) ep_create = nullptr;
  decltype(&ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&ucp_ep_flush_nbx) ep_flush_nbx = nullptr;
  decltype(&ucp_am_send_nbx) am_send_nbx = nullptr;
  decltype(&ucp_get_nbx) get_nbx = nullptr;
  decltype(&ucp_put_nbx) put_nbx = nullptr;
  decltype(&ucp_mem_map) mem_map = nullptr;
  decltype(&ucp_mem_unmap) mem_unmap = nullptr;
  decltype(&ucp_rkey_pack) rkey_pack = nullptr;
  decltype(&ucp_rkey_buffer_release) rkey_buffer_release = nullptr;
  decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack = nullptr;
  decltype(&ucp_rkey_destroy) rkey_destroy = nullptr;
  decltype(&ucp_tag_send_nbx) tag_send_nbx = nullptr;
  decltype(&ucp_tag_recv_nbx) tag_recv_nbx = nullptr;
  decltype(&ucp_tag_probe_nb) tag_probe_nb = nullptr;
  decltype(&ucp_tag_msg_recv_nbx) tag_msg_recv_nbx = nullptr;
  decltype(&ucp_dt_create_generic) dt_create_generic = nullptr;
  decltype(&ucp_dt_destroy) dt_destroy = nullptr;
  decltype(&ucp_request_cancel) request_cancel = nullptr;
  decltype(&ucp_request_free) request_free = nullptr;
  decltype(&ucp_request_check_status) request_check_status = nullptr;
  decltype(&ucs_status_string) status_string = nullptr;
  decltype(&ucs_log_push_handler) log_push_handler = nullptr;
  decltype(&ucm_set_external_event) set_external_event = nullptr;

  bool has_hooks = false;  // its own are in mmap() and its kin

  /// The process's, loaded from `file` at the first call, which alone says whether its hooks stay. nullptr with
  /// `*failed`.
  static const Library* of_process(const ashlar_host& host, const char* file, bool hooks, ashlar_result* failed);
  /// What the library logs from here on, up to the end of the process, is dropped.
  static void forget_host();
};

}  // namespace ashlar::ucx
