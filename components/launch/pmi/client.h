#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "components/launch/pmi/channel.h"
#include "components/launch/pmi/environment.h"
#include "components/launch/pmi/key_values.h"
#include "components/launch/pmi/wire.h"
#include "framework/plugin/launch.h"

namespace ashlar::launch {

enum class Dialect { kAuto, kOne, kTwo };

/// A rank's side of a PMI launcher. Any thread may call get() and host_of(), also while another one waits in fence(). A
/// function that fails has given the reason to the host.
class PmiClient {
 public:
  /// `host` outlives the client. Times are in nanoseconds.
  PmiClient(const ashlar_host& host, Dialect dialect, std::uint64_t answer_timeout, std::uint64_t start_timeout)
      : host_(host), dialect_(dialect), start_timeout_(start_timeout), channel_(host, answer_timeout) {}
  PmiClient(const PmiClient&) = delete;
  PmiClient& operator=(const PmiClient&) = delete;

  /// Waits for all ranks to come here: they have a secret in common afterwards. Once, before all others.
  ashlar_result connect();
  const ashlar_job& job() const { return job_; }

  ashlar_result put(const char* key, const void* blob, std::size_t bytes);
  ashlar_result fence(std::int64_t timeout_ms);
  ashlar_result get(std::uint32_t rank, const char* key, void* buffer, std::size_t* bytes);
  const char* host_of(std::uint32_t rank);
  /// The failure of the fence that timed out last.
  ashlar_result report_timeout() const;
  void abort(int code);
  ashlar_result finalize();

 private:
  ashlar_result find_dialect(const PmiTrace& trace);
  /// Exchanges what the launcher does not know: names of hosts, and rank 0's secret.
  ashlar_result meet();
  ashlar_result take_secret();
  ashlar_result find_places();
  ashlar_result ask_for_nodes(std::vector<std::uint32_t>* node_of_rank);
  void describe();

  const ashlar_host& host_;
  const Dialect dialect_;
  const std::uint64_t start_timeout_;
  std::mutex talking_;  // over the channel, once connected
  PmiChannel channel_;
  std::unique_ptr<PmiWire> wire_;
  std::unique_ptr<KeyValues> values_;
  PmiFacts facts_;
  bool in_fence_ = false;
  std::uint64_t fence_number_ = 0;
  std::int64_t late_ms_ = 0;  // how long the fence that timed out last was waited for
  std::vector<std::uint32_t> node_of_rank_, local_peers_;
  std::map<std::uint32_t, std::string> hosts_;  // of the ranks that were asked for
  // What this rank has put: launchers show it after a fence only, and a rank needs its own before.
  std::map<std::string, std::string, std::less<>> own_;
  std::string launcher_;
  ashlar_job job_ = {};
};

}  // namespace ashlar::launch
