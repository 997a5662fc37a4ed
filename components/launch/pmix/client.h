#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "components/launch/pmix/library.h"
#include "framework/plugin/launch.h"

namespace ashlar::launch {

/// A rank's side of a PMIx launcher. One thread at a time calls it; libpmix has a thread of its own that answers. A
/// function that fails has given the reason to the host.
class PmixClient {
 public:
  /// `host` outlives the client.
  explicit PmixClient(const ashlar_host& host) : host_(host) {}
  PmixClient(const PmixClient&) = delete;
  PmixClient& operator=(const PmixClient&) = delete;

  ashlar_result connect(const char* library);
  const ashlar_job& job() const { return job_; }

  ashlar_result put(const char* key, const void* blob, std::size_t bytes);
  ashlar_result fence(bool collect, std::int64_t timeout_ms);
  ashlar_result get(std::uint32_t rank, const char* key, void* buffer, std::size_t* bytes);
  const char* host_of(std::uint32_t rank);
  void on_peer_failure(ashlar_launch_peer_failed* listener, void* context);
  void poll();
  void abort(int code, const char* text);
  ashlar_result finalize();
  /// The failure of the fence that timed out last.
  ashlar_result report_timeout() const;
  /// Asks the launcher the first time.
  const char* process_sets();

 private:
  // What the library's thread tells ours. Shared with callbacks that may come after this client is gone, so it is
  // never freed: one per process.
  struct Inbox {
    std::mutex mutex;
    std::condition_variable changed;
    bool fence_answered = false;
    pmix_status_t fence_status = PMIX_SUCCESS;
    std::vector<std::pair<std::uint32_t, pmix_status_t>> failed;
  };
  static Inbox& inbox();
  static void fence_answered(pmix_status_t status, void* context);
  static void event(std::size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                    std::size_t infos, pmix_info_t results[], std::size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void* context);
  static void event_registered(pmix_status_t status, std::size_t id, void* context);

  /// The failure of a call of the library.
  ashlar_result fail_with_call(const char* call, pmix_status_t status) const;
  bool job_number(const char* key, std::uint32_t* to);
  bool rank_number(std::uint32_t rank, const char* key, std::uint32_t* to);
  std::string job_text(const char* key);
  ashlar_result find_places();
  ashlar_result number_hosts();
  std::string members_of(const std::string& set);
  void watch_peers();

  const ashlar_host& host_;
  PmixLibrary pmix_;
  pmix_proc_t me_ = {};
  std::vector<std::uint32_t> node_of_rank_, local_peers_;
  std::vector<std::string> hosts_;
  std::string launcher_, process_sets_;
  bool asked_for_sets_ = false;
  bool all_local_ = false;
  bool in_fence_ = false;  // a fence has begun, and no call has returned its outcome yet
  std::uint64_t fence_number_ = 0;
  std::int64_t late_ms_ = 0;  // how long the fence that timed out last was waited for
  ashlar_launch_peer_failed* listener_ = nullptr;
  void* listener_context_ = nullptr;
  ashlar_job job_ = {};
};

}  // namespace ashlar::launch
